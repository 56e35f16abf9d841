/** Keeps what was used last, within a number of entries and an estimate of their bytes. */
export interface LruBounds {
  readonly entriesMax: number
  readonly bytesMax: number
}

interface Entry<Value> {
  readonly value: Value
  readonly bytes: number
}

export class SizedLru<Value> {
  readonly #bounds: () => LruBounds
  /** In the order of last use: a Map lists keys as they were put in. */
  readonly #entries = new Map<string, Entry<Value>>()
  #bytes = 0

  constructor(bounds: () => LruBounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return this.#bytes
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** What is larger than everything together may be is not kept. */
  set(key: string, value: Value, bytes: number): void {
    this.delete(key)
    const { entriesMax, bytesMax } = this.#bounds()
    if (bytes > bytesMax) return
    this.#entries.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= entriesMax && this.#bytes <= bytesMax) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }
}
