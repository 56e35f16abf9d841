/** Events, and consumers that remember what they were given. */
import type { LogEvent, Topic } from '../../services/kernel/events.ts'
import {
  type Consumer,
  type Log,
  type LogBatch,
  type LogRecord,
  partitionOf,
  type Subscription,
} from '../../services/platform/log.ts'

export const event = (key: string, value: string): LogEvent => ({ key, value, headers: {} })

/** `count` events of one key, numbered from `from`. */
export const series = (key: string, count: number, from = 0): LogEvent[] =>
  Array.from({ length: count }, (_, index) => event(key, String(from + index)))

/** Keys that lie in partitions 0, 1, 2 … of `partitions`. */
export const keysByPartition = (partitions: number): string[] => {
  const keys: string[] = []
  for (let n = 0; keys.filter(Boolean).length < partitions; n += 1) {
    keys[partitionOf(`key-${n}`, partitions)] ??= `key-${n}`
  }
  return keys
}

export interface Reader extends AsyncDisposable {
  readonly consumer: Consumer
  readonly records: LogRecord[]
  readonly batches: LogBatch[]
  values(key: string): string[]
}

export type ReaderOptions = Partial<Subscription> & {
  readonly group: string
  readonly topics: readonly Topic[]
}

/** Joins a group with a handler that does everything it is given, unless told otherwise. */
export const joinGroup = async (log: Log, options: ReaderOptions): Promise<Reader> => {
  const records: LogRecord[] = []
  const batches: LogBatch[] = []
  const consumer = await log.consume({
    batchMax: 100,
    partitionsAtOnce: 4,
    ...options,
    handle: remember(records, batches, options.handle ?? finish),
  })
  return {
    consumer,
    records,
    batches,
    values: (key) => records.filter((record) => record.key === key).map(({ value }) => value),
    [Symbol.asyncDispose]: () => consumer[Symbol.asyncDispose](),
  }
}

export const finish = (batch: LogBatch): Promise<void> => {
  for (const { offset } of batch.records) batch.done(offset)
  return Promise.resolve()
}

const remember =
  (records: LogRecord[], batches: LogBatch[], handle: Subscription['handle']) =>
  (batch: LogBatch): Promise<void> => {
    records.push(...batch.records)
    batches.push(batch)
    return handle(batch)
  }
