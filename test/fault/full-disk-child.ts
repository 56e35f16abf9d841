/**
 * Writes rows of 20 KB until a write fails, then says how the store goes on. Its parent limits the
 * size of its files: a write beyond that fails as on a full disk.
 */
import { DomainError } from '../../services/kernel/errors.ts'
import { Store } from '../../services/platform/embedded/store.ts'

// Without a handler the signal of the limit would end the process before the error shows.
process.on('SIGXFSZ', () => undefined)

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const store = new Store({ folder: process.argv[2] ?? '', mapBytes: 2 ** 30 })
const rows = store.database('rows')
const key = (index: number): Buffer => Buffer.from(`row ${index}`)
const isBlind = process.argv[3] === 'blind'
const write = (index: number) => {
  const apply = () => void rows.put(key(index), Buffer.alloc(20_000))
  return isBlind ? store.write({ writes: 1, bytes: 20_000, apply }) : store.transaction(apply)
}

let kept = 0
let refusals = 0
while (refusals < 20 && kept < 10_000) {
  // Several at once, so that a group fails and not only a write.
  const results = await Promise.allSettled([kept, kept + 1, kept + 2].map(write))
  const refused = results.filter((result) => result.status === 'rejected')
  if (refused.length === 0) kept += 3
  refusals += refused.length
  for (const { reason } of refused) {
    if (!(reason instanceof DomainError)) throw reason
    say(`refused ${reason.code} ${reason.message}`)
  }
}
say(`kept ${kept}`)
const read = Array.from({ length: kept + 3 }, (_, index) => rows.get(key(index))?.length)
say(`readable ${read.filter((length) => length === 20_000).length}`)
// In small steps: a removal too needs a few pages, and those it frees serve the next but one.
for (let index = 0; index < 200; index += 1) {
  await store.transaction(() => void rows.remove(key(index)))
}
for (let index = 0; index < 10; index += 1) await write(index)
say('writes again')
await store[Symbol.asyncDispose]()
