/** Commits on a cluster: rows and outbox rows in one logged batch, published right after. */
import { OutcomeUnknownError } from '../../kernel/errors.ts'
import type { Event, Topic } from '../../kernel/events.ts'
import { arrivalMs } from '../../kernel/ids.ts'
import { type Commit, checkCommit, type OutboxEvent, outboxPut, toOutbox } from '../commit.ts'
import { outbox, outboxMarks } from '../generated/tables.ts'
import { put, type Write } from '../tables.ts'
import {
  allShards,
  forEachBounded,
  minuteOf,
  type OutboxEntry,
  readLowMinutes,
  shardOf,
} from './outbox.ts'
import { listedMinutes, MinuteList } from './outbox-minutes.ts'
import { type OutboxEngines, OutboxPublisher } from './publisher.ts'

/** How far behind now a shard's first low mark lies: the clocks of others differ. */
const FIRST_MARK_MINUTES = 2
const SHARDS_AT_ONCE = 16

export class ClusterCommit implements Commit {
  readonly #engines: OutboxEngines
  readonly #publisher: OutboxPublisher
  readonly #list: MinuteList
  /** Never goes back, so that no event falls behind the low mark of its shard. */
  #minute: number

  private constructor(engines: OutboxEngines, minute: number) {
    this.#engines = engines
    this.#minute = minute
    this.#publisher = new OutboxPublisher(engines)
    this.#list = new MinuteList(engines)
  }

  /** Every shard has a low mark before the first event can lie in it. */
  static async open(engines: OutboxEngines): Promise<ClusterCommit> {
    const { tables, clock } = engines
    const lows = await readLowMinutes(tables)
    const lowMinute = minuteOf(clock.now()) - FIRST_MARK_MINUTES
    const unused = allShards.filter((shard) => lows[shard] === undefined)
    await forEachBounded(unused, SHARDS_AT_ONCE, (shard) =>
      tables.write([put(outboxMarks, { shard, lowMinute })]),
    )
    return new ClusterCommit(engines, Math.max(lowMinute, ...lows.map((low) => low ?? 0)))
  }

  async commit(writes: readonly Write[], events: readonly Event[]): Promise<void> {
    const headers = this.#engines.telemetry.traceHeaders()
    const announced = events.map((event) => toOutbox(event, headers))
    checkCommit(writes, announced)
    this.#publisher.enqueue(topicsOf(events), await this.#store(writes, announced))
  }

  /** Says where the events lie then. */
  async #store(writes: readonly Write[], events: readonly OutboxEvent[]): Promise<OutboxEntry[]> {
    const { tables, clock, settings } = this.#engines
    const begunMs = clock.now()
    const entries = this.#placed(events, begunMs)
    const shards = entries.map(({ shard }) => shard)
    await this.#list.list(shards, this.#minute)
    await tables.write([...writes, ...entries.map((entry) => outboxPut(entry, entry.minute))])
    const late = clock.now() - begunMs > settings.lateMs / 2
    return late ? [...entries, ...(await this.#storeAgain(events))] : entries
  }

  #placed(events: readonly OutboxEvent[], now: number): OutboxEntry[] {
    this.#minute = Math.max(this.#minute, minuteOf(now))
    return events.map((event) => ({
      ...event,
      shard: shardOf(event.event.key),
      minute: this.#minute,
    }))
  }

  /**
   * The process slept through the middle of a commit, for so long that relays may not look into its
   * minute any more. Should it die before it publishes, they find the events in this one.
   */
  async #storeAgain(events: readonly OutboxEvent[]): Promise<OutboxEntry[]> {
    try {
      return await this.#store([], events)
    } catch (error) {
      throw new OutcomeUnknownError('rows came too late for their events', { cause: error })
    }
  }

  published(): Promise<void> {
    return this.#publisher.published()
  }

  async oldestUnpublishedMs(): Promise<number | undefined> {
    const lows = await readLowMinutes(this.#engines.tables)
    let oldest: number | undefined
    await forEachBounded(allShards, SHARDS_AT_ONCE, async (shard) => {
      const ms = await this.#oldestIn(shard, lows[shard] ?? 0)
      if (ms !== undefined) oldest = Math.min(ms, oldest ?? ms)
    })
    return oldest
  }

  async #oldestIn(shard: number, from: number): Promise<number | undefined> {
    const { tables } = this.#engines
    for await (const minute of listedMinutes(tables, { shard, from })) {
      const [row] = await tables.slice(outbox, { shard, minute }, { limit: 1 })
      if (row) return arrivalMs(row.id)
    }
    return undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#publisher[Symbol.asyncDispose]()
  }
}

const topicsOf = (events: readonly Event[]): ReadonlyMap<string, Topic> =>
  new Map(events.map(({ topic }) => [topic.name, topic]))
