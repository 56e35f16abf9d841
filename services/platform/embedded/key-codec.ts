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
import { boundColumns, checkKey } from '../table-checks.ts'
import {
  type AnyTable,
  type Cells,
  type Column,
  type ColumnType,
  type ColumnValue,
  KEY_BYTES_MAX,
} from '../tables.ts'
import { KeyWriter, MISFIT } from './key-writer.ts'
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

type Target = Record<string, ColumnValue | null>

/** Where something lies in a larger run of bytes. */
export interface KeyPlace {
  readonly start: number
  readonly end: number
}

export interface Bounds {
  readonly after?: Cells
  readonly from?: Cells
  readonly until?: Cells
  readonly before?: Cells
}

/** A key that was asked for and not written yet: the store writes it where lmdb reads it. */
interface Passing {
  codec: KeyCodec | undefined
  cells: Cells
  row: Target
}
const passing: Passing = { codec: undefined, cells: {}, row: {} }

/** Stands for the passing key, where lmdb takes a key. */
export const PASSING_KEY = Buffer.alloc(0)

/** Writes the passing key at `start`; says where it ends. */
export const writePassingKey = (target: Buffer, start: number): number => {
  const { codec, cells, row } = passing
  assert(codec, 'a passing key was asked for')
  return codec.writePassing(target, start, { cells, row })
}

/** Into the slab, and into lmdb's own memory. */
const writer = new KeyWriter(slab.bytes)
const passingWriter = new KeyWriter(Buffer.alloc(ROOM))

export class KeyCodec {
  readonly #table: AnyTable
  readonly #inverted: boolean

  constructor(table: AnyTable) {
    this.#table = table
    this.#inverted = table.order === 'desc'
  }

  /** The key of one row. */
  key(cells: Cells): Buffer {
    const { partition, clustering } = this.#table
    const begin = beginKey()
    const start = this.#write(partition, cells, begin)
    return slab.take(checkEnd(begin, this.#writeClustering(clustering, cells, start)))
  }

  /**
   * The key of one row for one read of a passing database (store.ts): written in place when lmdb
   * asks for it, checked as it is written, and copied into `row`, all in one go.
   */
  passingKey(cells: Cells, row: Target): Buffer {
    passing.codec = this
    passing.cells = cells
    passing.row = row
    return PASSING_KEY
  }

  /** What the keys of all rows of a partition begin with. */
  partition(cells: Cells): Buffer {
    const begin = beginKey()
    return slab.take(checkEnd(begin, this.#write(this.#table.partition, cells, begin)))
  }

  /** The keys a slice takes in, whichever way it reads. */
  range(partition: Buffer, bounds: Bounds, reverse: boolean): KeyRange {
    const { after, from, until, before } = bounds
    const [first, passed, last, stop] = reverse
      ? [until, before, from, after]
      : [from, after, until, before]
    const low = passed
      ? successor(this.#block(partition, passed))
      : first
        ? this.#block(partition, first)
        : partition
    const high = stop
      ? this.#block(partition, stop)
      : successor(last ? this.#block(partition, last) : partition)
    return { low, high }
  }

  /** Reads the clustering columns that lie in `bytes` from `start` to `end`. */
  readClustering(bytes: Uint8Array, place: KeyPlace, row: Target): void {
    const { start, end } = place
    const flip = this.#inverted ? 0xff : 0
    for (let at = start; at < end; at += 1) scratch[at - start] = (bytes[at] as number) ^ flip
    let at = 0
    for (const { name, type } of this.#table.clustering) {
      row[name] = readColumn(type, at)
      at = readEnd
    }
  }

  /** See `passingKey`. */
  writePassing(
    target: Buffer,
    start: number,
    { cells, row }: { readonly cells: Cells; readonly row: Target },
  ): number {
    const { partition, clustering } = this.#table
    passingWriter.turnTo(target)
    const middle = this.#copy(partition, { cells, row }, start)
    const end = this.#copy(clustering, { cells, row }, middle)
    if (this.#inverted) passingWriter.invert(middle, end)
    // Codes are a little longer than values: only a long key needs to be measured exactly.
    if (end - start > KEY_BYTES_MAX) checkKey(this.#table, cells)
    return checkEnd(start, end)
  }

  #copy(
    columns: readonly Column[],
    { cells, row }: { readonly cells: Cells; readonly row: Target },
    start: number,
  ): number {
    let at = start
    for (const { name, type } of columns) {
      const value = cells[name]
      at = passingWriter.write(value, type, at)
      if (at === MISFIT) this.#refuse(cells)
      row[name] = value as ColumnValue
    }
    return at
  }

  #write(columns: readonly Column[], cells: Cells, start: number): number {
    let at = start
    for (const { name, type } of columns) {
      at = writer.write(cells[name], type, at)
      if (at === MISFIT) this.#refuse(cells)
    }
    return at
  }

  #writeClustering(columns: readonly Column[], cells: Cells, start: number): number {
    const end = this.#write(columns, cells, start)
    if (this.#inverted) writer.invert(start, end)
    return end
  }

  #block(partition: Buffer, bound: Cells): Buffer {
    const begin = beginKey()
    slab.bytes.set(partition, begin)
    const columns = boundColumns(this.#table, bound)
    const start = begin + partition.length
    return slab.take(checkEnd(begin, this.#writeClustering(columns, bound, start)))
  }

  /** Says which column does not fit, in the port's words. */
  #refuse(cells: Cells): never {
    checkKey(this.#table, cells)
    throw new BadInputError(`a key of ${this.#table.name} does not fit its columns`)
  }
}

const beginKey = (): number => {
  const begin = slab.begin(ROOM)
  writer.turnTo(slab.bytes)
  return begin
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
const checkEnd = (start: number, end: number): number => {
  if (end - start <= ENCODED_KEY_MAX) return end
  throw new TooLargeError(`a key holds at most ${KEY_BYTES_MAX} bytes`)
}

/** Where the column that was read last ends in the scratch bytes. */
let readEnd = 0

const readColumn = (type: ColumnType, at: number): ColumnValue => {
  switch (type) {
    case 'text':
      return readText(at)
    case 'blob':
      return readBlob(at)
    case 'bigint':
      readEnd = at + 8
      return turned(at).getBigInt64(at)
    case 'timestamp':
      readEnd = at + 8
      return turned(at).getInt32(at) * TWO_32 + scratchView.getUint32(at + 4)
    case 'int':
      readEnd = at + 4
      return turned(at).getInt32(at)
    case 'boolean':
      readEnd = at + 1
      return scratch[at] === 1
    case 'double':
      throw new BadInputError('double cannot be in a key')
  }
}

const TWO_32 = 2 ** 32

/** The scratch bytes with the sign of the number at `at` turned back. */
const turned = (at: number): DataView => {
  scratch[at] = (scratch[at] as number) ^ 0x80
  return scratchView
}

const readText = (start: number): string => {
  let end = start
  let isWide = false
  for (let byte = scratch[end]; byte; byte = scratch[end]) {
    isWide ||= byte > 0x80
    scratch[end] = byte - 1
    end += 1
  }
  readEnd = end + 1
  return scratch.toString(isWide ? 'utf8' : 'latin1', start, end)
}

const readBlob = (start: number): Uint8Array => {
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
  readEnd = at + 1
  return Uint8Array.from(scratch.subarray(start, end))
}
