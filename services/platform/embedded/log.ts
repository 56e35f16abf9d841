/**
 * The embedded broker (PLT-2): the event log on the store that the embedded tables use too, so that
 * one transaction can hold rows and their events.
 *
 * `prepare` is the seam for that: events that are put by whoever runs the transaction, and announced
 * when it is on the disk. Consumers see an event only after the transactions of all earlier ones have
 * ended (see LogPartition). Consumers and outside pullers take events by the same exclusive claims
 * (see Claims), and an offset is committed only by a receipt that is still worth something.
 */
import { BadInputError } from '../../kernel/errors.ts'
import type { LogEvent, Topic } from '../../kernel/events.ts'
import type { Values } from '../../kernel/settings.ts'
import type { Clock } from '../clock.ts'
import {
  type Consumer,
  checkAppend,
  checkRead,
  type Group,
  GroupBusyError,
  type Log,
  type LogRecord,
  LogUnavailableError,
  type PartitionLag,
  type Position,
  partitionOf,
  type Subscription,
} from '../log.ts'
import type { logSettings } from '../settings.ts'
import type { Telemetry } from '../telemetry.ts'
import { type Claim, Claims, type Cursor, type Receipt } from './log-claims.ts'
import { type ClaimDoor, EmbeddedConsumer } from './log-consumer.ts'
import { groupOfKey, LogGroup } from './log-group.ts'
import { observeLog } from './log-metrics.ts'
import type { LogPartition, Share } from './log-partition.ts'
import { purge } from './log-retention.ts'
import { type StoredPartitions, TopicRegistry } from './log-topics.ts'
import type { Store } from './store.ts'
import type { Load } from './work.ts'

export interface EmbeddedLogOptions {
  readonly store: Store
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly settings: Values<typeof logSettings>
}

/** Events to be stored with somebody's transaction. One of the two ends must be told. */
export interface PreparedEvents {
  /** What they weigh in that transaction. */
  readonly load: Load
  /** Stores them; to be called inside the transaction, again when that is run again. */
  put(): void
  /** It is on the disk: consumers may have them. */
  announce(): void
  /** It is not: their offsets stay empty. */
  withdraw(): void
}

/** A run of one partition, given to whoever pulls it; `complete` commits it. */
export interface Claimed {
  readonly receipt: Receipt
  readonly partition: number
  readonly records: readonly LogRecord[]
  readonly expiresAt: number
}

const CLAIM_MAX = 1_000

export class EmbeddedLog implements Log, ClaimDoor {
  readonly #options: EmbeddedLogOptions
  readonly #topics: TopicRegistry
  readonly #groups = new Map<Group, LogGroup>()
  readonly #claims: Claims
  readonly #consumers = new Set<EmbeddedConsumer>()
  readonly #closing = new AbortController()
  readonly #sweeper: Promise<void>
  readonly #appendSeconds

