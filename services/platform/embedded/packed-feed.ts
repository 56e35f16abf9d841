/**
 * The entries of one feed, packed: two typed arrays, oldest first, 16 bytes an entry.
 *
 * A reader gets a view of the arrays and no copy. That is safe because entries are only ever written
 * past the end of what a view can see; whatever has to move entries (an insert out of order, a
 * removal, a trim) makes new arrays when a view has been handed out.
 */
import { comparePairs, LOWEST, type Pair } from '../../kernel/pair.ts'
import { FeedEntries, type FeedRange } from '../feeds.ts'

const FIRST_TIER = 32
export const PACKED_ENTRY_BYTES = 16

/** A cap is exceeded by an eighth before a trim, so that a trim is rare. */
const most = (cap: number): number => cap + Math.ceil(cap / 8)

class PackedEntries extends FeedEntries {
  readonly #ms: Float64Array
  readonly #ids: BigUint64Array
  readonly #newest: number
  readonly length: number

  constructor(ms: Float64Array, ids: BigUint64Array, start: number, stop: number) {
    super()
    this.#ms = ms
    this.#ids = ids
    this.#newest = stop - 1
    this.length = stop - start
  }

  msAt(index: number): number {
    return this.#ms[this.#newest - index] ?? Number.NaN
  }

  idAt(index: number): bigint {
    return this.#ids[this.#newest - index] ?? 0n
  }
}

export class PackedFeed {
  #ms: Float64Array = new Float64Array(FIRST_TIER)
  #ids: BigUint64Array = new BigUint64Array(FIRST_TIER)
  #count = 0
  /** Newest entry's ms, or the floor's while there is none: what an insert compares with first. */
  #lastMs = 0
  #floor: Pair = LOWEST
  /** Views of the present arrays that were handed out. */
  #views = 0

