/**
 * What every adapter of the tables refuses before it reads or writes anything, so that both refuse
 * the same. The contract and its limits are in tables.ts.
 */
import { BadInputError, TooLargeError } from '../kernel/errors.ts'
import {
  type AnyTable,
  BATCH_BYTES_MAX,
  BATCH_WRITES_MAX,
  type Cells,
  type Column,
  type ColumnType,
  type ColumnValue,
  GET_MANY_MAX,
  KEY_BYTES_MAX,
  type Put,
  ROW_BYTES_MAX,
  SLICE_MAX,
  type Slice,
  SPREAD_BYTES_MAX,
  SPREAD_WRITES_MAX,
  TTL_SECONDS_MAX,
  VERSION_MAX,
  type Write,
} from './tables.ts'

/** What a row and each of its values add to a batch: times, flags, names. */
const ROW_OVERHEAD_BYTES = 32
const VALUE_OVERHEAD_BYTES = 24

/** The columns a bound names: a leading run of the clustering columns, or an error. */
export const boundColumns = (table: AnyTable, bound: Cells): readonly Column[] => {
  const named = table.clustering.filter(({ name }) => bound[name] !== undefined)
  const leading = table.clustering.slice(0, named.length)
  if (named.length === 0 || leading.some(({ name }) => bound[name] === undefined)) {
    throw new BadInputError(`a bound of ${table.name} names its first clustering columns`)
  }
  return leading
}

export const checkSlice = (table: AnyTable, partition: Cells, slice: Slice<AnyTable>): void => {
  const { limit, after, from, until, before } = slice
  if (!Number.isInteger(limit) || limit < 1 || limit > SLICE_MAX) {
    throw new BadInputError(`a slice has 1 to ${SLICE_MAX} rows`, { field: 'limit' })
  }
  if ((after && from) || (until && before)) {
    throw new BadInputError('a slice has one of `after` and `from`, one of `until` and `before`')
  }
  checkKeyColumns(table, table.partition, partition)
  for (const bound of [after, from, until, before]) {
    if (bound) checkKeyColumns(table, boundColumns(table, bound as Cells), bound as Cells)
  }
}

export const checkGetMany = (keys: readonly unknown[]): void => {
  if (keys.length <= GET_MANY_MAX) return
  throw new TooLargeError(`read at most ${GET_MANY_MAX} rows at once`)
}

/** What every adapter refuses before it writes anything; says whether one partition holds all. */
export const checkWrites = (writes: readonly Write[]): { readonly onePartition: boolean } => {
  for (const write of writes) checkWrite(write)
  if (writes.length <= 1) return { onePartition: true }
  const homes = writes.map((write) =>
    columnsText(write.table.name, write.table.partition, cellsOf(write)),
  )
  const onePartition = homes.every((home) => home === homes[0])
  checkRowsDiffer(writes, homes)
  checkOneWay(writes)
  if (onePartition) checkBatch(writes, { rows: BATCH_WRITES_MAX, bytes: BATCH_BYTES_MAX })
  else checkBatch(writes, { rows: SPREAD_WRITES_MAX, bytes: SPREAD_BYTES_MAX })
  return { onePartition }
}

const checkBatch = (
  writes: readonly Write[],
  most: { readonly rows: number; readonly bytes: number },
): void => {
  const bytes = writes.reduce((sum, write) => sum + writeBytes(write), 0)
  if (writes.length <= most.rows && bytes <= most.bytes) return
  const where = most.rows === BATCH_WRITES_MAX ? 'to one partition' : 'over several partitions'
  throw new TooLargeError(
    `a write ${where} holds at most ${most.rows} rows and ${most.bytes} bytes, ` +
      `not ${writes.length} and ${bytes}`,
  )
}

/** What a write counts against the limits of a batch. */
const writeBytes = (write: Write): number => {
  const cells = cellsOf(write)
  const overhead = ROW_OVERHEAD_BYTES + VALUE_OVERHEAD_BYTES * Object.keys(cells).length
  return overhead + cellBytes(cells)
}

