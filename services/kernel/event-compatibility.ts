/** Which changes of the catalogue would break a consumer, an old event, or the order of a key. */
import type { EventType, Fields, Topic } from './events.ts'

export interface CatalogueSnapshot {
  readonly topics: Readonly<Record<string, Topic>>
  /** By `type@version`. */
  readonly events: Readonly<Record<string, EventSnapshot>>
}

interface EventSnapshot {
  readonly topic: string
  readonly key: string
  readonly fields: Fields
  readonly producer: string
  readonly consumers: readonly string[]
}

export const snapshot = (
  topics: readonly Topic[],
  events: readonly EventType[],
): CatalogueSnapshot => ({
  topics: Object.fromEntries(topics.map((topic) => [topic.name, topic])),
  events: Object.fromEntries(
    events.map(({ type, version, topic, key, fields, producer, consumers }) => [
      `${type}@${version}`,
      { topic: topic.name, key, fields, producer, consumers },
    ]),
  ),
})

/** Every way in which `next` is not a compatible successor of `previous`, in words. */
export const incompatibilities = (
  previous: CatalogueSnapshot,
  next: CatalogueSnapshot,
): string[] => [
  ...Object.entries(previous.topics).flatMap(([name, topic]) =>
    topicFaults(topic, next.topics[name]),
  ),
  ...Object.entries(previous.events).flatMap(([name, event]) =>
    eventFaults(name, event, next.events[name]),
  ),
]

const topicFaults = (previous: Topic, next: Topic | undefined): string[] => {
  if (!next) return [`topic ${previous.name} was removed: its events may still be in the log`]
  if (next.partitions === previous.partitions) return []
  return [
    `topic ${previous.name} changed from ${previous.partitions} to ${next.partitions} partitions: ` +
      'that breaks the order of keys; make a new topic and move consumers to it',
  ]
}

const eventFaults = (
  name: string,
  previous: EventSnapshot,
  next: EventSnapshot | undefined,
): string[] => {
  if (!next) return [`event ${name} was removed: its events may still be in the log`]
  const faults: string[] = []
  if (next.topic !== previous.topic) faults.push(`event ${name} moved to topic ${next.topic}`)
  if (next.key !== previous.key) faults.push(`event ${name} changed its key to ${next.key}`)
  for (const [field, kind] of Object.entries(previous.fields)) {
    const now = next.fields[field]
    if (now === undefined) faults.push(`event ${name} lost its field ${field}`)
    else if (now !== kind) faults.push(`field ${field} of ${name} changed from ${kind} to ${now}`)
  }
  for (const [field, kind] of Object.entries(next.fields)) {
    if (previous.fields[field] !== undefined || kind.endsWith('?')) continue
    faults.push(`field ${field} of ${name} is new and not optional: old events lack it`)
  }
  return faults.map((fault) => `${fault}; make it a new version`)
}
