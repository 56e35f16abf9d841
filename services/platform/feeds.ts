/**
 * Feeds in the cache: for each key a bounded run of pairs, newest first, together with what is
 * known about their completeness. State and entries live and die as one key; neither exists alone.
 *
 * **Resident or absent.** A feed exists only after `open`. An `add` into an absent feed is refused
 * and changes nothing, so a cache that lost a key can never grow a feed that looks whole. Absent,
 * resident and empty, and resident and trimmed are three different answers.
 *
 * **Floor.** A feed is complete for every pair *above* its floor and holds nothing at or below it.
 * It begins at the lowest pair, a trim raises it to the newest entry it cut off, `complete` raises it
 * to what was read from the tables, and nothing lowers it but opening the feed again. An add at or
 * below it is ignored: down there the tables answer.
 *
 * **Epoch.** Each shard of the cache has an epoch that changes when the shard restarts, fails over,
 * is flushed or restored. A feed opened in another epoch is absent: a replica promoted without the
 * last second must not look complete.
 *
 * **Idempotent.** Adding what is there, or removing what is not, changes nothing. The newest `cap`
 * entries are kept (up to an eighth more may be, between trims); the length never tells completeness.
 *
 * Calls over many feeds are one script per shard and at most `FEEDS_PER_CALL` keys, atomic per feed.
 */
import { BadInputError, UnavailableError } from '../kernel/errors.ts'
import { comparePairs, type Pair } from '../kernel/pair.ts'

export const FEEDS_PER_CALL = 100
/** Most feeds in one `add`, `push`, `remove`, `readMany` or `drop`: the adapter splits it. */
export const FEEDS_MAX = 10_000
/** Most entries given to, or asked of, one feed in one call; also the largest cap. */
export const FEED_ENTRIES_MAX = 4096

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

/**
 * A run of pairs, newest first, as the engine packs them. A read hands out one view; a pair becomes
 * an object only when it is looked at, since most of a window is merged by comparing and cut off
 * unseen (making twenty objects costs several times the read).
 */
export abstract class FeedEntries implements Iterable<Pair> {
  abstract readonly length: number
  /** `index` must be below `length`. */
  abstract msAt(index: number): number
  abstract idAt(index: number): bigint

  at(index: number): Pair {
    return { ms: this.msAt(index), id: this.idAt(index) }
  }

  *[Symbol.iterator](): Iterator<Pair> {
    for (let index = 0; index < this.length; index += 1) yield this.at(index)
  }
}

export type FeedRead =
  | { readonly resident: false }
  | {
      readonly resident: true
      readonly state: FeedState
      /** Newest first; a snapshot that later changes of the feed do not touch. */
      readonly entries: FeedEntries
      /** Whether the key holds more entries in this range. */
      readonly more: boolean
    }

export interface Feeds extends AsyncDisposable {
  /** Makes an empty, building feed resident, replacing what was there. Gives its state. */
  open(opening: FeedOpening): Promise<FeedState>
  /**
   * Ends the building: joins `entries`, sets the versions and raises the floor to `floor` (or leaves
   * it where trims have raised it higher). Only if the feed is building and still has the revision
   * and epoch of `expected`; says whether it did.
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

export class FeedsUnavailableError extends UnavailableError {
  override readonly name = 'FeedsUnavailableError'
}

/** Refuses what no engine could take. */
export const checkFeeds = (count: number): void => {
  if (count <= FEEDS_MAX) return
  throw new BadInputError(`${count} feeds in one call are more than ${FEEDS_MAX}`)
}

export const checkCap = (cap: number): void => {
  if (Number.isInteger(cap) && cap >= 1 && cap <= FEED_ENTRIES_MAX) return
  throw new BadInputError(`a cap of ${cap} is not a whole number from 1 to ${FEED_ENTRIES_MAX}`)
}

export const checkLimit = (limit: number): void => {
  if (Number.isInteger(limit) && limit >= 0 && limit <= FEED_ENTRIES_MAX) return
  throw new BadInputError(`a limit of ${limit} is not a whole number from 0 to ${FEED_ENTRIES_MAX}`)
}

/** The pairs oldest first and each once: what both engines join in. */
export const inOrder = (pairs: readonly Pair[]): readonly Pair[] => {
  if (pairs.length > FEED_ENTRIES_MAX) {
    throw new BadInputError(
      `${pairs.length} entries for one feed are more than ${FEED_ENTRIES_MAX}`,
    )
  }
  if (pairs.length < 2) return pairs
  const sorted = [...pairs].sort(comparePairs)
  return sorted.filter((pair, index) => {
    const previous = sorted[index - 1]
    return !previous || comparePairs(previous, pair) !== 0
  })
}

export const FEED_BUCKETS = 1024

/** The bucket of a feed: what its shard is chosen by. */
export const feedBucket = ({ owner }: FeedKey): number =>
  Number(BigInt.asUintN(32, (owner ^ (owner >> 21n)) * 2654435761n) >> 22n)
