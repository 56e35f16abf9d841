/**
 * A member of a group in this process. Each partition given to it is a lane: at most one claim of a
 * lane is handled at a time, and at most `partitionsAtOnce` lanes are busy. A lane that failed waits
 * alone; the others go on.
 */
import type { Clock } from '../clock.ts'
import type { Consumer, LogBatch, Subscription } from '../log.ts'
import { type BackOff, backOffMs, Progress } from '../progress.ts'
import type { Telemetry } from '../telemetry.ts'
import type { Claim, Cursor, Receipt } from './log-claims.ts'
import type { LogGroup, Member } from './log-group.ts'

/** What a consumer needs of the log. */
export interface ClaimDoor {
  claimCursor(cursor: Cursor, max: number): Claim | undefined
  /** Commits what lies before `next` and keeps the claim; false when the receipt is worth nothing. */
  advance(receipt: Receipt, next: number): Promise<boolean>
  renew(receipt: Receipt): boolean
  release(receipt: Receipt): boolean
}

export interface ConsumerTools {
  readonly door: ClaimDoor
  readonly group: LogGroup
  readonly clock: Clock
  readonly backOff: BackOff
  readonly telemetry: Telemetry
  onClosed(): void
}

interface Lane {
  readonly cursor: Cursor
  /** Aborts when the partition goes to another member. */
  readonly lost: AbortController
  /** Not before `assigned` has resolved. */
  isReady: boolean
  isBusy: boolean
  failures: number
  /** What runs in it now. */
  work: AbortController | undefined
}

/** How often progress within a long batch is made durable. */
const COMMIT_EVERY_MS = 1_000

export class EmbeddedConsumer implements Consumer, Member {
  readonly topics: ReadonlySet<string>
  readonly #subscription: Subscription
  readonly #tools: ConsumerTools
  readonly #duration
  readonly #redeliveries
  readonly #lanes = new Map<Cursor, Lane>()
  readonly #work = new Set<Promise<void>>()
  #busy = 0
  #isPaused: boolean = false
  #isPumpQueued: boolean = false

  constructor(subscription: Subscription, tools: ConsumerTools) {
    this.#subscription = subscription
    this.#tools = tools
    this.topics = new Set(subscription.topics.map(({ name }) => name))
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

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.wake()
  }

