/**
 * Feeds in the cache: for each key a bounded run of pairs, newest first, together with what is
 * known about their completeness. State and entries live and die as one key; neither exists alone.
 *
 * **Resident or absent.** A feed exists only after `open`. An `add` into an absent feed is refused
 * and changes nothing, so a cache that lost a key can never grow a feed that looks whole. Absent,
 * resident and empty, and resident and trimmed are three different answers.
 *
 * **Floor.** A feed is complete for every pair *above* its floor. A trim raises the floor to the
 * newest entry it cut off; nothing else but `complete` moves it, and only `complete` lowers nothing:
 * it joins entries in and sets the floor of a feed that was `building`. An add at or below the
 * floor of a feed that is not building is ignored: down there the tables answer.
 *
 * **Epoch.** Each shard of the cache has an epoch that changes when the shard restarts, fails over,
 * is flushed or restored. A feed opened in another epoch is absent: a replica promoted without the
 * last second must not look complete.
 *
 * **Idempotent.** Adding what is there, or removing what is not, changes nothing. The newest `cap`
 * entries are kept (a few more may be, between trims); the length never tells completeness.
 *
 * Calls over many feeds are one script per shard and at most `FEEDS_PER_CALL` keys, atomic per feed.
 */
import type { Pair } from '../kernel/pair.ts'

export const FEEDS_PER_CALL = 100
/** Most feeds in one `add` or `remove`: the adapter splits it. */
export const FEEDS_MAX = 10_000

/**
 * Which feed: `feed` of a reader, `celeb` of an author. Feeds of one bucket share a shard.
 */
export interface FeedKey {
  readonly kind: 'feed' | 'celeb'
  readonly owner: bigint
}

export interface FeedState {
  /** True from `open` until `complete`: pushes land, but the feed promises nothing yet. */
  readonly building: boolean
  /** Exclusive: complete for all pairs above it. */
  readonly floor: Pair
  /** The reader's graph version up to which the entries cover the follows. */
  readonly graphVersion: number
  /** The version of the set of pulled authors the feed was built with. */
  readonly pulledVersion: number
  /** Changes with every `open` and state change: what a compare needs. */
  readonly revision: string
  readonly epoch: string
}

export interface FeedOpening {
  readonly key: FeedKey
  readonly graphVersion: number
  readonly pulledVersion: number
  /** Removed when neither read nor opened for so long. */
  readonly keepMs: number
}

export interface FeedAdd {
  readonly key: FeedKey
  readonly entries: readonly Pair[]
}

export interface FeedRange {
  readonly limit: number
  /** Exclusive start: only older entries. */
  readonly below?: Pair
  /** Exclusive end: only newer entries. */
  readonly above?: Pair
}

export type FeedRead =
  | { readonly resident: false }
  | {
      readonly resident: true
      readonly state: FeedState
      /** Newest first. */
      readonly entries: readonly Pair[]
      /** Whether the key holds more entries in this range. */
      readonly more: boolean
    }

export interface Feeds extends AsyncDisposable {
  /** Makes an empty, building feed resident, replacing what was there. Gives its state. */
  open(opening: FeedOpening): Promise<FeedState>
  /**
   * Ends the building: joins `entries`, sets the versions and raises the floor to `floor` (or leaves
   * it where trims have raised it higher). Only if the feed still has the revision and epoch of
   * `expected`; says whether it did.
   */
  complete(
    key: FeedKey,
    result: {
      readonly expected: FeedState
      readonly entries: readonly Pair[]
      readonly floor: Pair
      readonly graphVersion: number
      readonly pulledVersion: number
    },
  ): Promise<boolean>
  /** Sets the versions of a complete feed after a back-fill, on the same condition. */
  cover(
    key: FeedKey,
    change: {
      readonly expected: FeedState
      readonly entries: readonly Pair[]
      readonly graphVersion: number
      readonly pulledVersion: number
    },
  ): Promise<boolean>
  /** Adds entries; says of each feed, in order, whether it was resident. */
  add(adds: readonly FeedAdd[], cap: number): Promise<boolean[]>
  /** Adds one entry to many feeds: the push of a post. Says of each whether it was resident. */
  push(keys: readonly FeedKey[], entry: Pair, cap: number): Promise<boolean[]>
  /** Takes entries out; the floor stays. Says of each feed whether it was resident. */
  remove(removals: readonly FeedAdd[]): Promise<boolean[]>
  /** State and entries in one atomic call. Counts as use for `keepMs`. */
  read(key: FeedKey, range: FeedRange): Promise<FeedRead>
  /** Many feeds in one round trip per shard, each atomic. */
  readMany(
    reads: readonly { readonly key: FeedKey; readonly range: FeedRange }[],
  ): Promise<FeedRead[]>
  drop(keys: readonly FeedKey[]): Promise<void>
  /** The epoch of the shard that holds a key. */
  epoch(key: FeedKey): Promise<string>
}

export const FEED_BUCKETS = 1024

/** The bucket of a feed: what its shard is chosen by. */
export const feedBucket = ({ owner }: FeedKey): number =>
  Number(BigInt.asUintN(32, (owner ^ (owner >> 21n)) * 2654435761n) >> 22n)
