/**
 * One partition in the hands of one member, from its assignment until it is revoked: the batch that
 * is being handled, how far that has come, and the wait after a failure.
 */
import type { LogBatch, LogRecord, Subscription, TopicPartition } from '../log.ts'
import { type BackOff, backOffMs, Progress } from '../progress.ts'
import type { Telemetry } from '../telemetry.ts'
import type { Turns } from './turns.ts'

export interface LaneTools {
  readonly subscription: Subscription
  readonly backOff: BackOff
  readonly telemetry: Telemetry
  /** Bounds the partitions handled at the same time. */
  readonly turns: Turns
  readonly isPaused: () => boolean
}

export interface LaneOptions {
  readonly at: TopicPartition
  /** Resolves when the subscriber knows of the partition. */
  readonly ready: Promise<void>
  /** Makes the group's place in this partition durable. */
  commit(next: bigint): Promise<void>
}

/** How often progress within a long batch is made durable. */
const COMMIT_EVERY_MS = 1_000

export class KafkaLane {
  readonly #options: LaneOptions
  readonly #tools: LaneTools
  readonly #revoked = new AbortController()
  /** Made once: a race for each batch would pile up listeners on the signal. */
  readonly #opened: Promise<void>
  readonly #duration
  readonly #redeliveries
  #work: Promise<bigint> | undefined
  #failures = 0
  #commits: Promise<void> = Promise.resolve()
  #isForgotten: boolean = false

  constructor(options: LaneOptions, tools: LaneTools) {
    this.#options = options
    this.#tools = tools
    this.#opened = Promise.race([options.ready, aborted(this.#revoked.signal)])
    this.#duration = tools.telemetry.duration(
      'tributary_log_handle_seconds',
      'Time handlers took for a batch of events',
      ['group', 'topic'],
    )
    this.#redeliveries = tools.telemetry.counter(
      'tributary_log_redeliveries_total',
      'Batches that come again because their handler failed or fell silent',
      ['group'],
    )
  }

  get isBusy(): boolean {
    return this.#work !== undefined
  }

  get isRevoked(): boolean {
    return this.#revoked.signal.aborted
  }

  /** Handles `records`, which come from `from` on; resolves with where to go on. Never rejects. */
  handle(records: readonly LogRecord[], from: bigint): Promise<bigint> {
    this.#work = this.#handleAll(records, from).finally(() => {
      this.#work = undefined
    })
    return this.#work
  }

  /** Stops the handler; resolves when it has stopped and what it did is committed. */
  async revoke(): Promise<void> {
    this.#revoked.abort()
    await this.#work
  }

  /** The partition may be somebody else's from now on: nothing is committed any more. */
  forget(): void {
    this.#isForgotten = true
  }

  async #handleAll(records: readonly LogRecord[], from: bigint): Promise<bigint> {
    await this.#opened
    const { batchMax } = this.#tools.subscription
    let next = from
    for (let at = 0; at < records.length; at += batchMax) {
      if (this.isRevoked || this.#tools.isPaused()) return next
      const portion = records.slice(at, at + batchMax)
      const progress = await this.#tools.turns.take(() => this.#handlePortion(portion))
      if (progress.next > (portion[0]?.offset ?? 0n)) {
        next = progress.next
        this.#failures = 0
      }
      if (!progress.complete) {
        await this.#standBack()
        return next
      }
    }
    return next
  }

  /** Waits before what failed comes again. */
  async #standBack(): Promise<void> {
    if (this.isRevoked) return
    this.#failures += 1
    this.#redeliveries.inc({ group: this.#tools.subscription.group })
    await sleep(backOffMs(this.#failures, this.#tools.backOff), this.#revoked.signal)
  }

  async #handlePortion(records: readonly LogRecord[]): Promise<Progress> {
    const progress = new Progress(records[0]?.offset ?? 0n)
    for (const { offset } of records) progress.expect(offset)
    if (this.isRevoked) return progress
    const before = progress.next
    const { subscription, telemetry } = this.#tools
    const labels = { group: subscription.group, topic: this.#options.at.topic }
    const stop = this.#duration.startTimer(labels)
    try {
      await subscription.handle(this.#batch(records, progress))
    } catch (error) {
      telemetry.log.warn({ err: error, ...labels }, 'a handler failed')
    }
    stop()
    if (progress.next > before) await this.#commit(progress.next)
    return progress
  }

  #batch(records: readonly LogRecord[], progress: Progress): LogBatch {
    let committedAt = performance.now()
    return {
      ...this.#options.at,
      records,
      signal: this.#revoked.signal,
      done: (offset) => {
        const hasGrown = progress.done(offset)
        if (!hasGrown || progress.complete || this.isRevoked) return
        if (performance.now() - committedAt < COMMIT_EVERY_MS) return
        committedAt = performance.now()
        void this.#commit(progress.next)
      },
    }
  }

  /** One after the other, so that a late answer never takes the group back. Never rejects. */
  #commit(next: bigint): Promise<void> {
    this.#commits = this.#commits.then(async () => {
      if (this.#isForgotten) return
      try {
        await this.#options.commit(next)
      } catch (error) {
        // Somebody else has the partition, or the brokers are gone: what was done comes again.
        const { group } = this.#tools.subscription
        const { at } = this.#options
        this.#tools.telemetry.log.warn({ err: error, group, ...at }, 'offset not committed')
      }
    })
    return this.#commits
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    signal.addEventListener('abort', finish, { once: true })
  })
