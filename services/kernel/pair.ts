/**
 * The pair (time in ms, id): the total order of everything in a feed, newest first.
 * A time alone cannot be a position (equal times exist), an id alone neither (a post may be
 * dated earlier than it arrived). Every cursor, watermark and floor is a pair.
 */
export interface Pair {
  readonly ms: number
  readonly id: bigint
}

/** Below every entry; as a floor: complete down to the first post ever made. */
export const LOWEST: Pair = { ms: 0, id: 0n }
/** Above every entry. */
export const HIGHEST: Pair = { ms: 2 ** 48 - 1, id: (1n << 63n) - 1n }

/** Negative when `a` is older than `b`. */
export const comparePairs = (a: Pair, b: Pair): number => {
  if (a.ms !== b.ms) return a.ms - b.ms
  if (a.id === b.id) return 0
  return a.id < b.id ? -1 : 1
}

/** For `sort`: newest first, the order of a feed. */
export const newestFirst = (a: Pair, b: Pair): number => comparePairs(b, a)

export const isNewer = (a: Pair, b: Pair): boolean => comparePairs(a, b) > 0

export const newest = (a: Pair, b: Pair): Pair => (isNewer(a, b) ? a : b)
