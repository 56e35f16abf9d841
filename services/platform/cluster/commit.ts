/** Commits on a cluster: rows and outbox rows in one logged batch, published right after. */
import type { Event, Topic } from '../../kernel/events.ts'
import { arrivalMs } from '../../kernel/ids.ts'
import { type Commit, checkCommit, outboxPut, toOutbox } from '../commit.ts'
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
import { type OutboxEngines, OutboxPublisher } from './publisher.ts'

/** How far behind now a shard's first low mark lies: the clocks of others differ. */
const FIRST_MARK_MINUTES = 2
const SHARDS_AT_ONCE = 16

export class ClusterCommit implements Commit {
  readonly #engines: OutboxEngines
  readonly #publisher: OutboxPublisher
  /** Never goes back, so that no event falls behind the low mark of its shard. */
  #minute: number

  private constructor(engines: OutboxEngines, minute: number) {
    this.#engines = engines
    this.#minute = minute
    this.#publisher = new OutboxPublisher(engines)
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
    const { tables, clock, telemetry } = this.#engines
    this.#minute = Math.max(this.#minute, minuteOf(clock.now()))
    const headers = telemetry.traceHeaders()
    const entries = events.map((event) => entryFor(event, { minute: this.#minute, headers }))
    checkCommit(writes, entries)
    const rows = entries.map((entry) => outboxPut(entry, entry.minute))
    await tables.write([...writes, ...rows])
    this.#publisher.enqueue(topicsOf(events), entries)
  }

  published(): Promise<void> {
    return this.#publisher.published()
  }

  async oldestUnpublishedMs(): Promise<number | undefined> {
    const lows = await readLowMinutes(this.#engines.tables)
    const until = Math.max(this.#minute, minuteOf(this.#engines.clock.now())) + 1
    let oldest: number | undefined
    await forEachBounded(allShards, SHARDS_AT_ONCE, async (shard) => {
      const ms = await this.#oldestIn(shard, { from: lows[shard] ?? until, until })
      if (ms !== undefined) oldest = Math.min(ms, oldest ?? ms)
    })
    return oldest
  }

  async #oldestIn(
    shard: number,
    minutes: { readonly from: number; readonly until: number },
  ): Promise<number | undefined> {
    for (let minute = minutes.from; minute <= minutes.until; minute += 1) {
      const [row] = await this.#engines.tables.slice(outbox, { shard, minute }, { limit: 1 })
      if (row) return arrivalMs(row.id)
    }
    return undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#publisher[Symbol.asyncDispose]()
  }
}

const entryFor = (
  event: Event,
  { minute, headers }: { readonly minute: number; readonly headers: Record<string, string> },
): OutboxEntry => ({ ...toOutbox(event, headers), shard: shardOf(event.key), minute })

const topicsOf = (events: readonly Event[]): ReadonlyMap<string, Topic> =>
  new Map(events.map(({ topic }) => [topic.name, topic]))
