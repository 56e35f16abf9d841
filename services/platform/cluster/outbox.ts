/**
 * The outbox: events that were committed with their rows and may not be on the log yet.
 *
 * An event lies in the partition of its shard, which its key decides, and of the minute of its
 * commit; within the partition by its id, which grows with time. So one shard, read minute by
 * minute, gives the events of a key in the order in which a process committed them. A row is
 * removed when its event is on the log; that it is there means only that the event may have to be
 * published again.
 */
import { DamagedError } from '../../kernel/errors.ts'
import type { LogEvent } from '../../kernel/events.ts'
import { OUTBOX_SHARDS, type OutboxEvent } from '../commit.ts'
import { type OutboxRow, outbox, outboxMarks } from '../generated/tables.ts'
import { partitionOf } from '../log.ts'
import { remove, type Tables, type Write } from '../tables.ts'

export const MINUTE_MS = 60_000
export const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS)

/** An event and where its row lies. */
export interface OutboxEntry extends OutboxEvent {
  readonly shard: number
  readonly minute: number
}

export const shardOf = (key: string): number => partitionOf(key, OUTBOX_SHARDS)

export const allShards: readonly number[] = Array.from({ length: OUTBOX_SHARDS }, (_none, n) => n)

export const entryOf = (row: OutboxRow): OutboxEntry => {
  const { shard, minute, id, topic, eventKey, event, headers } = row
  if (topic === null || eventKey === null || event === null || headers === null) {
    throw new DamagedError(`the outbox row ${shard}/${minute}/${id} lacks a part`)
  }
  const parsed = JSON.parse(headers) as LogEvent['headers']
  return { shard, minute, id, topic, event: { key: eventKey, value: event, headers: parsed } }
}

export const outboxRemove = ({ shard, minute, id }: OutboxEntry): Write =>
  remove(outbox, { shard, minute, id })

/** Rows of one partition at a time, so that each removal is one mutation. */
export const byPartition = (entries: readonly OutboxEntry[]): OutboxEntry[][] => [
  ...groupBy(entries, ({ shard, minute }) => `${shard}/${minute}`).values(),
]

export const groupBy = (
  entries: readonly OutboxEntry[],
  keyOf: (entry: OutboxEntry) => string,
): ReadonlyMap<string, OutboxEntry[]> => {
  const groups = new Map<string, OutboxEntry[]>()
  for (const entry of entries) {
    const key = keyOf(entry)
    const group = groups.get(key)
    if (group) group.push(entry)
    else groups.set(key, [entry])
  }
  return groups
}

const APPEND_EVENTS = 500
const APPEND_BYTES = 512 * 1024

/** The first entries, as many as one append takes; at least one. */
export const oneAppend = (entries: readonly OutboxEntry[]): readonly OutboxEntry[] => {
  let bytes = 0
  let count = 0
  for (const { event } of entries) {
    bytes += event.key.length + event.value.length
    if (count > 0 && (bytes > APPEND_BYTES || count >= APPEND_EVENTS)) break
    count += 1
  }
  return entries.slice(0, count)
}

/** The minute before which each shard is known to be empty; `undefined` for one never used. */
export const readLowMinutes = async (tables: Tables): Promise<(number | undefined)[]> => {
  const rows = await tables.getMany(
    outboxMarks,
    allShards.map((shard) => ({ shard })),
  )
  return rows.map((row) => row?.lowMinute ?? undefined)
}

/** Runs `work` for every item, a few at a time. */
export const forEachBounded = async <Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const item = items[next] as Item
      next += 1
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
}
