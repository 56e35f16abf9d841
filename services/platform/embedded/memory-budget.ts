/**
 * The memory the embedded cache and feeds share, and who goes when it runs out: the least recently
 * used key, always as a whole. Half a key would look complete to its reader.
 *
 * A list through the items themselves: a touch moves one item and allocates nothing.
 */
export abstract class Evictable {
  bytes = 0
  counted: boolean = false
  older: Evictable | undefined
  newer: Evictable | undefined
  /** Called when the budget needs the room; the item is no longer counted then. */
  abstract evict(): void
}

export class MemoryBudget {
  readonly #maxBytes: number
  #bytes = 0
  #evictions = 0
  #newest: Evictable | undefined
  #oldest: Evictable | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  get evictions(): number {
    return this.#evictions
  }

  /** Counts an item, as the most recently used. */
  add(item: Evictable, bytes: number): void {
    this.#link(item)
    this.resize(item, bytes)
  }

  touch(item: Evictable): void {
    if (this.#newest === item || !item.counted) return
    this.#unlink(item)
    this.#link(item)
  }

  /** An item too large for the whole budget is evicted at once; one that is evicted stays so. */
  resize(item: Evictable, bytes: number): void {
    if (!item.counted) return
    this.#bytes += bytes - item.bytes
    item.bytes = bytes
    while (this.#bytes > this.#maxBytes && this.#oldest) {
      const victim = this.#oldest
      this.remove(victim)
      this.#evictions += 1
      victim.evict()
    }
  }

  remove(item: Evictable): void {
    if (!item.counted) return
    this.#unlink(item)
    this.#bytes -= item.bytes
    item.bytes = 0
  }

  #link(item: Evictable): void {
    item.counted = true
    item.older = this.#newest
    item.newer = undefined
    if (this.#newest) this.#newest.newer = item
    else this.#oldest = item
    this.#newest = item
  }

  #unlink(item: Evictable): void {
    const { older, newer } = item
    item.counted = false
    if (older) older.newer = newer
    else this.#oldest = newer
    if (newer) newer.older = older
    else this.#newest = older
  }
}
