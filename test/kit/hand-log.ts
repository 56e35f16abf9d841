/**
 * A log turned by hand: a test decides which member owns a partition, when a batch is handed over
 * and when a partition is taken away. For schedules no real engine would play on demand.
 */
import type { LogEvent, Topic } from '../../services/kernel/events.ts'
import {
  type Consumer,
  type Log,
  type LogRecord,
  type PartitionLag,
  partitionOf,
  type Subscription,
} from '../../services/platform/log.ts'

interface Lane {
  readonly records: LogRecord[]
  committed: number
  owner: HandMember | undefined
  lost: AbortController
  isBusy: boolean
}

export class HandMember implements Consumer {
  readonly subscription: Subscription
  /** One for each partition it was given, aborted when it hears that it has lost it. */
  readonly losses: AbortController[] = []
  readonly #log: HandLog
  paused: boolean = false

  constructor(log: HandLog, subscription: Subscription) {
    this.#log = log
    this.subscription = subscription
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#log.leave(this)
  }
}

/** One topic, one group. */
export class HandLog implements Log {
  readonly topic: Topic
  readonly members: HandMember[] = []
  readonly #lanes: readonly Lane[]
  readonly #handling = new Set<Promise<void>>()

  constructor(topic: Topic) {
    this.topic = topic
    this.#lanes = Array.from({ length: topic.partitions }, () => ({
      records: [],
      committed: 0,
      owner: undefined,
      lost: new AbortController(),
      isBusy: false,
    }))
  }

  async append(topic: Topic, events: readonly LogEvent[]): Promise<void> {
    for (const event of events) {
      const { records } = this.#lane(partitionOf(event.key, topic.partitions))
      records.push({ ...event, offset: BigInt(records.length), appendedAt: 0 })
    }
  }

  async consume(subscription: Subscription): Promise<HandMember> {
    const member = new HandMember(this, subscription)
    this.members.push(member)
    return member
  }

  /** Takes a partition from whoever has it, without waiting for them, and gives it to `member`. */
  async give(partition: number, member: HandMember): Promise<void> {
    this.#lane(partition).lost.abort()
    await this.slip(partition, member)
  }

  /** The same, but whoever had it does not hear of it, as one that is cut off. */
  async slip(partition: number, member: HandMember): Promise<void> {
    const lane = this.#lane(partition)
    lane.isBusy = false
    lane.lost = new AbortController()
    lane.owner = member
    member.losses.push(lane.lost)
    const { signal } = lane.lost
    await member.subscription.assigned?.([{ topic: this.topic.name, partition, signal }])
  }

  /** Hands a batch to the owner, unless it has one; does not wait for its end. */
  deliver(partition: number): void {
    const lane = this.#lane(partition)
    const { owner, isBusy, lost } = lane
    if (!owner || owner.paused || isBusy) return
    const records = lane.records.slice(lane.committed, lane.committed + owner.subscription.batchMax)
    if (records.length === 0) return
    const done = new Set<bigint>()
    const handling = owner.subscription
      .handle({
        ...{ topic: this.topic.name, partition, records, signal: lost.signal },
        done: (offset) => void done.add(offset),
      })
      .finally(() => {
        this.#handling.delete(handling)
        if (lane.lost !== lost) return
        lane.isBusy = false
        while (done.has(BigInt(lane.committed))) lane.committed += 1
      })
    lane.isBusy = true
    this.#handling.add(handling)
  }

  async leave(member: HandMember): Promise<void> {
    for (const loss of member.losses) loss.abort()
    await this.idle()
  }

  /** Every batch handed over has been handled, also by those who lost their partition. */
  async idle(): Promise<void> {
    while (this.#handling.size > 0) await Promise.all(this.#handling)
  }

  get backlog(): number {
    return this.#lanes.reduce((sum, { records, committed }) => sum + records.length - committed, 0)
  }

  owner(partition: number): HandMember | undefined {
    return this.#lane(partition).owner
  }

  async lag(): Promise<PartitionLag[]> {
    return this.#lanes.map(({ records, committed }, partition) => ({
      topic: this.topic.name,
      partition,
      committed: BigInt(committed),
      end: BigInt(records.length),
      lag: records.length - committed,
    }))
  }

  settled(): Promise<void> {
    return Promise.reject(new Error('a log turned by hand settles when the test says so'))
  }

  seek(): Promise<void> {
    return Promise.reject(new Error('a log turned by hand has no seek'))
  }

  async read(): Promise<LogRecord[]> {
    return this.#lanes.flatMap(({ records }) => records)
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #lane(partition: number): Lane {
    const lane = this.#lanes[partition]
    if (!lane) throw new Error(`there is no partition ${partition}`)
    return lane
  }
}
