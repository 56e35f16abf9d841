/**
 * Memory that encoders write into. What is encoded is kept as a view of it, without a copy: a slab
 * is filled from front to back and then left to whoever still holds views of it.
 *
 * One module-level slab serves all encoders: they run to their end without giving way, so `begin`
 * and `take` of one never interleave with another's.
 */
const SLAB_BYTES = 64 * 1024

export class Slab {
  bytes = Buffer.allocUnsafeSlow(SLAB_BYTES)
  /** Buffer's own methods do 64 bits by arithmetic on bigints; a DataView does them at once. */
  view = new DataView(this.bytes.buffer)
  #next = 0

  /** Makes room for `bytes` and says where to begin. */
  begin(bytes: number): number {
    if (this.#next + bytes > this.bytes.length) {
      this.bytes = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, bytes))
      this.view = new DataView(this.bytes.buffer)
      this.#next = 0
    }
    return this.#next
  }

  /** Keeps what was written from `begin` to `end`. */
  take(end: number): Buffer {
    const taken = this.bytes.subarray(this.#next, end)
    this.#next = end
    return taken
  }
}

export const slab = new Slab()
