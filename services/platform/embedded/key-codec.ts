/**
 * Keys as bytes whose order is the order of the rows.
 *
 * A key is its partition columns followed by its clustering columns, each coded so that comparing
 * bytes compares values, and so that no code is the beginning of another (a row's key never begins
 * another's by accident, and equal leading columns are a common prefix):
 * - int, bigint, timestamp: big-endian with the sign bit turned, so negatives come first;
 * - boolean: one byte;
 * - text: its UTF-8 with 1 added to each byte, then 0. UTF-8 has no 0xff, so this never
 *   overflows; NUL is 1 and greater than the end; nothing grows. Order is that of UTF-8 bytes, as
 *   in Cassandra (and not that of JavaScript's UTF-16);
 * - blob: 0 and 1 are escaped as (1,1) and (1,2), then 0.
 * Where a table runs `desc` the bytes of its clustering columns are inverted.
 *
 * So a slice is a range of bytes: see `range`.
 */
import { assert, BadInputError, TooLargeError } from '../../kernel/errors.ts'
import { boundColumns } from '../table-checks.ts'
import {
  type AnyTable,
  type Cells,
  type Column,
  type ColumnValue,
  KEY_BYTES_MAX,
} from '../tables.ts'
import { slab } from './slab.ts'

/** LMDB takes 1,978 bytes; the index of expiries adds a time and a table's name. */
export const ENCODED_KEY_MAX = 1_900

/** Room for the longest key any check lets through, blobs at twice their size. */
const ROOM = 4 * KEY_BYTES_MAX + 64

/** Where a key is decoded: its clustering columns, turned back. */
const scratch = Buffer.alloc(ROOM)
const scratchView = new DataView(scratch.buffer, scratch.byteOffset, scratch.byteLength)

/** Rows from `low` (included) to `high` (excluded), in the order of the table. */
export interface KeyRange {
  readonly low: Buffer
  readonly high: Buffer
}

export interface Bounds {
  readonly after?: Cells
  readonly from?: Cells
  readonly until?: Cells
  readonly before?: Cells
}

export class KeyCodec {
  readonly #table: AnyTable
  readonly #inverted: boolean

  constructor(table: AnyTable) {
    this.#table = table
    this.#inverted = table.order === 'desc'
  }