  get floor(): Pair {
    return this.#floor
  }

  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#ms.length * PACKED_ENTRY_BYTES
  }

  insert(ms: number, id: bigint, cap: number): void {
    if (ms > this.#lastMs) {
      if (this.#count === this.#ms.length || this.#count >= most(cap)) this.#makeRoom(cap)
      this.#ms[this.#count] = ms
      this.#ids[this.#count] = id
      this.#count += 1
      this.#lastMs = ms
      return
    }
    this.#insertBetween({ ms, id }, cap)
  }

  /** Joins pairs that are in order, oldest first; `cap` undefined keeps them all. */
  join(pairs: readonly Pair[], cap: number | undefined): void {
    const added = pairs.filter((pair) => comparePairs(pair, this.#floor) > 0)
    if (added.length === 0) return
    const { ms, ids, count } = this.#union(added)
    if (count === this.#count) return
    this.#adopt(ms, ids, count)
    if (cap !== undefined && count > most(cap)) this.#trim(cap)
  }

  remove(pair: Pair): void {
    const index = this.#find(pair)
    if (index === this.#count || this.#compareAt(index, pair) !== 0) return
    this.#own()
    this.#ms.copyWithin(index, index + 1, this.#count)
    this.#ids.copyWithin(index, index + 1, this.#count)
    this.#count -= 1
    this.#noteLast()
  }

  /** Raises the floor, dropping what lies at or below it. */
  raiseFloor(floor: Pair): void {
    if (comparePairs(floor, this.#floor) <= 0) return
    this.#floor = floor
    let keepFrom = this.#find(floor)
    if (keepFrom < this.#count && this.#compareAt(keepFrom, floor) === 0) keepFrom += 1
    this.#dropOldest(keepFrom)
  }

  slice({ limit, below, above }: FeedRange): { entries: FeedEntries; more: boolean } {
    const stop = below ? this.#find(below) : this.#count
    const least = above ? Math.min(stop, this.#firstAbove(above)) : 0
    const start = Math.max(least, stop - limit)
    this.#views += 1
    return { entries: new PackedEntries(this.#ms, this.#ids, start, stop), more: start > least }
  }

  #insertBetween(pair: Pair, cap: number): void {
    if (comparePairs(pair, this.#floor) <= 0) return
    let index = this.#find(pair)
    if (index < this.#count && this.#compareAt(index, pair) === 0) return
    if (this.#count === this.#ms.length || this.#count >= most(cap)) {
      this.#makeRoom(cap)
      if (comparePairs(pair, this.#floor) <= 0) return
      index = this.#find(pair)
    }
    if (index < this.#count) {
      this.#own()
      this.#ms.copyWithin(index + 1, index, this.#count)
      this.#ids.copyWithin(index + 1, index, this.#count)
    }
    this.#ms[index] = pair.ms
    this.#ids[index] = pair.id
    this.#count += 1
    this.#noteLast()
  }

  #makeRoom(cap: number): void {
    if (this.#count >= most(cap)) this.#trim(cap)
    else this.#resize(Math.min(Math.max(this.#count * 2, FIRST_TIER), most(cap)))
  }

  #trim(cap: number): void {
    const cut = this.#count - cap
    this.#floor = this.#at(cut - 1)
    this.#dropOldest(cut)
    if (this.#ms.length !== most(cap)) this.#resize(most(cap))
  }

  #dropOldest(dropped: number): void {
    if (dropped > 0) {
      this.#own()
      this.#ms.copyWithin(0, dropped, this.#count)
      this.#ids.copyWithin(0, dropped, this.#count)
      this.#count -= dropped
    }
    this.#noteLast()
  }

  #union(added: readonly Pair[]): { ms: Float64Array; ids: BigUint64Array; count: number } {
    const room = tierOf(this.#count + added.length)
    const ms = new Float64Array(room)
    const ids = new BigUint64Array(room)
    let count = 0
    let held = 0
    const keep = (pair: Pair): void => {
      ms[count] = pair.ms
      ids[count] = pair.id
      count += 1
    }
    for (const pair of added) {
      while (held < this.#count && this.#compareAt(held, pair) < 0) keep(this.#at(held++))
      if (held < this.#count && this.#compareAt(held, pair) === 0) held += 1
      keep(pair)
    }
    while (held < this.#count) keep(this.#at(held++))
    return { ms, ids, count }
  }

  #adopt(ms: Float64Array, ids: BigUint64Array, count: number): void {
    this.#ms = ms
    this.#ids = ids
    this.#count = count
    this.#views = 0
    this.#noteLast()
  }

  /** Makes sure no view sees what is about to move. */
  #own(): void {
    if (this.#views > 0) this.#resize(this.#ms.length)
  }

  #resize(capacity: number): void {
    const ms = new Float64Array(capacity)
    const ids = new BigUint64Array(capacity)
    ms.set(this.#ms.subarray(0, this.#count))
    ids.set(this.#ids.subarray(0, this.#count))
    this.#adopt(ms, ids, this.#count)
  }

  #noteLast(): void {
    this.#lastMs = this.#count > 0 ? (this.#ms[this.#count - 1] ?? 0) : this.#floor.ms
  }

  /** The index of the oldest entry that is not older than `pair`. */
  #find(pair: Pair): number {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compareAt(middle, pair) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #firstAbove(pair: Pair): number {
    const index = this.#find(pair)
    return index < this.#count && this.#compareAt(index, pair) === 0 ? index + 1 : index
  }

  #compareAt(index: number, pair: Pair): number {
    const ms = this.#ms[index] ?? Number.NaN
    return ms === pair.ms ? comparePairs(this.#at(index), pair) : ms - pair.ms
  }

  #at(index: number): Pair {
    return { ms: this.#ms[index] ?? 0, id: this.#ids[index] ?? 0n }
  }
}

const tierOf = (count: number): number => {
  let capacity = FIRST_TIER
  while (capacity < count) capacity *= 2
  return capacity
}
