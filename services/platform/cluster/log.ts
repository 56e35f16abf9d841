/**
 * The event log on Kafka. Topics and groups live in a namespace, topics are made by `migrate` and
 * looked for once before their first use. Appending, consuming and asking are each a file of their
 * own; this one speaks the port.
 */
import { BadInputError } from '../../kernel/errors.ts'
import type { LogEvent, Topic } from '../../kernel/events.ts'
import type { Values } from '../../kernel/settings.ts'
import {
  type Consumer,
  checkAppend,
  checkRead,
  type Group,
  type Log,
  type LogRecord,
  LogUnavailableError,
  type PartitionLag,
  type Position,
  type Subscription,
} from '../log.ts'
import type { kafkaSettings, logSettings } from '../settings.ts'
import type { Telemetry } from '../telemetry.ts'
import { KafkaAppender } from './kafka-appender.ts'
import { type KafkaClientOptions, makeKafka, translate } from './kafka-client.ts'
import { KafkaConsumer } from './kafka-consumer.ts'
import { sleep } from './kafka-lane.ts'
import { toMessage } from './kafka-records.ts'
import { KafkaWire, type Offsets } from './kafka-wire.ts'
import { requireTopics, topicName } from './topics.ts'

export interface KafkaLogOptions {
  readonly namespace: string
  readonly kafka: Values<typeof kafkaSettings>
  readonly settings: Values<typeof logSettings>
  readonly telemetry: Telemetry
}

const SETTLED_POLL_MS = { min: 10, max: 250 }

export class KafkaLog implements Log {
  readonly #options: KafkaLogOptions
  readonly #client: KafkaClientOptions
  readonly #appender: KafkaAppender
  readonly #wire: KafkaWire
  readonly #consumers = new Map<KafkaConsumer, Subscription>()
  /** Topics known to be there, with their declared partitions; looked for once each. */
  readonly #known = new Map<string, Promise<void>>()
  readonly #closing = new AbortController()
  readonly #appendSeconds

