/** Writes the columns of a key, each in its code (key-codec.ts), and refuses what does not fit. */
import type { ColumnType } from '../tables.ts'

/** In place of a position: the value is no value of that type. */
export const MISFIT = -1

const BIGINT_MIN = -(2n ** 63n)
const BIGINT_MAX = 2n ** 63n - 1n
/** The furthest a JavaScript `Date` reaches. */
const TIME_MAX = 8.64e15
const TWO_32 = 2 ** 32

export class KeyWriter {
  bytes: Buffer
  /** Buffer's own methods do 64 bits by arithmetic on bigints; a DataView does them at once. */
  #view: DataView<ArrayBufferLike>

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Goes on in other memory. */
  turnTo(bytes: Buffer): void {
    if (bytes === this.bytes) return
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Writes a value at `at`; says where it ends, or MISFIT. */
  write(value: unknown, type: ColumnType, at: number): number {
    switch (type) {
      case 'text':
        return typeof value === 'string' ? this.#text(value, at) : MISFIT
      case 'bigint':
        return typeof value === 'bigint' ? this.#bigint(value, at) : MISFIT
      case 'timestamp':
        return typeof value === 'number' ? this.#time(value, at) : MISFIT
      case 'int':
        return typeof value === 'number' ? this.#int(value, at) : MISFIT
      case 'boolean':
        return typeof value === 'boolean' ? this.#boolean(value, at) : MISFIT
      case 'blob':
        return value instanceof Uint8Array ? this.#blob(value, at) : MISFIT
      case 'double':
        return MISFIT
    }
  }

  invert(start: number, end: number): void {
    const { bytes } = this
    for (let at = start; at < end; at += 1) bytes[at] = (bytes[at] as number) ^ 0xff
  }

  #flipSign(at: number): void {
    this.bytes[at] = (this.bytes[at] as number) ^ 0x80
  }

  #bigint(value: bigint, at: number): number {
    if (value < BIGINT_MIN || value > BIGINT_MAX) return MISFIT
    this.#view.setBigInt64(at, value)
    this.#flipSign(at)
    return at + 8
  }

  #int(value: number, at: number): number {
    if ((value | 0) !== value) return MISFIT
    this.#view.setInt32(at, value)
    this.#flipSign(at)
    return at + 4
  }

  #time(value: number, at: number): number {
    if (!Number.isInteger(value) || value > TIME_MAX || value < -TIME_MAX) return MISFIT
    const high = Math.floor(value / TWO_32)
    this.#view.setInt32(at, high)
    this.#view.setUint32(at + 4, value - high * TWO_32)
    this.#flipSign(at)
    return at + 8
  }

  #boolean(value: boolean, at: number): number {
    this.bytes[at] = value ? 1 : 0
    return at + 1
  }

  #text(value: string, start: number): number {
    const { bytes } = this
    let at = start
    for (let index = 0; index < value.length; index += 1) {
      const unit = value.charCodeAt(index)
      if (unit > 0x7f) return this.#wideText(value, start)
      bytes[at] = unit + 1
      at += 1
    }
    bytes[at] = 0
    return at + 1
  }

  #wideText(value: string, start: number): number {
    const { bytes } = this
    const end = start + bytes.write(value, start)
    for (let at = start; at < end; at += 1) bytes[at] = (bytes[at] as number) + 1
    bytes[end] = 0
    return end + 1
  }

  #blob(value: Uint8Array, start: number): number {
    const { bytes } = this
    let at = start
    for (const byte of value) {
      if (byte <= 1) {
        bytes[at] = 1
        at += 1
      }
      bytes[at] = byte <= 1 ? byte + 1 : byte
      at += 1
    }
    bytes[at] = 0
    return at + 1
  }
}