const cellsOf = (write: Write): Cells => (write.kind === 'put' ? write.row : write.key)

/** Within one batch all writes have one time: which of two of a row wins differs by engine. */
const checkRowsDiffer = (writes: readonly Write[], homes: readonly string[]): void => {
  const rows = writes.map((write, index) =>
    columnsText(homes[index] ?? '', write.table.clustering, cellsOf(write)),
  )
  if (new Set(rows).size === writes.length) return
  throw new BadInputError('a write names each row once')
}

/** The values of key columns behind `start`, as a text that no other values have. */
const columnsText = (start: string, columns: readonly Column[], cells: Cells): string => {
  let text = start
  for (const { name } of columns) {
    const value = cells[name]
    text += typeof value === 'string' ? `/${value.length}:${value}` : `/${String(value)}`
  }
  return text
}

/** A row is written with versions always or never; what can be seen of that is one call. */
const checkOneWay = (writes: readonly Write[]): void => {
  const ways = new Map<AnyTable, boolean>()
  for (const { table, version } of writes) {
    const isVersioned = version !== undefined
    if ((ways.get(table) ?? isVersioned) !== isVersioned) {
      throw new BadInputError(`${table.name} is written with versions always or never`, {
        field: 'version',
      })
    }
    ways.set(table, isVersioned)
  }
}

const checkWrite = (write: Write): void => {
  const { table, version } = write
  checkKey(table, cellsOf(write))
  if (version !== undefined) checkVersion(version)
  if (write.kind === 'remove') return
  const { row, ttlSeconds } = write
  let bytes = 0
  for (const column of table.columns) bytes += checkCell(table, column, row[column.name])
  if (bytes > ROW_BYTES_MAX) {
    throw new TooLargeError(`a row of ${table.name} holds at most ${ROW_BYTES_MAX} bytes`)
  }
  if (version !== undefined) checkWhole(table, row, 'a put with a version')
  if (ttlSeconds === undefined) return
  if (version !== undefined) throw new BadInputError('a put has a version or a TTL, not both')
  checkExpiry(table, row, ttlSeconds)
}

const checkVersion = (version: bigint): void => {
  if (typeof version === 'bigint' && version >= 1n && version <= VERSION_MAX) return
  throw new BadInputError(`a version is a bigint from 1 to ${VERSION_MAX}`, { field: 'version' })
}

const checkExpiry = (table: AnyTable, row: Cells, ttlSeconds: number): void => {
  if (!Number.isInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > TTL_SECONDS_MAX) {
    throw new BadInputError(`a TTL is 1 to ${TTL_SECONDS_MAX} whole seconds`, {
      field: 'ttlSeconds',
    })
  }
  checkWhole(table, row, 'a put with a TTL')
}

const checkWhole = (table: AnyTable, row: Cells, what: string): void => {
  const missing = table.columns.find(({ name }) => row[name] === undefined)
  if (!missing) return
  throw new BadInputError(`${what} names every column of ${table.name}`, { field: missing.name })
}

/**
 * Key columns are all there, not null, and not too long for any engine; a partition key of one
 * column is not empty, which Cassandra does not take.
 */
export const checkKey = (table: AnyTable, key: Cells): void => {
  const bytes =
    checkKeyColumns(table, table.partition, key) + checkKeyColumns(table, table.clustering, key)
  if (bytes > KEY_BYTES_MAX) {
    throw new TooLargeError(`a key of ${table.name} holds at most ${KEY_BYTES_MAX} bytes`)
  }
}