  constructor(options: EmbeddedLogOptions) {
    const { store, clock, telemetry, settings } = options
    this.#options = options
    this.#topics = new TopicRegistry(store)
    this.#claims = new Claims(clock, settings.visibilityMs)
    this.#appendSeconds = telemetry.duration(
      'tributary_log_append_seconds',
      'Time until appended events were durable',
      ['topic'],
    )
    this.#loadGroups()
    observeLog(telemetry, {
      clock,
      topics: () => this.#topics.all(),
      cursors: () => this.#cursors(),
    })
    this.#sweeper = this.#sweepUntilClosed()
  }

  async append(topic: Topic, events: readonly LogEvent[]): Promise<void> {
    if (events.length === 0) return
    this.#requireOpen()
    const stop = this.#appendSeconds.startTimer({ topic: topic.name })
    const prepared = this.prepare(topic, events)
    try {
      await this.#options.store.batch(prepared.put, prepared.load)
    } catch (error) {
      prepared.withdraw()
      throw error
    }
    prepared.announce()
    stop()
  }

  /** Events for a `batch` or `transaction` of the store that the caller runs. */
  prepare(topic: Topic, events: readonly LogEvent[]): PreparedEvents {
    const bytes = checkAppend(events)
    const target = this.#topics.open(topic)
    const parts = [...byPartition(target, events)]
    let shares: Share[] | undefined
    const end = () => {
      parts.forEach(([partition], index) => {
        const share = shares?.[index]
        if (share) partition.settle(share)
      })
      this.#wake(target.name)
    }
    return {
      load: { writes: events.length, bytes },
      put: () => {
        if (!target.stored) this.#topics.put(target)
        const now = this.#options.clock.now()
        shares ??= parts.map(([partition, part]) => partition.reserve(part.length, now))
        parts.forEach(([partition, part], index) => {
          const share = shares?.[index]
          if (share) partition.put(part, share)
        })
      },
      announce: () => {
        target.stored = true
        end()
      },
      withdraw: end,
    }
  }

  consume(subscription: Subscription): Promise<Consumer> {
    this.#requireOpen()
    const { clock, telemetry, settings } = this.#options
    const group = this.#group(subscription.group)
    for (const topic of subscription.topics) group.cursors(this.#topics.open(topic))
    const backOff = { minMs: settings.redeliverMinMs, maxMs: settings.redeliverMaxMs }
    const consumer = new EmbeddedConsumer(subscription, {
      door: this,
      group,
      clock,
      backOff,
      telemetry,
      onClosed: () => this.#consumers.delete(consumer),
    })
    this.#consumers.add(consumer)
    group.join(consumer)
    return Promise.resolve(consumer)
  }

  /** The next run of any partition of `topic` that nobody holds; undefined when there is none. */
  claim(group: Group, topic: Topic, max: number): Claimed | undefined {
    this.#requireOpen()
    if (!(max >= 1 && max <= CLAIM_MAX)) {
      throw new BadInputError(`claim 1 to ${CLAIM_MAX} events at once`, { field: 'max' })
    }
    const cursors = this.#group(group).cursors(this.#topics.open(topic))
    // The partition that waits longest comes first, so that none starves.
    const byAge = [...cursors].sort((a, b) => ageOf(a) - ageOf(b))
    for (const cursor of byAge) {
      const claim = this.claimCursor(cursor, max)
      if (!claim) continue
      const { receipt, records, expiresAt } = claim
      return { receipt, partition: cursor.partition.partition, records, expiresAt }
    }
    return undefined
  }

  claimCursor(cursor: Cursor, max: number): Claim | undefined {
    if (!this.#claims.isFree(cursor)) return undefined
    const { partition } = cursor
    if (Math.max(cursor.committed, partition.start) >= partition.visible) return undefined
    const run = partition.read(cursor.committed, max)
    if (run.records.length > 0) return this.#claims.take(cursor, run)
    // Only holes: nothing to handle, but the group has come that far.
    cursor.committed = Math.max(cursor.committed, run.next)
    this.#group(cursor.group).moved()
    return undefined
  }

  /** Commits all of a claim. False, and nothing is committed, when the receipt is foreign or old. */
  async complete(receipt: Receipt): Promise<boolean> {
    const claim = this.#claims.find(receipt)
    if (!claim || !(await this.advance(receipt, claim.next))) return false
    return this.release(receipt)
  }

  async advance(receipt: Receipt, next: number): Promise<boolean> {
    const claim = this.#claims.find(receipt)
    if (!claim) return false
    const { cursor } = claim
    const group = this.#group(cursor.group)
    await this.#options.store.batch(() => group.put(cursor, next))
    cursor.committed = Math.max(cursor.committed, next)
    group.moved()
    return true
  }

  renew(receipt: Receipt): boolean {
    return this.#claims.renew(receipt)
  }

  /** Hands a claim back; what it has not committed comes again, to anybody. */
  release(receipt: Receipt): boolean {
    const claim = this.#claims.find(receipt)
    if (!claim) return false
    this.#claims.release(claim)
    this.#group(claim.cursor.group).wake()
    return true
  }

  settled(group: Group, topics: readonly Topic[]): Promise<void> {
    const targets = new Map<Cursor, number>()
    for (const cursor of this.#cursorsOf(group, topics)) {
      targets.set(cursor, cursor.partition.visible)
    }
    return this.#group(group).reaches(targets)
  }

  lag(group: Group, topics: readonly Topic[]): Promise<PartitionLag[]> {
    const lags = this.#cursorsOf(group, topics).map(({ committed, partition }) => {
      const next = Math.max(committed, partition.start)
      return {
        topic: partition.topic,
        partition: partition.partition,
        committed: BigInt(next),
        end: BigInt(partition.visible),
        lag: Math.max(0, partition.visible - next),
      }
    })
    return Promise.resolve(lags)
  }

  async seek(name: Group, topic: Topic, position: Position): Promise<void> {
    const group = this.#group(name)
    const cursors = group.cursors(this.#topics.open(topic))
    if (group.hasMembers || !cursors.every((cursor) => this.#claims.isFree(cursor))) {
      throw new GroupBusyError(`group ${name} has running consumers: stop them before a seek`)
    }
    const chosen = 'partition' in position ? [cursorAt(cursors, position.partition)] : cursors
    const targets = chosen.map((cursor) => [cursor, offsetFor(cursor.partition, position)] as const)
    await this.#options.store.batch(() => {
      for (const [cursor, offset] of targets) group.put(cursor, offset)
    })
    for (const [cursor, offset] of targets) cursor.committed = offset
    group.moved()
  }

  read(
    topic: Topic,
    from: { readonly partition: number; readonly offset: bigint; readonly limit: number },
  ): Promise<LogRecord[]> {
    checkRead(topic, from)
    const partition = this.#topics.open(topic).partitions[from.partition]
    return Promise.resolve([...(partition?.read(Number(from.offset), from.limit).records ?? [])])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    await Promise.all([...this.#consumers].map((consumer) => consumer[Symbol.asyncDispose]()))
    for (const group of this.#groups.values()) group.abandonWaiters()
    await this.#sweeper
  }

  async #sweepUntilClosed(): Promise<void> {
    const { clock, telemetry, settings, store } = this.#options
    const { signal } = this.#closing
    for (;;) {
      await clock.sleep(settings.sweepMs, signal)
      if (signal.aborted) return
      for (const { cursor } of this.#claims.expire()) this.#group(cursor.group).wake()
      try {
        await purge({ store, topics: this.#topics, purgeMax: settings.purgeMax }, clock.now())
        // Who waited for events that are gone waits for nothing.
        for (const group of this.#groups.values()) group.moved()
      } catch (error) {
        telemetry.log.error({ err: error }, 'retention failed, trying again with the next sweep')
      }
    }
  }

  #wake(topic: string): void {
    for (const group of this.#groups.values()) {
      if (group.reads(topic)) group.wake()
    }
  }

  #group(name: Group): LogGroup {
    const known = this.#groups.get(name)
    if (known) return known
    const group = new LogGroup(this.#options.store.database('log-offsets'), name)
    this.#groups.set(name, group)
    return group
  }

  /** Groups that have committed something are seen by operators before anybody joins them. */
  #loadGroups(): void {
    const offsets = this.#options.store.database('log-offsets')
    const topics = new Map([...this.#topics.all()].map((topic) => [topic.number, topic]))
    for (const key of offsets.getKeys({})) {
      const { group, topic } = groupOfKey(key)
      const stored = topics.get(topic)
      if (stored) this.#group(group).cursors(stored)
    }
  }

  *#cursors(): Iterable<Cursor> {
    for (const group of this.#groups.values()) yield* group.all()
  }

  #cursorsOf(group: Group, topics: readonly Topic[]): Cursor[] {
    return topics.flatMap((topic) => this.#group(group).cursors(this.#topics.open(topic)))
  }

  #requireOpen(): void {
    if (this.#closing.signal.aborted) throw new LogUnavailableError('the log is closed')
  }
}

const byPartition = (
  { partitions }: StoredPartitions,
  events: readonly LogEvent[],
): Map<LogPartition, LogEvent[]> => {
  const shares = new Map<LogPartition, LogEvent[]>()
  for (const event of events) {
    const partition = partitions[partitionOf(event.key, partitions.length)]
    if (!partition) continue
    const share = shares.get(partition)
    if (share) share.push(event)
    else shares.set(partition, [event])
  }
  return shares
}

const ageOf = ({ partition, committed }: Cursor): number =>
  partition.appendedAt(committed) ?? Number.POSITIVE_INFINITY

const cursorAt = (cursors: readonly Cursor[], partition: number): Cursor => {
  const cursor = cursors[partition]
  if (!cursor) throw new BadInputError(`there is no partition ${partition}`, { field: 'partition' })
  return cursor
}

const offsetFor = (partition: LogPartition, position: Position): number => {
  const { start, visible } = partition
  if ('timeMs' in position) return partition.offsetAt(position.timeMs)
  if ('offset' in position) return Math.min(visible, Math.max(start, Number(position.offset)))
  return position.at === 'start' ? start : visible
}
