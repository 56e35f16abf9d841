/**
 * A row's columns as bytes:
 *
 *   flags · [ms of expiry, f64] · [version, i64] · count of columns · bitmap of those not null · values
 *
 * Values lie in the order of the table's columns, without names: bigint i64, int i32, double and
 * timestamp f64, boolean one byte, text and blob a varint of their length and their bytes. A table
 * grows by columns at its end (`ALTER TABLE … ADD`): rows written before have a smaller count, and
 * what lies beyond it is null.
 *
 * Flags: 1 it expires, 2 it has a version, 4 it is a marker. A marker is what a versioned removal
 * leaves: a version and the time until which it is remembered, no columns, and to readers no row.
 */
import { assert, DamagedError } from '../../kernel/errors.ts'
import type { AnyTable, Cells, Column, ColumnValue } from '../tables.ts'
import { slab } from './slab.ts'

export type RowTarget = Record<string, ColumnValue | null>

const EXPIRES = 1
const VERSIONED = 2
const REMOVED = 4
const NEVER = 0
/** Where the version of a marker lies: behind its expiry. */
const MARKER_VERSION_AT = 9
const MARKER_BYTES = 17

/** The DataView of the bytes last read: lmdb hands most rows over in one and the same buffer. */
let readView: DataView<ArrayBufferLike> = slab.view

const viewOf = (bytes: Buffer): DataView<ArrayBufferLike> => {
  if (readView.buffer !== bytes.buffer) readView = new DataView(bytes.buffer)
  return readView
}

export class RowCodec {
  readonly #table: string
  readonly #columns: readonly Column[]
  readonly #bitmapBytes: number

  constructor(table: AnyTable) {
    this.#table = table.name
    this.#columns = table.columns
    this.#bitmapBytes = Math.ceil(table.columns.length / 8)
  }

  /** `undefined` cells are written as null. */
  encode(cells: Cells, expiresAt: number = NEVER): Buffer {
    const start = this.#begin(cells)
    slab.bytes[start] = expiresAt === NEVER ? 0 : EXPIRES
    if (expiresAt === NEVER) return this.#encodeAt(start + 1, cells)
    slab.view.setFloat64(start + 1, expiresAt)
    return this.#encodeAt(start + 9, cells)
  }

  encodeVersioned(cells: Cells, version: bigint): Buffer {
    const start = this.#begin(cells)
    slab.bytes[start] = VERSIONED
    slab.view.setBigInt64(start + 1, version)
    return this.#encodeAt(start + 9, cells)
  }

  /** What a removal leaves; it goes by the time that `expireAt` gives it. */
  static marker(version: bigint): Buffer {
    const bytes = Buffer.alloc(MARKER_BYTES)
    bytes[0] = EXPIRES | VERSIONED | REMOVED
    bytes.writeBigInt64BE(version, MARKER_VERSION_AT)
    return bytes
  }

