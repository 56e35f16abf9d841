/**
 * Appends to Kafka: idempotent, acknowledged by all replicas, in bounded time.
 *
 * One request is under way at a time and everything that comes meanwhile goes with the next one.
 * That is no loss (kafkajs locks each broker for an idempotent producer anyway) and it is needed:
 * kafkajs gives the sequence numbers of a failed request back before it tries again, so a second
 * request in between would take them, and a broker that had stored the first would take the second
 * for a repetition and drop it, acknowledged.
 *
 * A request without an answer in time rejects its appends with OutcomeUnknownError and retires the
 * producer with its sequence: its next attempt, which would come late and out of order, is stopped
 * by its partitioner. Appends that were not sent yet reject as unavailable when their time is up.
 */
import type { Message, TopicMessages } from 'kafkajs'
import { OutcomeUnknownError, OverloadedError } from '../../kernel/errors.ts'
import { LogUnavailableError } from '../log.ts'
import { type KafkaClientOptions, translate } from './kafka-client.ts'
import { openProducer, type RetirableProducer } from './kafka-producer.ts'

/** A broker refuses a partition's part of a request over 1 MiB; headers and framing need room. */
const PARTITION_BYTES_MAX = 950_000
const REQUEST_BYTES_MAX = 8 * 1024 * 1024
/** What a message costs on the wire besides its texts. */
const MESSAGE_OVERHEAD = 64

export interface Outgoing {
  readonly partition: number
  readonly bytes: number
  readonly message: Message
}

interface Append {
  readonly topic: string
  readonly events: readonly Outgoing[]
  readonly bytes: number
  readonly deadline: number
  /** Events taken into requests. */
  taken: number
  /** Events not acknowledged yet. */
  left: number
  resolve(): void
  reject(error: Error): void
}

export class KafkaAppender implements AsyncDisposable {
  readonly #options: KafkaClientOptions
  /** In order; an append leaves when all of it is acknowledged, or when it fails. */
  readonly #queue = new Set<Append>()
  #queuedBytes = 0
  #producer: Promise<RetirableProducer> | undefined
  #sending: Promise<void> | undefined
  #isClosed: boolean = false

  constructor(options: KafkaClientOptions) {
    this.#options = options
  }

  append(topic: string, events: readonly Outgoing[]): Promise<void> {
    const { appendTimeoutMs, queuedBytesMax } = this.#options.settings
    if (this.#isClosed) return Promise.reject(new LogUnavailableError('the log is closed'))
    const bytes = events.reduce((sum, event) => sum + event.bytes, 0)
    if (this.#queuedBytes + bytes > queuedBytesMax) {
      return Promise.reject(new OverloadedError('too many events wait for Kafka'))
    }
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + appendTimeoutMs
      this.#queue.add({
        topic,
        events,
        bytes,
        deadline,
        taken: 0,
        left: events.length,
        resolve,
        reject,
      })
      this.#queuedBytes += bytes
      this.#sending ??= this.#send()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await this.#sending
    const producer = await this.#producer?.catch(() => undefined)
    this.#producer = undefined
    await producer?.close()
  }

  async #send(): Promise<void> {
    // Whatever is appended in this turn of the event loop goes together.
    await Promise.resolve()
    while (this.#queue.size > 0) {
      const request = this.#take()
      const failure = await this.#attempt(request)
      for (const [append, count] of request.takers) {
        append.left -= count
        if (failure) this.#leave(append).reject(failure)
        else if (append.left === 0) this.#leave(append).resolve()
      }
    }
    this.#sending = undefined
  }

  #leave(append: Append): Append {
    this.#queue.delete(append)
    this.#queuedBytes -= append.bytes
    return append
  }

  /** The next request: from the front of the queue, within what a broker takes at once. */
  #take(): Request {
    const request = new Request()
    for (const append of this.#queue) {
      while (append.taken < append.events.length) {
        if (!request.take(append)) return request
      }
    }
    return request
  }

  /** Sends until acknowledged or out of time; what went wrong, if it did. */
  async #attempt(request: Request): Promise<Error | undefined> {
    const waitMs = request.deadline - performance.now()
    if (waitMs <= 0) return new LogUnavailableError('Kafka did not take events in time')
    this.#producer ??= openProducer(this.#options)
    let producer: RetirableProducer | undefined
    try {
      producer = await within(this.#producer, waitMs)
      await within(producer.send(request.messages()), request.deadline - performance.now())
      return undefined
    } catch (error) {
      this.#retire()
      if (!producer) return translate(error, 'append')
      return new OutcomeUnknownError('Kafka did not acknowledge events', { cause: error })
    }
  }

  /** Its sequence is in doubt: the next request goes through a new one. */
  #retire(): void {
    const retired = this.#producer
    this.#producer = undefined
    retired?.then(
      (producer) => producer.retire(),
      (error: unknown) => this.#options.telemetry.log.debug({ err: error }, 'no producer'),
    )
  }
}

/** Events that go to the brokers together. */
class Request {
  readonly takers = new Map<Append, number>()
  readonly #topics = new Map<string, { messages: Message[]; bytes: number[] }>()
  #bytes = 0
  deadline = Number.POSITIVE_INFINITY

  /** Takes the next event of `append`, unless it does not fit; the first one always does. */
  take(append: Append): boolean {
    const event = append.events[append.taken]
    if (!event) return false
    const bytes = event.bytes + MESSAGE_OVERHEAD
    const part = this.#part(append.topic)
    const inPartition = (part.bytes[event.partition] ?? 0) + bytes
    const isFull = inPartition > PARTITION_BYTES_MAX || this.#bytes + bytes > REQUEST_BYTES_MAX
    if (isFull && this.#bytes > 0) return false
    part.bytes[event.partition] = inPartition
    part.messages.push(event.message)
    this.#bytes += bytes
    this.deadline = Math.min(this.deadline, append.deadline)
    this.takers.set(append, (this.takers.get(append) ?? 0) + 1)
    append.taken += 1
    return true
  }

  messages(): TopicMessages[] {
    return [...this.#topics]
      .filter(([, { messages }]) => messages.length > 0)
      .map(([topic, { messages }]) => ({ topic, messages }))
  }

  #part(topic: string) {
    const known = this.#topics.get(topic)
    if (known) return known
    const part = { messages: [], bytes: [] }
    this.#topics.set(topic, part)
    return part
  }
}

/** The promise's result, or a rejection after `ms`. */
const within = async <Result>(promise: Promise<Result>, ms: number): Promise<Result> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${Math.round(ms)} ms`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
