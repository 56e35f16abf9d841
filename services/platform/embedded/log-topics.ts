/**
 * The topics of the embedded log: their number in record keys, their count of partitions, which is
 * never changed, and the offsets at which partitions go on when retention has emptied them.
 */
import { BadInputError } from '../../kernel/errors.ts'
import type { Topic } from '../../kernel/events.ts'
import { TopicMismatchError } from '../log.ts'
import { LogPartition } from './log-partition.ts'
import type { Bytes, Store } from './store.ts'

const PARTITIONS_MAX = 1_024
const TOPICS_MAX = 65_535

/** As stored, JSON. `floors` is the next offset of each partition as of its last purge. */
interface StoredTopic {
  readonly number: number
  readonly partitions: number
  readonly floors: readonly number[]
}

export class StoredPartitions {
  readonly name: string
  readonly number: number
  readonly partitions: readonly LogPartition[]
  /** The declaration last used: its retention counts. */
  declared: Topic | undefined
  /** Whether its line in the registry is on disk. */
  stored: boolean

  constructor(records: Bytes, name: string, { number, partitions, floors }: StoredTopic) {
    this.name = name
    this.number = number
    this.stored = floors.length > 0
    this.partitions = Array.from(
      { length: partitions },
      (_, partition) =>
        new LogPartition(records, name, { topic: number, partition }, floors[partition] ?? 0),
    )
  }
}

export class TopicRegistry {
  readonly #records: Bytes
  readonly #registry: Bytes
  readonly #topics = new Map<string, StoredPartitions>()

  constructor(store: Store) {
    this.#records = store.database('log-records')
    this.#registry = store.database('log-topics')
    for (const { key, value } of this.#registry.getRange({})) {
      const name = key.toString()
      const line = JSON.parse(value.toString()) as StoredTopic
      this.#topics.set(name, new StoredPartitions(this.#records, name, line))
    }
  }

  all(): Iterable<StoredPartitions> {
    return this.#topics.values()
  }

  open(topic: Topic): StoredPartitions {
    const known = this.#topics.get(topic.name) ?? this.#add(topic)
    if (known.partitions.length !== topic.partitions) {
      throw new TopicMismatchError(
        `topic ${topic.name} is stored with ${known.partitions.length} partitions and declared ` +
          `with ${topic.partitions}; the order of its keys depends on them: use a new topic`,
      )
    }
    known.declared = topic
    return known
  }

  /** Queues the topic's line, with where its partitions are now. */
  put({ name, number, partitions }: StoredPartitions): void {
    const line: StoredTopic = {
      number,
      partitions: partitions.length,
      floors: partitions.map(({ next }) => next),
    }
    void this.#registry.put(Buffer.from(name), Buffer.from(JSON.stringify(line)))
  }

  #add({ name, partitions }: Topic): StoredPartitions {
    if (!(partitions >= 1 && partitions <= PARTITIONS_MAX)) {
      throw new BadInputError(`a topic has 1 to ${PARTITIONS_MAX} partitions`, { field: name })
    }
    const number = this.#topics.size + 1
    if (number > TOPICS_MAX) throw new BadInputError(`there are ${TOPICS_MAX} topics already`)
    const added = new StoredPartitions(this.#records, name, { number, partitions, floors: [] })
    this.#topics.set(name, added)
    return added
  }
}
