/**
 * Feeds in this process. Nothing of them outlives it, so the epoch is a word made at the start.
 * Reads and openings count as use, pushes do not: a feed nobody reads is the first to go.
 */
import { randomBytes } from 'node:crypto'
import type { Pair } from '../../kernel/pair.ts'
import {
  checkCap,
  checkFeeds,
  checkLimit,
  type FeedAdd,
  type FeedKey,
  type FeedOpening,
  type FeedRange,
  type FeedRead,
  type FeedState,
  type Feeds,
  inOrder,
} from '../feeds.ts'
import type { Telemetry } from '../telemetry.ts'
import { Evictable, type MemoryBudget } from './memory-budget.ts'
import { PackedFeed } from './packed-feed.ts'

/** A map's slot, the objects around the arrays and the arrays' own headers. */
const FEED_OVERHEAD_BYTES = 640

class ResidentFeed extends Evictable {
  readonly entries = new PackedFeed()
  readonly owner: bigint
  readonly keepMs: number
  readonly home: Map<bigint, ResidentFeed>
  usedAt: number
  #state: FeedState

  constructor(home: Map<bigint, ResidentFeed>, opening: FeedOpening, state: FeedState) {
    super()
    this.home = home
    this.owner = opening.key.owner
    this.keepMs = opening.keepMs
    this.usedAt = performance.now()
    this.#state = state
  }

  /** Made anew only when a trim has moved the floor. */
  get state(): FeedState {
    if (this.#state.floor !== this.entries.floor) {
      this.#state = { ...this.#state, floor: this.entries.floor }
    }
    return this.#state
  }

  change(change: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...change, revision: newToken() }
  }

  evict(): void {
    this.home.delete(this.owner)
  }
}

const newToken = (): string => randomBytes(8).toString('hex')

export class EmbeddedFeeds implements Feeds {
  readonly #budget: MemoryBudget
  readonly #epoch = newToken()
  readonly #resident = {
    feed: new Map<bigint, ResidentFeed>(),
    celeb: new Map<bigint, ResidentFeed>(),
  }

  constructor(budget: MemoryBudget, telemetry: Telemetry) {
    this.#budget = budget
    telemetry.gauge('tributary_feeds_resident', 'feeds in the cache', {
      collect: (gauge) => gauge.set(this.#count()),
    })
    telemetry.gauge('tributary_feeds_bytes_per_feed', 'memory of a resident feed, mean', {
      collect: (gauge) => gauge.set(this.#meanBytes()),
    })
  }

  async open(opening: FeedOpening): Promise<FeedState> {
    const home = this.#resident[opening.key.kind]
    const previous = home.get(opening.key.owner)
    if (previous) this.#discard(previous)
    const { graphVersion, pulledVersion } = opening
    const feed = new ResidentFeed(home, opening, {
      building: true,
      floor: { ms: 0, id: 0n },
      graphVersion,
      pulledVersion,
      revision: newToken(),
      epoch: this.#epoch,
    })
    home.set(feed.owner, feed)
    this.#budget.add(feed, feed.entries.bytes + FEED_OVERHEAD_BYTES)
    return feed.state
  }

  async complete(key: FeedKey, result: Parameters<Feeds['complete']>[1]): Promise<boolean> {
    const { graphVersion, pulledVersion, floor, expected } = result
    const feed = this.#expected(key, expected, true)
    if (!feed) return false
    const entries = inOrder(result.entries)
    feed.entries.raiseFloor(floor)
    feed.entries.join(entries, undefined)
    feed.change({ building: false, graphVersion, pulledVersion })
    this.#recount(feed)
    return true
  }

  async cover(key: FeedKey, change: Parameters<Feeds['cover']>[1]): Promise<boolean> {
    const { graphVersion, pulledVersion, expected } = change
    const feed = this.#expected(key, expected, false)
    if (!feed) return false
    feed.entries.join(inOrder(change.entries), undefined)
    feed.change({ graphVersion, pulledVersion })
    this.#recount(feed)
    return true
  }

  async add(adds: readonly FeedAdd[], cap: number): Promise<boolean[]> {
    checkFeeds(adds.length)
    checkCap(cap)
    const ordered = adds.map(({ entries }) => inOrder(entries))
    return adds.map(({ key }, index) => {
      const feed = this.#find(key)
      if (!feed) return false
      feed.entries.join(ordered[index] ?? [], cap)
      this.#recount(feed)
      return true
    })
  }

  async push(keys: readonly FeedKey[], { ms, id }: Pair, cap: number): Promise<boolean[]> {
    checkFeeds(keys.length)
    checkCap(cap)
    const now = performance.now()
    return keys.map((key) => {
      const feed = this.#find(key, now)
      if (!feed) return false
      feed.entries.insert(ms, id, cap)
      this.#recount(feed)
      return true
    })
  }

  async remove(removals: readonly FeedAdd[]): Promise<boolean[]> {
    checkFeeds(removals.length)
    const ordered = removals.map(({ entries }) => inOrder(entries))
    return removals.map(({ key }, index) => {
      const feed = this.#find(key)
      for (const pair of ordered[index] ?? []) feed?.entries.remove(pair)
      return feed !== undefined
    })
  }

  async read(key: FeedKey, range: FeedRange): Promise<FeedRead> {
    return this.#read(key, range, performance.now())
  }

  async readMany(
    reads: readonly { readonly key: FeedKey; readonly range: FeedRange }[],
  ): Promise<FeedRead[]> {
    checkFeeds(reads.length)
    const now = performance.now()
    return reads.map(({ key, range }) => this.#read(key, range, now))
  }

  async drop(keys: readonly FeedKey[]): Promise<void> {
    checkFeeds(keys.length)
    for (const key of keys) {
      const feed = this.#resident[key.kind].get(key.owner)
      if (feed) this.#discard(feed)
    }
  }

  async epoch(_key: FeedKey): Promise<string> {
    return this.#epoch
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const home of Object.values(this.#resident)) {
      for (const feed of home.values()) this.#budget.remove(feed)
      home.clear()
    }
  }

  #read(key: FeedKey, range: FeedRange, now: number): FeedRead {
    checkLimit(range.limit)
    const feed = this.#find(key, now)
    if (!feed) return { resident: false }
    feed.usedAt = now
    this.#budget.touch(feed)
    const { entries, more } = feed.entries.slice(range)
    return { resident: true, state: feed.state, entries, more }
  }

  #find({ kind, owner }: FeedKey, now = performance.now()): ResidentFeed | undefined {
    const feed = this.#resident[kind].get(owner)
    if (!feed || now < feed.usedAt + feed.keepMs) return feed
    this.#discard(feed)
    return undefined
  }

  #expected(key: FeedKey, expected: FeedState, building: boolean): ResidentFeed | undefined {
    const feed = this.#find(key)
    if (feed?.state.building !== building || expected.epoch !== this.#epoch) return undefined
    return feed.state.revision === expected.revision ? feed : undefined
  }

  #recount(feed: ResidentFeed): void {
    const bytes = feed.entries.bytes + FEED_OVERHEAD_BYTES
    if (bytes !== feed.bytes) this.#budget.resize(feed, bytes)
  }

  #discard(feed: ResidentFeed): void {
    this.#budget.remove(feed)
    feed.evict()
  }

  #count(): number {
    return this.#resident.feed.size + this.#resident.celeb.size
  }

  #meanBytes(): number {
    let bytes = 0
    for (const home of Object.values(this.#resident)) {
      for (const feed of home.values()) bytes += feed.bytes
    }
    return bytes / Math.max(1, this.#count())
  }
}