  constructor(options: KafkaLogOptions) {
    const { kafka, telemetry } = options
    this.#options = options
    this.#client = { settings: kafka, telemetry }
    this.#appender = new KafkaAppender(this.#client)
    this.#wire = new KafkaWire(this.#client)
    this.#appendSeconds = telemetry.duration(
      'tributary_log_append_seconds',
      'Time until appended events were durable',
      ['topic'],
    )
    this.#observe()
  }

  /** Opens the log; rejects at once when the brokers do not answer or a topic is missing. */
  static async open(topics: readonly Topic[], options: KafkaLogOptions): Promise<KafkaLog> {
    const log = new KafkaLog(options)
    try {
      await log.#require(topics)
      return log
    } catch (error) {
      await log[Symbol.asyncDispose]()
      throw error
    }
  }

  async append(topic: Topic, events: readonly LogEvent[]): Promise<void> {
    if (events.length === 0) return
    this.#requireOpen()
    checkAppend(events)
    const stop = this.#appendSeconds.startTimer({ topic: topic.name })
    const messages = events.map((event) => toMessage(topic, event))
    const known = this.#known.get(keyOf(topic))
    if (known !== FOUND) await this.#require([topic])
    await this.#appender.append(this.#nameOf(topic), messages)
    stop()
  }

  async consume(subscription: Subscription): Promise<Consumer> {
    this.#requireOpen()
    await this.#require(subscription.topics)
    const { settings } = this.#options
    const consumer = new KafkaConsumer({
      client: this.#client,
      groupId: this.#groupOf(subscription.group),
      subscription,
      topics: new Map(subscription.topics.map((topic) => [this.#nameOf(topic), topic.name])),
      backOff: { minMs: settings.redeliverMinMs, maxMs: settings.redeliverMaxMs },
      onClosed: (closed) => this.#consumers.delete(closed),
    })
    await consumer.start()
    this.#consumers.set(consumer, subscription)
    return consumer
  }

  /** Asks the brokers again and again: a group may have members in any process. */
  async settled(group: Group, topics: readonly Topic[]): Promise<void> {
    await this.#require(topics)
    const names = topics.map((topic) => this.#nameOf(topic))
    const ends = await Promise.all(names.map((name) => this.#wire.ends(name)))
    for (let waitMs = SETTLED_POLL_MS.min; ; waitMs = Math.min(waitMs * 1.5, SETTLED_POLL_MS.max)) {
      const places = await Promise.all(names.map((name) => this.#placesOf(group, name)))
      if (places.every((place, index) => isReached(place, ends[index]))) return
      await sleep(waitMs, this.#closing.signal)
      this.#requireOpen()
    }
  }

  async lag(group: Group, topics: readonly Topic[]): Promise<PartitionLag[]> {
    await this.#require(topics)
    const lags = topics.map(async (topic) => {
      const name = this.#nameOf(topic)
      const [places, ends] = await Promise.all([this.#placesOf(group, name), this.#wire.ends(name)])
      return [...ends].map(([partition, end]): PartitionLag => {
        const committed = places.get(partition) ?? 0n
        const lag = Math.max(0, Number(end - committed))
        return { topic: topic.name, partition, committed, end, lag }
      })
    })
    return (await Promise.all(lags)).flat()
  }

  async seek(group: Group, topic: Topic, position: Position): Promise<void> {
    await this.#require([topic])
    const name = this.#nameOf(topic)
    const [starts, ends] = await Promise.all([this.#wire.starts(name), this.#wire.ends(name)])
    const places = new Map<number, bigint>()
    for (const [partition, offset] of await this.#target(topic, position, { starts, ends })) {
      places.set(partition, clamp(offset, starts.get(partition), ends.get(partition)))
    }
    await this.#wire.commit(this.#groupOf(group), name, places)
  }

  async read(
    topic: Topic,
    from: { readonly partition: number; readonly offset: bigint; readonly limit: number },
  ): Promise<LogRecord[]> {
    checkRead(topic, from)
    await this.#require([topic])
    const name = this.#nameOf(topic)
    const { partition, limit } = from
    const [starts, ends] = await Promise.all([this.#wire.starts(name), this.#wire.ends(name)])
    const end = ends.get(partition) ?? 0n
    const records: LogRecord[] = []
    let next = clamp(from.offset, starts.get(partition), end)
    while (next < end && records.length < limit) {
      const found = await this.#wire.fetch(name, partition, next)
      if (found.length === 0) break
      records.push(...found)
      next = (records.at(-1)?.offset ?? next) + 1n
    }
    return records.slice(0, limit)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    await Promise.all([...this.#consumers.keys()].map((each) => each[Symbol.asyncDispose]()))
    await this.#appender[Symbol.asyncDispose]()
    await this.#wire[Symbol.asyncDispose]()
  }

  /** Where a group goes on: what it has committed, or the oldest event. */
  async #placesOf(group: Group, name: string): Promise<Offsets> {
    const [starts, committed] = await Promise.all([
      this.#wire.starts(name),
      this.#wire.committed(this.#groupOf(group), name),
    ])
    const places = new Map<number, bigint>()
    for (const [partition, start] of starts) {
      places.set(partition, clamp(committed.get(partition) ?? -1n, start))
    }
    return places
  }

  async #target(
    topic: Topic,
    position: Position,
    { starts, ends }: { readonly starts: Offsets; readonly ends: Offsets },
  ): Promise<Offsets> {
    if ('timeMs' in position) {
      const found = await this.#wire.offsetsAt(this.#nameOf(topic), position.timeMs)
      return new Map([...ends].map(([partition, end]) => [partition, later(found, partition, end)]))
    }
    if ('partition' in position) {
      checkPartition(topic, position.partition)
      return new Map([[position.partition, position.offset]])
    }
    return position.at === 'start' ? starts : ends
  }

  /** Looks for topics that were not looked for yet. */
  async #require(topics: readonly Topic[]): Promise<void> {
    const unknown = topics.filter((topic) => !this.#known.has(keyOf(topic)))
    if (unknown.length > 0) {
      const looking = this.#look(unknown)
      for (const topic of unknown) this.#known.set(keyOf(topic), looking)
    }
    await Promise.all(topics.map((topic) => this.#known.get(keyOf(topic))))
  }

  async #look(topics: readonly Topic[]): Promise<void> {
    const admin = makeKafka(this.#client).admin()
    try {
      await admin.connect()
      await requireTopics(admin, topics, this.#options.namespace)
      for (const topic of topics) this.#known.set(keyOf(topic), FOUND)
    } catch (error) {
      for (const topic of topics) this.#known.delete(keyOf(topic))
      throw translate(error, 'look for topics')
    } finally {
      await admin.disconnect()
    }
  }

  #observe(): void {
    this.#options.telemetry.gauge(
      'tributary_log_pending_events',
      'Events a group has not committed',
      {
        labels: ['group', 'topic'],
        collect: async (gauge) => {
          for (const { group, topics } of this.#consumers.values()) {
            for (const topic of topics) {
              const pending = await this.#pending(group, topic)
              if (pending === undefined) gauge.remove({ group, topic: topic.name })
              else gauge.set({ group, topic: topic.name }, pending)
            }
          }
        },
      },
    )
  }

  /** Unknown while the brokers do not answer: the other metrics must still be read. */
  async #pending(group: Group, topic: Topic): Promise<number | undefined> {
    try {
      const lags = await this.lag(group, [topic])
      return lags.reduce((sum, { lag }) => sum + lag, 0)
    } catch (error) {
      this.#options.telemetry.log.warn({ err: error, group }, 'the lag of a group is unknown')
      return undefined
    }
  }

  #nameOf(topic: Topic): string {
    return topicName(this.#options.namespace, topic)
  }

  #groupOf(group: Group): string {
    return `${this.#options.namespace}.${group}`
  }

  #requireOpen(): void {
    if (this.#closing.signal.aborted) throw new LogUnavailableError('the log is closed')
  }
}

/** One promise for all that is found, so that an append can tell without waiting. */
const FOUND = Promise.resolve()

const keyOf = ({ name, partitions }: Topic): string => `${name}/${partitions}`

const isReached = (places: Offsets, ends: Offsets | undefined): boolean =>
  [...(ends ?? [])].every(([partition, end]) => (places.get(partition) ?? 0n) >= end)

const clamp = (offset: bigint, start = 0n, end = offset): bigint => {
  if (offset < start) return start
  if (offset > end) return end
  return offset
}

const later = (found: Offsets, partition: number, end: bigint): bigint => {
  const offset = found.get(partition) ?? -1n
  return offset < 0n ? end : offset
}

const checkPartition = ({ name, partitions }: Topic, partition: number): void => {
  if (partition >= 0 && partition < partitions) return
  throw new BadInputError(`${name} has no partition ${partition}`, { field: 'partition' })
}
