/** Opens a data folder, says so, and holds it until it is told to stop. */
import { DomainError } from '../../services/kernel/errors.ts'
import { DataFolder } from '../../services/platform/embedded/data-folder.ts'

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

try {
  const folder = await DataFolder.open(process.argv[2] ?? '')
  const store = folder.openStore({ mapBytes: 2 ** 28 })
  say('open')
  process.on('SIGTERM', async () => {
    await store[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
    process.exit(0)
  })
  setInterval(() => undefined, 1000)
} catch (error) {
  if (!(error instanceof DomainError)) throw error
  say(`refused ${error.code} ${error.message}`)
}
