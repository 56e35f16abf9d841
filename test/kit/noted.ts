/** An event of the tests' own, on any topic, and what the log holds of a topic. */
import { type Event, type EventType, makeEvent, type Topic } from '../../services/kernel/events.ts'
import type { IdGenerator } from '../../services/kernel/ids.ts'
import type { Log, LogRecord } from '../../services/platform/log.ts'

type NotedFields = { readonly name: 'text'; readonly count: 'int'; readonly body: 'text?' }

const notedOn = (topic: Topic): EventType<NotedFields> => ({
  type: 'test.noted',
  version: 1,
  topic,
  key: 'name',
  fields: { name: 'text', count: 'int', body: 'text?' },
  producer: 'test',
  consumers: [],
})

export const noted = (
  { topic, ids }: { readonly topic: Topic; readonly ids: IdGenerator },
  data: { readonly name: string; readonly count: number; readonly body?: string },
): Event => makeEvent(notedOn(topic), { id: ids.next(), at: Date.now() }, data)

export interface Note {
  readonly id: string
  readonly name: string
  readonly count: number
}

export const noteOf = ({ value }: { readonly value: string }): Note => {
  const { id, data } = JSON.parse(value)
  return { id, name: data.name, count: data.count }
}

/** Everything on a topic, partition by partition. */
export const readAll = async (log: Log, topic: Topic): Promise<LogRecord[]> => {
  const all: LogRecord[] = []
  for (let partition = 0; partition < topic.partitions; partition += 1) {
    for (let offset = 0n; ; ) {
      const records = await log.read(topic, { partition, offset, limit: 1000 })
      all.push(...records)
      const last = records.at(-1)
      if (last === undefined) break
      offset = last.offset + 1n
    }
  }
  return all
}

/** The counts of each name in the order of the log; what was published again is left out. */
export const countsByName = (records: readonly LogRecord[]): ReadonlyMap<string, number[]> => {
  const seen = new Set<string>()
  const counts = new Map<string, number[]>()
  for (const note of records.map(noteOf)) {
    if (seen.has(note.id)) continue
    seen.add(note.id)
    counts.set(note.name, [...(counts.get(note.name) ?? []), note.count])
  }
  return counts
}
