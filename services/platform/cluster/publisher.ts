/**
 * Publishes what this process has committed, in the order of its commits.
 *
 * Each topic has a lane, which appends one batch at a time: while one is under way the next gathers,
 * and when one fails it is tried again before anything behind it, so that the events of a key keep
 * their order. What is on the log is removed from the outbox a little later, many rows at once.
 *
 * The queue is bounded. An event that finds it full is left to the relay, which finds its row in the
 * outbox; the events of its shard that follow are left as well, until the relay is through with
 * them, since a later event of a key must not overtake an earlier one.
 */
import { assert, DomainError, UnavailableError } from '../../kernel/errors.ts'
import type { Topic } from '../../kernel/events.ts'
import type { Values } from '../../kernel/settings.ts'
import type { Clock } from '../clock.ts'
import { outbox } from '../generated/tables.ts'
import type { Log } from '../log.ts'
import type { outboxSettings } from '../settings.ts'
import type { Tables } from '../tables.ts'
import type { Telemetry } from '../telemetry.ts'
import { OutboxCleaner } from './cleaner.ts'
import { type OutboxEntry, oneAppend } from './outbox.ts'

const BACK_OFF_MIN_MS = 50
const BACK_OFF_MAX_MS = 5_000

export interface OutboxEngines {
  readonly tables: Tables
  readonly log: Log
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly settings: Values<typeof outboxSettings>
}

/** Events of one topic, oldest first. */
interface Lane {
  readonly topic: Topic
  queue: OutboxEntry[]
  appended: number
  /** Whether the last append failed. */
  failing: boolean
  running: Promise<void> | undefined
}

interface Waiter {
  readonly lane: Lane
  readonly target: number
  resolve(): void
  reject(error: Error): void
}

export class OutboxPublisher implements AsyncDisposable {
  readonly #engines: OutboxEngines
  readonly #cleaner: OutboxCleaner
  readonly #lanes = new Map<string, Lane>()
  readonly #closing = new AbortController()
  /** The last event of each shard that was left to the relay. */
  readonly #left = new Map<number, OutboxEntry>()
  readonly #seconds
  readonly #leftTotal
  #watching: Promise<void> | undefined
  #waiters: Waiter[] = []
  #queued = 0
  #isEnding: boolean = false

  constructor(engines: OutboxEngines) {
    const { telemetry } = engines
    this.#engines = engines
    this.#cleaner = new OutboxCleaner(engines)
    this.#seconds = telemetry.duration('tributary_outbox_publish_seconds', 'appends of the outbox')
    this.#leftTotal = telemetry.counter(
      'tributary_outbox_left_total',
      'events left to the relay because the queue was full',
    )
    telemetry.gauge('tributary_outbox_unpublished', 'events of this process not on the log yet', {
      collect: (gauge) => gauge.set(this.#queued + this.#left.size),
    })
  }

  /** Takes over events whose rows are durable; never fails. */
  enqueue(topics: ReadonlyMap<string, Topic>, entries: readonly OutboxEntry[]): void {
    for (const entry of entries) {
      const topic = topics.get(entry.topic)
      assert(topic, 'an entry comes with its topic')
      if (this.#left.has(entry.shard) || this.#queued >= this.#engines.settings.queuedMax) {
        this.#leave(entry)
      } else {
        this.#queued += 1
        this.#laneOf(topic).queue.push(entry)
      }
    }
    for (const lane of this.#lanes.values()) this.#run(lane)
  }

  /** Resolves when all that was taken over before is on the log and out of the outbox. */
  async published(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => this.#drained(lane)))
    await this.#watching
    await this.#cleaner.flush()
  }

  #drained(lane: Lane): Promise<void> {
    const target = lane.appended + lane.queue.length
    if (lane.queue.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiters.push({ lane, target, resolve, reject })
    })
  }

  #laneOf(topic: Topic): Lane {
    const known = this.#lanes.get(topic.name)
    if (known) return known
    const lane: Lane = { topic, queue: [], appended: 0, failing: false, running: undefined }
    this.#lanes.set(topic.name, lane)
    return lane
  }

  #run(lane: Lane): void {
    if (lane.running || lane.queue.length === 0) return
    lane.running = this.#publish(lane).finally(() => {
      lane.running = undefined
      if (!this.#isEnding) this.#run(lane)
    })
  }

  async #publish(lane: Lane): Promise<void> {
    const { clock, telemetry } = this.#engines
    const { signal } = this.#closing
    let backOffMs = BACK_OFF_MIN_MS
    while (lane.queue.length > 0) {
      try {
        await this.#append(lane)
        backOffMs = BACK_OFF_MIN_MS
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        lane.failing = true
        telemetry.log.warn({ err: error, topic: lane.topic.name }, 'events were not published')
        // When the process ends, the relay of another publishes what is left.
        if (this.#isEnding) return
        await clock.sleep(backOffMs, signal)
        backOffMs = Math.min(backOffMs * 2, BACK_OFF_MAX_MS)
      }
    }
  }

  async #append(lane: Lane): Promise<void> {
    const batch = oneAppend(lane.queue)
    const stop = this.#seconds.startTimer()
    await this.#engines.log.append(
      lane.topic,
      batch.map(({ event }) => event),
    )
    stop()
    lane.failing = false
    lane.queue = lane.queue.slice(batch.length)
    lane.appended += batch.length
    this.#queued -= batch.length
    this.#cleaner.add(batch)
    this.#wake(lane)
  }

  #wake(lane: Lane): void {
    const due = (waiter: Waiter) => waiter.lane === lane && waiter.target <= lane.appended
    for (const waiter of this.#waiters.filter(due)) waiter.resolve()
    this.#waiters = this.#waiters.filter((waiter) => !due(waiter))
  }

  #leave(entry: OutboxEntry): void {
    this.#left.set(entry.shard, entry)
    this.#leftTotal.inc()
    this.#watching ??= this.#watchLeft().finally(() => {
      this.#watching = undefined
    })
  }

  /** Until the relay is through with all that was left to it. */
  async #watchLeft(): Promise<void> {
    const { clock, settings, telemetry } = this.#engines
    const { signal } = this.#closing
    while (this.#left.size > 0 && !signal.aborted) {
      await clock.sleep(settings.relayPollMs, signal)
      try {
        for (const entry of [...this.#left.values()]) await this.#forget(entry)
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        telemetry.log.warn({ err: error }, 'the outbox could not be read')
      }
    }
  }

  async #forget(entry: OutboxEntry): Promise<void> {
    const { shard, minute, id } = entry
    const row = await this.#engines.tables.get(outbox, { shard, minute, id })
    if (!row && this.#left.get(shard) === entry) this.#left.delete(shard)
  }

  /** Publishes what it can; what the log does not take now is in the outbox. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true
    const lanes = [...this.#lanes.values()]
    const healthy = lanes.filter(({ failing }) => !failing)
    await Promise.all(healthy.map(({ running }) => running))
    this.#closing.abort()
    await Promise.all(lanes.map(({ running }) => running))
    await this.#watching
    await this.#cleaner[Symbol.asyncDispose]()
    for (const { reject } of this.#waiters) {
      reject(new UnavailableError('the process ends before its events are on the log'))
    }
  }
}
