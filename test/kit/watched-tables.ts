/** Tables that count or disturb the conditional writes of what stands on them. */
import { OutcomeUnknownError } from '../../services/kernel/errors.ts'
import type { Tables } from '../../services/platform/tables.ts'
import type { Random } from './random.ts'

type CompareAndWrite = Tables['compareAndWrite']

const withWrite = (tables: Tables, compareAndWrite: CompareAndWrite): Tables => ({
  get: (table, key, options) => tables.get(table, key, options),
  getMany: (table, keys) => tables.getMany(table, keys),
  slice: (table, partition, slice) => tables.slice(table, partition, slice),
  write: (writes) => tables.write(writes),
  insertIfAbsent: (table, row, expiry) => tables.insertIfAbsent(table, row, expiry),
  compareAndSet: (table, key, swap) => tables.compareAndSet(table, key, swap),
  compareAndWrite,
  [Symbol.asyncDispose]: () => Promise.resolve(),
})

/** Counts them. */
export const countedTables = (tables: Tables): { tables: Tables; swaps: () => number } => {
  let swaps = 0
  const counted: CompareAndWrite = (table, key, swap, others) => {
    swaps += 1
    return tables.compareAndWrite(table, key, swap, others)
  }
  return { tables: withWrite(tables, counted), swaps: () => swaps }
}

/**
 * Loses every third one: before it was sent, after it was done, or, as the port allows when somebody
 * wrote the row since, done and answered as refused.
 */
export const losingTables = (tables: Tables, random: Random): Tables => {
  const losing: CompareAndWrite = async (table, key, swap, others) => {
    const fate = random.pick(['lost before', 'lost after', 'denied', ...Array(6).fill('kept')])
    if (fate === 'lost before') throw new OutcomeUnknownError('lost before it was sent')
    const outcome = await tables.compareAndWrite(table, key, swap, others)
    if (fate === 'lost after') throw new OutcomeUnknownError('lost after it was done')
    if (fate !== 'denied') return outcome
    return { applied: false, current: await tables.get(table, key, { serial: true }) }
  }
  return withWrite(tables, losing)
}