  /** The columns, behind the head. */
  #encodeAt(start: number, cells: Cells): Buffer {
    const { bytes } = slab
    bytes[start] = this.#columns.length
    const bitmapAt = start + 1
    let at = bitmapAt + this.#bitmapBytes
    bytes.fill(0, bitmapAt, at)
    for (let index = 0; index < this.#columns.length; index += 1) {
      const { name, type } = this.#columns[index] as Column
      const value = cells[name]
      if (value === null || value === undefined) continue
      const byteAt = bitmapAt + (index >> 3)
      bytes[byteAt] = (bytes[byteAt] ?? 0) | (1 << (index & 7))
      at = writeValue(value, type, at)
    }
    return slab.take(at)
  }

  /** Gives a row that was encoded with an expiry another one. */
  static expireAt(bytes: Buffer, expiresAt: number): void {
    bytes.writeDoubleBE(expiresAt, 1)
  }

  /** Whether a reader finds a row here now. */
  static isLive(bytes: Buffer): boolean {
    return ((bytes[0] ?? 0) & REMOVED) === 0 && !RowCodec.isPast(bytes)
  }

  /** Whether nothing of it is needed any more, be it a row or a marker. */
  static isPast(bytes: Buffer): boolean {
    const expiresAt = RowCodec.expiresAt(bytes)
    return expiresAt !== NEVER && expiresAt <= Date.now()
  }

  /** That of a row or of a marker; `undefined` for a row that was written without. */
  static versionOf(bytes: Buffer): bigint | undefined {
    const flags = bytes[0] ?? 0
    if ((flags & VERSIONED) === 0) return undefined
    const at = flags & EXPIRES ? MARKER_VERSION_AT : 1
    return viewOf(bytes).getBigInt64(bytes.byteOffset + at)
  }

  /** ms since 1970, 0 for never. */
  static expiresAt(bytes: Buffer): number {
    return (bytes[0] ?? 0) & EXPIRES ? bytes.readDoubleBE(1) : NEVER
  }

  /** Sets every column of the table in `row`. `bytes` may be longer than the row. */
  decode(bytes: Buffer, row: RowTarget): void {
    try {
      this.#decode(bytes, row)
    } catch (cause) {
      throw new DamagedError(`a row of ${this.#table} cannot be read: restore a backup`, { cause })
    }
  }

  #decode(bytes: Buffer, row: RowTarget): void {
    // A row has an expiry or a version, never both.
    const countAt = (bytes[0] ?? 0) & (EXPIRES | VERSIONED) ? 9 : 1
    const count = bytes[countAt] ?? 0
    const bitmapAt = countAt + 1
    readAt = bitmapAt + ((count + 7) >> 3)
    for (let index = 0; index < this.#columns.length; index += 1) {
      const { name, type } = this.#columns[index] as Column
      const bits = index < count ? (bytes[bitmapAt + (index >> 3)] ?? 0) : 0
      row[name] = (bits & (1 << (index & 7))) === 0 ? null : readValue(bytes, type)
    }
    assert(readAt <= bytes.length, 'a row ends within its bytes')
  }

  /** Makes room for a row and says where it begins. */
  #begin(cells: Cells): number {
    return slab.begin(32 + this.#bitmapBytes + 10 * this.#columns.length + longBytes(cells))
  }
}

/** Most that the texts and blobs of a row may need. */
const longBytes = (cells: Cells): number => {
  let bytes = 0
  for (const name in cells) {
    const value = cells[name]
    if (typeof value === 'string') bytes += 3 * value.length
    else if (value instanceof Uint8Array) bytes += value.length
  }
  return bytes
}

const writeValue = (value: ColumnValue, type: Column['type'], at: number): number => {
  const { bytes, view } = slab
  switch (typeof value) {
    case 'string':
      return writeText(bytes, value, at)
    case 'bigint':
      view.setBigInt64(at, value)
      return at + 8
    case 'number':
      if (type === 'int') view.setInt32(at, value)
      else view.setFloat64(at, value)
      return at + (type === 'int' ? 4 : 8)
    case 'boolean':
      bytes[at] = value ? 1 : 0
      return at + 1
    default: {
      const start = writeLength(bytes, value.length, at)
      bytes.set(value, start)
      return start + value.length
    }
  }
}

const writeText = (bytes: Buffer, value: string, at: number): number => {
  const start = writeLength(bytes, Buffer.byteLength(value), at)
  return start + bytes.write(value, start)
}

const writeLength = (bytes: Buffer, length: number, start: number): number => {
  let at = start
  let rest = length
  for (; rest > 0x7f; rest >>>= 7) {
    bytes[at] = (rest & 0x7f) | 0x80
    at += 1
  }
  bytes[at] = rest
  return at + 1
}

/** Where the row being decoded is read on. */
let readAt = 0

const readValue = (bytes: Buffer, type: Column['type']): ColumnValue => {
  const at = bytes.byteOffset + readAt
  switch (type) {
    case 'text': {
      const start = readLength(bytes)
      return bytes.toString('utf8', start, readAt)
    }
    case 'blob': {
      const start = readLength(bytes)
      return new Uint8Array(bytes.subarray(start, readAt))
    }
    case 'bigint':
      readAt += 8
      return viewOf(bytes).getBigInt64(at)
    case 'int':
      readAt += 4
      return viewOf(bytes).getInt32(at)
    case 'double':
    case 'timestamp':
      readAt += 8
      return viewOf(bytes).getFloat64(at)
    case 'boolean':
      readAt += 1
      return bytes[readAt - 1] === 1
  }
}

/** Reads the length of what follows and passes over it; says where that begins. */
const readLength = (bytes: Buffer): number => {
  let length = 0
  let byte = 0x80
  for (let shift = 0; byte > 0x7f; shift += 7) {
    byte = bytes[readAt] ?? 0
    length |= (byte & 0x7f) << shift
    readAt += 1
  }
  const start = readAt
  readAt += length
  return start
}