  /** The key of one row. */
  key(cells: Cells): Buffer {
    return slab.take(this.#write(cells))
  }

  /** The key of one row, good for one read of a passing database at once (store.ts). */
  passingKey(cells: Cells): Buffer {
    return slab.glimpse(this.#write(cells))
  }

  /** What the keys of all rows of a partition begin with. */
  partition(cells: Cells): Buffer {
    return slab.take(checkEnd(writeColumns(this.#table.partition, cells, slab.begin(ROOM))))
  }

  /** The keys a slice takes in, whichever way it reads. */
  range(partition: Buffer, bounds: Bounds, reverse: boolean): KeyRange {
    const { after, from, until, before } = bounds
    const [first, passed, last, stop] = reverse
      ? [until, before, from, after]
      : [from, after, until, before]
    const block = (bound: Cells) => this.#block(partition, bound)
    const low = passed ? successor(block(passed)) : first ? block(first) : partition
    const high = stop ? block(stop) : successor(last ? block(last) : partition)
    return { low, high }
  }

  /** Reads the clustering columns of `key`, whose first `from` bytes are the partition's. */
  readClustering(key: Uint8Array, from: number, row: Record<string, ColumnValue | null>): void {
    const flip = this.#inverted ? 0xff : 0
    for (let at = from; at < key.length; at += 1) scratch[at - from] = (key[at] ?? 0) ^ flip
    let at = 0
    for (const { name, type } of this.#table.clustering) {
      at = READERS[type](at, row, name)
    }
  }

  #write(cells: Cells): number {
    const start = writeColumns(this.#table.partition, cells, slab.begin(ROOM))
    return checkEnd(this.#writeClustering(this.#table.clustering, cells, start))
  }

  #block(partition: Buffer, bound: Cells): Buffer {
    const begin = slab.begin(ROOM)
    slab.bytes.set(partition, begin)
    const columns = boundColumns(this.#table, bound)
    return slab.take(checkEnd(this.#writeClustering(columns, bound, begin + partition.length)))
  }

  #writeClustering(columns: readonly Column[], cells: Cells, start: number): number {
    const end = writeColumns(columns, cells, start)
    if (this.#inverted) {
      const { bytes } = slab
      for (let at = start; at < end; at += 1) bytes[at] = (bytes[at] ?? 0) ^ 0xff
    }
    return end
  }
}

/** The least key greater than every key that begins with `prefix`. */
export const successor = (prefix: Buffer): Buffer => {
  let end = prefix.length
  while (end > 0 && prefix[end - 1] === 0xff) end -= 1
  // Every prefix begins with a partition column, whose code is never all 0xff.
  assert(end > 0, 'a key prefix has a successor')
  const next = Buffer.from(prefix.subarray(0, end))
  next[end - 1] = (next[end - 1] ?? 0) + 1
  return next
}

/** Blobs may double: a key that its own check let through may still be too long for LMDB. */
const checkEnd = (end: number): number => {
  if (end - slab.begin(0) <= ENCODED_KEY_MAX) return end
  throw new TooLargeError(`a key holds at most ${KEY_BYTES_MAX} bytes`)
}

const writeColumns = (columns: readonly Column[], cells: Cells, start: number): number => {
  const { bytes, view } = slab
  let at = start
  for (const { name, type } of columns) {
    const value = cells[name]
    switch (typeof value) {
      case 'string':
        at = writeText(bytes, value, at)
        break
      case 'bigint':
        view.setBigInt64(at, value)
        flipSign(bytes, at)
        at += 8
        break
      case 'number':
        at = type === 'int' ? writeInt(value, at) : writeTime(value, at)
        break
      case 'boolean':
        bytes[at] = value ? 1 : 0
        at += 1
        break
      default:
        assert(value instanceof Uint8Array, `key column ${name} was checked`)
        at = writeBlob(bytes, value, at)
    }
  }
  return at
}

const flipSign = (bytes: Buffer, at: number): void => {
  bytes[at] = (bytes[at] ?? 0) ^ 0x80
}

const writeInt = (value: number, at: number): number => {
  slab.view.setInt32(at, value)
  flipSign(slab.bytes, at)
  return at + 4
}

const TWO_32 = 2 ** 32

const writeTime = (value: number, at: number): number => {
  const high = Math.floor(value / TWO_32)
  slab.view.setInt32(at, high)
  slab.view.setUint32(at + 4, value - high * TWO_32)
  flipSign(slab.bytes, at)
  return at + 8
}

const writeText = (bytes: Buffer, value: string, start: number): number => {
  let at = start
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index)
    if (unit > 0x7f) return writeWideText(bytes, value, start)
    bytes[at] = unit + 1
    at += 1
  }
  bytes[at] = 0
  return at + 1
}

const writeWideText = (bytes: Buffer, value: string, start: number): number => {
  const end = start + bytes.write(value, start)
  for (let at = start; at < end; at += 1) bytes[at] = (bytes[at] ?? 0) + 1
  bytes[end] = 0
  return end + 1
}

const writeBlob = (bytes: Buffer, value: Uint8Array, start: number): number => {
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

type Target = Record<string, ColumnValue | null>
/** Reads one column from the scratch bytes into the row; says where the next one begins. */
type Reader = (at: number, row: Target, name: string) => number

const readText: Reader = (start, row, name) => {
  let end = start
  let wide = false
  for (let byte = scratch[end]; byte; byte = scratch[end]) {
    wide ||= byte > 0x80
    scratch[end] = byte - 1
    end += 1
  }
  row[name] = scratch.toString(wide ? 'utf8' : 'latin1', start, end)
  return end + 1
}

const readBlob: Reader = (start, row, name) => {
  let at = start
  let end = start
  for (let byte = scratch[at]; byte; byte = scratch[at]) {
    at += 1
    if (byte === 1) {
      byte = (scratch[at] ?? 1) - 1
      at += 1
    }
    scratch[end] = byte
    end += 1
  }
  row[name] = Uint8Array.from(scratch.subarray(start, end))
  return at + 1
}

const READERS: Readonly<Record<Column['type'], Reader>> = {
  text: readText,
  blob: readBlob,
  int: (at, row, name) => {
    flipSign(scratch, at)
    row[name] = scratchView.getInt32(at)
    return at + 4
  },
  bigint: (at, row, name) => {
    flipSign(scratch, at)
    row[name] = scratchView.getBigInt64(at)
    return at + 8
  },
  timestamp: (at, row, name) => {
    flipSign(scratch, at)
    row[name] = scratchView.getInt32(at) * TWO_32 + scratchView.getUint32(at + 4)
    return at + 8
  },
  boolean: (at, row, name) => {
    row[name] = scratch[at] === 1
    return at + 1
  },
  double: (_at, _row, name) => {
    throw new BadInputError(`double cannot be in a key: ${name}`)
  },
}