  assign(cursors: ReadonlySet<Cursor>): void {
    for (const [cursor, lane] of this.#lanes) {
      if (cursors.has(cursor)) continue
      this.#lanes.delete(cursor)
      lane.lost.abort()
      lane.work?.abort()
    }
    const added: Lane[] = []
    for (const cursor of cursors) {
      if (!this.#lanes.has(cursor)) added.push(this.#addLane(cursor))
    }
    if (added.length > 0) this.#follow(this.#admit(added))
  }

  wake(): void {
    if (this.#isPumpQueued) return
    this.#isPumpQueued = true
    queueMicrotask(() => {
      this.#isPumpQueued = false
      this.#pump()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isPaused = true
    this.#tools.group.leave(this)
    while (this.#work.size > 0) await Promise.all(this.#work)
    this.#tools.onClosed()
  }

  #addLane(cursor: Cursor): Lane {
    const lane: Lane = {
      cursor,
      lost: new AbortController(),
      isReady: false,
      isBusy: false,
      failures: 0,
      work: undefined,
    }
    this.#lanes.set(cursor, lane)
    return lane
  }

  /** Opens new lanes once `assigned` has resolved for them; it is asked until it does. */
  async #admit(lanes: readonly Lane[]): Promise<void> {
    const { clock, backOff, telemetry } = this.#tools
    for (let attempt = 1; ; attempt += 1) {
      const wanted = lanes.filter(({ lost }) => !lost.signal.aborted)
      if (wanted.length === 0) return
      try {
        await this.#subscription.assigned?.(
          wanted.map(({ cursor: { partition }, lost: { signal } }) => ({
            topic: partition.topic,
            partition: partition.partition,
            signal,
          })),
        )
        for (const lane of wanted) lane.isReady = true
        return this.wake()
      } catch (error) {
        telemetry.log.warn({ err: error, group: this.#subscription.group }, 'assigned failed')
        await clock.sleep(backOffMs(attempt, backOff), wanted[0]?.lost.signal)
      }
    }
  }

  #pump(): void {
    for (const lane of [...this.#lanes.values()]) {
      if (this.#isPaused || this.#busy >= this.#subscription.partitionsAtOnce) return
      if (!lane.isReady || lane.isBusy) continue
      const claim = this.#tools.door.claimCursor(lane.cursor, this.#subscription.batchMax)
      if (claim) this.#start(lane, claim)
    }
  }

  #start(lane: Lane, claim: Claim): void {
    // To the end of the line: every lane gets its turn.
    this.#lanes.delete(lane.cursor)
    this.#lanes.set(lane.cursor, lane)
    lane.isBusy = true
    this.#busy += 1
    this.#follow(this.#run(lane, claim))
  }

  async #run(lane: Lane, claim: Claim): Promise<void> {
    const { isComplete, hasMoved } = await this.#deliver(lane, claim)
    this.#busy -= 1
    if (hasMoved) lane.failures = 0
    if (!isComplete && !lane.lost.signal.aborted) {
      lane.failures += 1
      this.#redeliveries.inc({ group: this.#subscription.group })
      this.wake()
      const waitMs = backOffMs(lane.failures, this.#tools.backOff)
      await this.#tools.clock.sleep(waitMs, lane.lost.signal)
    }
    lane.isBusy = false
    this.wake()
  }

  /** Hands a claim over and commits what was done of it. */
  async #deliver(lane: Lane, claim: Claim): Promise<{ isComplete: boolean; hasMoved: boolean }> {
    const { door } = this.#tools
    const progress = new Progress(claim.records[0]?.offset ?? 0n)
    for (const { offset } of claim.records) progress.expect(offset)
    const before = progress.next
    await this.#handle(lane, claim, progress)
    const hasMoved = progress.next > before
    const next = progress.complete ? claim.next : Number(progress.next)
    const isCommitted = !hasMoved || (await this.#commit(claim, next))
    door.release(claim.receipt)
    return { isComplete: isCommitted && progress.complete, hasMoved }
  }

  /** Ends when the handler does, or when the claim is lost to its silence. */
  async #handle(lane: Lane, claim: Claim, progress: Progress): Promise<void> {
    const { topic } = claim.cursor.partition
    const { group } = this.#subscription
    const work = new AbortController()
    lane.work = work
    const silence = new Promise<void>((resolve) => {
      claim.lost.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    const stop = this.#duration.startTimer({ group, topic })
    try {
      const handled = this.#subscription.handle(this.#batch(claim, progress, work.signal))
      await Promise.race([handled, silence])
    } catch (error) {
      this.#tools.telemetry.log.warn({ err: error, group, topic }, 'a handler failed')
    } finally {
      stop()
      lane.work = undefined
      work.abort()
    }
  }

  #batch(claim: Claim, progress: Progress, signal: AbortSignal): LogBatch {
    const { partition } = claim.cursor
    let committedAt = this.#tools.clock.now()
    return {
      topic: partition.topic,
      partition: partition.partition,
      records: claim.records,
      signal,
      done: (offset) => {
        const hasGrown = progress.done(offset)
        if (!this.#tools.door.renew(claim.receipt) || !hasGrown || progress.complete) return
        const now = this.#tools.clock.now()
        if (now - committedAt < COMMIT_EVERY_MS) return
        committedAt = now
        this.#follow(this.#commit(claim, Number(progress.next)))
      },
    }
  }

  /** The events of a failed commit come again: a store that fails delays, it loses nothing. */
  async #commit({ receipt }: Claim, next: number): Promise<boolean> {
    try {
      return await this.#tools.door.advance(receipt, next)
    } catch (error) {
      const { group } = this.#subscription
      this.#tools.telemetry.log.error({ err: error, group }, 'offsets could not be stored')
      return false
    }
  }

  /** Keeps track of work that disposal has to wait for. */
  #follow(work: Promise<unknown>): void {
    const followed = work.then(() => {
      this.#work.delete(followed)
    })
    this.#work.add(followed)
  }
}
