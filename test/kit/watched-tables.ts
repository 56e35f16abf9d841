/** Tables that count or disturb what is done with them. */
import { OutcomeUnknownError } from '../../services/kernel/errors.ts'
import type { Tables } from '../../services/platform/tables.ts'
import type { Random } from './random.ts'

type CompareAndWrite = Tables['compareAndWrite']

/** The same tables but for what is given. */
export const changedTables = (tables: Tables, changes: Partial<Tables>): Tables => ({
  get: (table, key, options) => tables.get(table, key, options),
  getMany: (table, keys) => tables.getMany(table, keys),
  slice: (table, partition, slice) => tables.slice(table, partition, slice),
  write: (writes) => tables.write(writes),
  insertIfAbsent: (table, row, expiry) => tables.insertIfAbsent(table, row, expiry),
  compareAndSet: (table, key, swap) => tables.compareAndSet(table, key, swap),
  compareAndWrite: (table, key, swap, others) => tables.compareAndWrite(table, key, swap, others),
  [Symbol.asyncDispose]: () => Promise.resolve(),
  ...changes,
})

type Answered = <Rows>(answer: Promise<Rows>) => Promise<Rows>

/** Counts the calls that read, and hands every answer to `answered` first. */
export const readTables = (
  tables: Tables,
  answered: Answered = (answer) => answer,
): { tables: Tables; reads: () => number } => {
  let reads = 0
  const read: Answered = (answer) => {
    reads += 1
    return answered(answer)
  }
  return {
    tables: changedTables(tables, {
      get: (table, key, options) => read(tables.get(table, key, options)),
      getMany: (table, keys) => read(tables.getMany(table, keys)),
      slice: (table, partition, slice) => read(tables.slice(table, partition, slice)),
    }),
    reads: () => reads,
  }
}

/** Counts the slices. */
export const slicedTables = (tables: Tables): { tables: Tables; slices: () => number } => {
  let slices = 0
  const slice: Tables['slice'] = (table, partition, range) => {
    slices += 1
    return tables.slice(table, partition, range)
  }
  return { tables: changedTables(tables, { slice }), slices: () => slices }
}

/** Counts the conditional writes of several rows. */
export const countedTables = (tables: Tables): { tables: Tables; swaps: () => number } => {
  let swaps = 0
  const counted: CompareAndWrite = (table, key, swap, others) => {
    swaps += 1
    return tables.compareAndWrite(table, key, swap, others)
  }
  return { tables: changedTables(tables, { compareAndWrite: counted }), swaps: () => swaps }
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
  return changedTables(tables, { compareAndWrite: losing })
}
