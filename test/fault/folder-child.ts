/**
 * Opens a data folder, says so, and holds it until it is told to stop. It collects garbage before
 * it speaks: a lock must not hang on an object that nobody keeps.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { DomainError } from '../../services/kernel/errors.ts'
import { DataFolder } from '../../services/platform/embedded/data-folder.ts'

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const collectGarbage = async (): Promise<void> => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let round = 0; round < 3; round += 1) {
    collect()
    await turn()
  }
}

try {
  const folder = await DataFolder.open(process.argv[2] ?? '')
  const store = folder.openStore({ mapBytes: 2 ** 28 })
  await collectGarbage()
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
