/**
 * The cache: fast, bounded, and never the truth. Any key may be gone at any moment (evicted,
 * flushed, lost in a failover), so everything in it can be made again from the tables.
 *
 * Every key has a time to live, by the engine's own time; what must expire exactly carries its own
 * time and is judged by the clock port. Keys are made by one typed function each, never at the
 * call site; on a Redis Cluster the part in braces decides the shard, and a call over many keys is
 * split by shard, so calls over many keys are atomic per key only.
 *
 * Sorted sets order members by (score, member): scores are integers of at most 53 bits, members
 * compare as bytes, equal scores are legal and pages over them neither skip nor repeat. A cap keeps
 * the highest. Values and bits are one kind, fields and token buckets another, sorted sets the
 * third; using a key as another kind than it has is a bug and throws.
 *
 * Errors: CacheUnavailableError when the engine did not answer; a caller goes on without.
 */
import { assert, BadInputError, TooLargeError, UnavailableError } from '../kernel/errors.ts'

export const CACHE_KEYS_MAX = 1000
export const CACHE_VALUE_BYTES_MAX = 1024 * 1024
export const CACHE_BITS_MAX = 2 ** 23

export interface Scored {
  readonly score: number
  readonly member: string
}

export interface CappedAdd {
  readonly key: string
  readonly members: readonly Scored[]
  /** How many of the highest are kept. */
  readonly cap: number
  readonly ttlMs: number
}

export interface SortedSlice {
  readonly limit: number
  /** `falling`, the default, begins at the highest score. */
  readonly direction?: 'falling' | 'rising'
  /** Exclusive start, in reading direction; the member need not be there (any more). */
  readonly after?: Scored
  /** Inclusive end, by score. */
  readonly until?: number
}

export interface TokenBucket {
  readonly capacity: number
  readonly refillPerSecond: number
  readonly cost: number
  /** By the clock port of the caller; a bucket never goes back in time. */
  readonly nowMs: number
}

export interface TokenGrant {
  readonly granted: boolean
  /** Whole tokens left. */
  readonly remaining: number
  /** How long until `cost` tokens are there; 0 when granted. */
  readonly retryAfterMs: number
}

export interface Cache extends AsyncDisposable {
  get(key: string): Promise<string | undefined>
  getMany(keys: readonly string[]): Promise<(string | undefined)[]>
  set(key: string, value: string, ttlMs: number): Promise<void>
  setMany(values: ReadonlyMap<string, string>, ttlMs: number): Promise<void>
  getBytes(key: string): Promise<Uint8Array | undefined>
  setBytes(key: string, value: Uint8Array, ttlMs: number): Promise<void>
  /** Sets `next` if the value is `expected` (`undefined`: absent). Says whether it did. */
  swap(
    key: string,
    change: {
      readonly expected: string | undefined
      readonly next: string
      readonly ttlMs: number
    },
  ): Promise<boolean>
  /** Removes keys of any kind; says how many were there. */
  remove(keys: readonly string[]): Promise<number>

  /** Sets the fields named, leaves the others. */
  setFields(key: string, fields: Readonly<Record<string, string>>, ttlMs: number): Promise<void>
  /** All fields; empty where the key is absent. */
  getFields(key: string): Promise<Readonly<Record<string, string>>>
  removeFields(key: string, fields: readonly string[]): Promise<number>

  /** Adds and trims many sets, one round trip per shard. A member added again takes its new score. */
  addCapped(adds: readonly CappedAdd[]): Promise<void>
  sliceSorted(key: string, slice: SortedSlice): Promise<Scored[]>
  removeMembers(key: string, members: readonly string[]): Promise<number>
  /** Removes the members for which `matches` is true; one added meanwhile may stay. */
  removeWhere(key: string, matches: (entry: Scored) => boolean): Promise<number>
  countSorted(key: string): Promise<number>

  /** Takes `cost` tokens if they are there: atomic, and exact under any number of callers. */
  takeTokens(key: string, bucket: TokenBucket): Promise<TokenGrant>

  /** Bits by offset below 2^23; unset and absent bits are 0. */
  setBits(key: string, offsets: readonly number[], ttlMs: number): Promise<void>
  getBits(key: string, offsets: readonly number[]): Promise<boolean[]>
}

export class CacheUnavailableError extends UnavailableError {
  override readonly name = 'CacheUnavailableError'
}

export const checkKeys = (count: number): void => {
  if (count <= CACHE_KEYS_MAX) return
  throw new BadInputError(`${count} keys in one call are more than ${CACHE_KEYS_MAX}`)
}

export const checkTtl = (ttlMs: number): void =>
  assert(Number.isSafeInteger(ttlMs) && ttlMs > 0, `a time to live of ${ttlMs} ms`)

export const checkValue = (key: string, value: string | Uint8Array): void => {
  const bytes = typeof value === 'string' ? Buffer.byteLength(value) : value.byteLength
  if (bytes <= CACHE_VALUE_BYTES_MAX) return
  throw new TooLargeError(
    `the value of ${key} has ${bytes} bytes of at most ${CACHE_VALUE_BYTES_MAX}`,
  )
}

export const checkScore = (score: number): void =>
  assert(Number.isSafeInteger(score), `a score of ${score}`)

export const checkOffsets = (offsets: readonly number[]): void => {
  for (const offset of offsets) {
    assert(Number.isInteger(offset) && offset >= 0 && offset < CACHE_BITS_MAX, `a bit at ${offset}`)
  }
}

export const checkBucket = ({ capacity, refillPerSecond, cost, nowMs }: TokenBucket): void => {
  assert(Number.isSafeInteger(capacity) && capacity > 0, `a bucket of ${capacity} tokens`)
  assert(refillPerSecond > 0 && Number.isFinite(refillPerSecond), `a refill of ${refillPerSecond}`)
  assert(Number.isSafeInteger(cost) && cost >= 0 && cost <= capacity, `a cost of ${cost} tokens`)
  assert(Number.isSafeInteger(nowMs), `the time ${nowMs}`)
}

/**
 * How long a bucket is kept: past the time it needs to fill up it is the same as none. The caller's
 * clock may run slower than the engine's, hence the margin.
 */
export const bucketTtlMs = ({ capacity, refillPerSecond }: TokenBucket): number =>
  Math.ceil((capacity / refillPerSecond) * 2000) + 3_600_000

export class WrongKindError extends Error {
  override readonly name = 'WrongKindError'
}
