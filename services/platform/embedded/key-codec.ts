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

/** LMDB takes 1,978 bytes; the index of expiries adds a time and a table's name. */
export const ENCODED_KEY_MAX = 1_900

/** Room for the longest key any check lets through, blobs at twice their size. */
const scratch = Buffer.alloc(4 * KEY_BYTES_MAX + 64)
/** Buffer's own methods do 64 bits by arithmetic on bigints; a DataView does them at once. */
const view = new DataView(scratch.buffer, scratch.byteOffset, scratch.byteLength)

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
    return Buffer.from(this.passingKey(cells))
  }

  /** The key of one row in bytes that the next call of any codec writes over. */
  passingKey(cells: Cells): Buffer {
    const start = writeColumns(this.#table.partition, cells, 0)
    return taken(this.#writeClustering(this.#table.clustering, cells, start))
  }

  /** What the keys of all rows of a partition begin with. */
  partition(cells: Cells): Buffer {
    return Buffer.from(taken(writeColumns(this.#table.partition, cells, 0)))
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

  #block(partition: Buffer, bound: Cells): Buffer {
    partition.copy(scratch)
    const columns = boundColumns(this.#table, bound)
    return Buffer.from(taken(this.#writeClustering(columns, bound, partition.length)))
  }

  #writeClustering(columns: readonly Column[], cells: Cells, start: number): number {
    const end = writeColumns(columns, cells, start)
    if (this.#inverted) {
      for (let at = start; at < end; at += 1) scratch[at] = (scratch[at] ?? 0) ^ 0xff
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

const taken = (end: number): Buffer => {
  if (end > ENCODED_KEY_MAX) {
    throw new TooLargeError(`a key holds at most ${KEY_BYTES_MAX} bytes`)
  }
  return scratch.subarray(0, end)
}

const writeColumns = (columns: readonly Column[], cells: Cells, start: number): number => {
  let at = start
  for (const { name, type } of columns) {
    const value = cells[name]
    switch (typeof value) {
      case 'string':
        at = writeText(value, at)
        break
      case 'bigint':
        view.setBigInt64(at, value)
        flipSign(at)
        at += 8
        break
      case 'number':
        at = type === 'int' ? writeInt(value, at) : writeTime(value, at)
        break
      case 'boolean':
        scratch[at] = value ? 1 : 0
        at += 1
        break
      default:
        assert(value instanceof Uint8Array, `key column ${name} was checked`)
        at = writeBlob(value, at)
    }
  }
  return at
}

const flipSign = (at: number): void => {
  scratch[at] = (scratch[at] ?? 0) ^ 0x80
}

const writeInt = (value: number, at: number): number => {
  view.setInt32(at, value)
  flipSign(at)
  return at + 4
}

const TWO_32 = 2 ** 32

const writeTime = (value: number, at: number): number => {
  const high = Math.floor(value / TWO_32)
  view.setInt32(at, high)
  view.setUint32(at + 4, value - high * TWO_32)
  flipSign(at)
  return at + 8
}

const writeText = (value: string, start: number): number => {
  let at = start
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index)
    if (unit > 0x7f) return writeWideText(value, start)
    scratch[at] = unit + 1
    at += 1
  }
  scratch[at] = 0
  return at + 1
}

const writeWideText = (value: string, start: number): number => {
  const end = start + scratch.write(value, start)
  for (let at = start; at < end; at += 1) scratch[at] = (scratch[at] ?? 0) + 1
  scratch[end] = 0
  return end + 1
}

const writeBlob = (value: Uint8Array, start: number): number => {
  let at = start
  for (const byte of value) {
    if (byte <= 1) {
      scratch[at] = 1
      at += 1
    }
    scratch[at] = byte <= 1 ? byte + 1 : byte
    at += 1
  }
  scratch[at] = 0
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
    flipSign(at)
    row[name] = view.getInt32(at)
    return at + 4
  },
  bigint: (at, row, name) => {
    flipSign(at)
    row[name] = view.getBigInt64(at)
    return at + 8
  },
  timestamp: (at, row, name) => {
    flipSign(at)
    row[name] = view.getInt32(at) * TWO_32 + view.getUint32(at + 4)
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