const checkKeyColumns = (table: AnyTable, columns: readonly Column[], key: Cells): number => {
  let bytes = 0
  for (const column of columns) {
    const value = key[column.name]
    if (value === undefined || value === null) {
      const { name: field } = column
      throw new BadInputError(`${table.name} needs its key column ${field}`, { field })
    }
    bytes += checkCell(table, column, value)
  }
  if (columns === table.partition && columns.length === 1 && bytes === 0) {
    const { name: field } = columns[0] ?? { name: '' }
    throw new BadInputError(`the key of ${table.name} is empty`, { field })
  }
  return bytes
}

/** What a conditional change is, once checked: the write to make if `expected` holds. */
export const checkSwap = (
  table: AnyTable,
  key: Cells,
  swap: { readonly expected: Cells; readonly next: Cells },
): { readonly expected: Cells; readonly next: Put } => {
  const { expected, next } = swap
  if (Object.values(next).every((value) => value === undefined)) {
    throw new BadInputError(`a change of ${table.name} names a column`, { field: 'next' })
  }
  for (const column of table.columns) checkCell(table, column, expected[column.name])
  return { expected, next: { kind: 'put', table, row: { ...next, ...keyCells(table, key) } } }
}

/** A condition as cells: `undefined` where the row is to be absent. */
export interface CheckedSwap {
  readonly expected: Cells | undefined
  readonly next: Put
}

/** The same for a change that takes other rows of its partition along. */
export const checkCompareAndWrite = (
  table: AnyTable,
  key: Cells,
  {
    swap,
    others,
  }: {
    readonly swap: { readonly expected?: Cells; readonly absent?: true; readonly next: Cells }
    readonly others: readonly Write[]
  },
): CheckedSwap => {
  const { expected, absent, next } = swap
  if ((expected === undefined) !== (absent === true)) {
    throw new BadInputError('a condition is one of `expected` and `absent`')
  }
  const checked = checkSwap(table, key, { expected: expected ?? {}, next })
  const { onePartition } = checkWrites([checked.next, ...others])
  if (!onePartition || others.some((other) => !isPlain(table, other))) {
    throw new BadInputError(
      `what is written with a row of ${table.name} lies in its partition, without version or TTL`,
    )
  }
  return { expected, next: checked.next }
}

const isPlain = (table: AnyTable, write: Write): boolean =>
  write.table === table &&
  write.version === undefined &&
  (write.kind === 'remove' || write.ttlSeconds === undefined)

/** A key may come as a whole row: only its key columns count. */
const keyCells = (table: AnyTable, key: Cells): Cells => {
  const cells: Record<string, Cells[string]> = {}
  for (const { name } of [...table.partition, ...table.clustering]) cells[name] = key[name]
  return cells
}

const BIGINT_MIN = -(2n ** 63n)
const BIGINT_MAX = 2n ** 63n - 1n
/** The furthest a JavaScript `Date` reaches. */
const TIME_MAX = 8.64e15

const fits = (value: ColumnValue, type: ColumnType): boolean => {
  switch (type) {
    case 'text':
      return typeof value === 'string'
    case 'int':
      return typeof value === 'number' && (value | 0) === value
    case 'bigint':
      return typeof value === 'bigint' && value >= BIGINT_MIN && value <= BIGINT_MAX
    case 'timestamp':
      return Number.isInteger(value) && Math.abs(Number(value)) <= TIME_MAX
    case 'double':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    case 'blob':
      return value instanceof Uint8Array
  }
}

/** The bytes of a value that fits its column; anything else is refused before it is written. */
const checkCell = (table: AnyTable, column: Column, value: Cells[string]): number => {
  if (value === undefined || value === null) return 1
  if (fits(value, column.type)) return valueBytes(value)
  const { name: field, type } = column
  throw new BadInputError(`${table.name}.${field} takes a value of type ${type}`, { field })
}

const cellBytes = (cells: Cells): number => {
  let bytes = 0
  for (const value of Object.values(cells)) bytes += value == null ? 1 : valueBytes(value)
  return bytes
}

const valueBytes = (value: ColumnValue): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  return value instanceof Uint8Array ? value.byteLength : 8
}
