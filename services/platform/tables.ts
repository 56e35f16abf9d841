/**
 * Tables: Cassandra's model and nothing more, so that no engine can do what the other cannot.
 *
 * A row lives in a partition, in the order of its clustering columns. Tables are defined in `cql/`
 * alone; `generated/tables.ts` holds their typed descriptors.
 *
 * **Values.** A column that was never written, or written as `null`, reads as `null`; key columns
 * are never null. A `put` that leaves a column out leaves its value as it is; so does `undefined`.
 *
 * **Writes** are upserts and are durable when they resolve. `write` of rows that are all in one
 * partition of one table is atomic and isolated; over several partitions it is eventually all or
 * nothing, and others may see a part of it meanwhile. It names each row once. A write made after
 * reading a row wins over what was read, even when the clocks of two processes differ by 10 s. (A
 * plain write over a plain *removal* by another process has no such promise: what is removed and
 * made again by several processes is written conditionally.) A rejected write did nothing, unless
 * the error is OutcomeUnknownError; then it may have happened, or may happen within the engine's time-out.
 *
 * **Conditional writes** (`insertIfAbsent`, `compareAndSet`) are linearisable per row. A row that is
 * ever written conditionally is written *only* conditionally, and what is written names its writer
 * (an id, a version, a token), so that an outcome that got lost can be told by reading it again:
 * the adapter does that before it answers. Read such a row with `serial` when the answer decides
 * something.
 *
 * **Expiry** by `ttlSeconds` is garbage collection by the engine's own time: the row is there for at
 * least that long (to the second), and goes some time after. Expiry that matters is a time in a
 * column, judged by the clock port. A put with a TTL names every column, and so does every later
 * write of that row: what a partial one would leave out has an expiry of its own on some engines.
 *
 * **Bounds.** Slices have a limit of at most `SLICE_MAX`; page through more with `pages`, which holds
 * one page at a time. The limits of sizes below are those of a Cassandra with default settings.
 */
import { BadInputError, TooLargeError, UnavailableError } from '../kernel/errors.ts'

export const SLICE_MAX = 1000
export const GET_MANY_MAX = 1000
export const KEY_BYTES_MAX = 1024
export const ROW_BYTES_MAX = 2 * 1024 * 1024
/** Within one partition. */
export const BATCH_WRITES_MAX = 1000
/** Within one partition: one mutation, which Cassandra bounds by half a segment of its log. */
export const BATCH_BYTES_MAX = 3 * 1024 * 1024
/** Over several partitions: Cassandra refuses such a batch above 50 KiB, what it adds included. */
export const SPREAD_WRITES_MAX = 100
export const SPREAD_BYTES_MAX = 48 * 1024
/** What a row and each of its values add to a batch: times, flags, names. */
const ROW_OVERHEAD_BYTES = 32
const VALUE_OVERHEAD_BYTES = 24
/** 20 years. */
export const TTL_SECONDS_MAX = 630_720_000

interface ColumnValues {
  readonly text: string
  readonly int: number
  readonly bigint: bigint
  readonly double: number
  readonly boolean: boolean
  readonly blob: Uint8Array
  /** ms since 1970 */
  readonly timestamp: number
}
export type ColumnType = keyof ColumnValues
export type ColumnValue = ColumnValues[ColumnType]

export interface Column {
  /** Its name in code. */
  readonly name: string
  /** Its name in CQL. */
  readonly column: string
  readonly type: ColumnType
}

/** A descriptor, generated from `cql/`. `Row` and the key names exist for the compiler only. */
export interface Table<
  Row extends object,
  Partition extends keyof Row,
  Clustering extends keyof Row,
> {
  readonly name: string
  readonly partition: readonly Column[]
  readonly clustering: readonly Column[]
  /** All clustering columns run one way. */
  readonly order: 'asc' | 'desc'
  /** The other columns. */
  readonly columns: readonly Column[]
  readonly types?: { row: Row; partition: Partition; clustering: Clustering }
}

// biome-ignore lint/suspicious/noExplicitAny: stands for a table of any shape.
export type AnyTable = Table<any, any, any>
export type RowOf<T extends AnyTable> = NonNullable<T['types']>['row']
type PartitionName<T extends AnyTable> = NonNullable<T['types']>['partition']
type ClusteringName<T extends AnyTable> = NonNullable<T['types']>['clustering']
type KeyName<T extends AnyTable> = PartitionName<T> | ClusteringName<T>

export type PartitionOf<T extends AnyTable> = Pick<RowOf<T>, PartitionName<T>>
export type KeyOf<T extends AnyTable> = Pick<RowOf<T>, KeyName<T>>
/** Leading clustering columns: `{ ms }` or `{ ms, id }`, never `{ id }` alone. */
export type BoundOf<T extends AnyTable> = Partial<Pick<RowOf<T>, ClusteringName<T>>>
export type ChangesOf<T extends AnyTable> = Partial<Omit<RowOf<T>, KeyName<T>>>
export type DraftOf<T extends AnyTable> = KeyOf<T> & ChangesOf<T>

/** The values of a row by name, when the table's type does not matter. */
export type Cells = Readonly<Record<string, ColumnValue | null | undefined>>

export interface Put {
  readonly kind: 'put'
  readonly table: AnyTable
  readonly row: Cells
  readonly ttlSeconds?: number
}
export interface Remove {
  readonly kind: 'remove'
  readonly table: AnyTable
  readonly key: Cells
}
export type Write = Put | Remove

export interface Expiry {
  readonly ttlSeconds?: number
}

export const put = <T extends AnyTable>(table: T, row: DraftOf<T>, expiry: Expiry = {}): Write => ({
  kind: 'put',
  table,
  row: row as Cells,
  ...expiry,
})

export const remove = <T extends AnyTable>(table: T, key: KeyOf<T>): Write => ({
  kind: 'remove',
  table,
  key: key as Cells,
})

/**
 * A range of rows in reading direction. A bound names leading clustering columns; it is a point
 * when it names all and a block of equal rows when it names fewer: `after` passes over the whole
 * block, `from` and `until` take it in. One of `after` and `from`, one of `until` and `before`.
 */
export interface Slice<T extends AnyTable> {
  readonly limit: number
  /** `table` reads in the clustering order, `reverse` against it. */
  readonly direction?: 'table' | 'reverse'
  readonly after?: BoundOf<T>
  readonly from?: BoundOf<T>
  readonly until?: BoundOf<T>
  readonly before?: BoundOf<T>
}

export interface ReadOptions {
  /** Sees every conditional write that was acknowledged before; costs more. */
  readonly serial?: boolean
}

export type Outcome<T extends AnyTable> =
  | { readonly applied: true }
  /** What stands there instead; `undefined` where there is no row. */
  | { readonly applied: false; readonly current: RowOf<T> | undefined }

export interface Tables extends AsyncDisposable {
  get<T extends AnyTable>(
    table: T,
    key: KeyOf<T>,
    options?: ReadOptions,
  ): Promise<RowOf<T> | undefined>
  /** The rows in the order of the keys, `undefined` where there is none. */
  getMany<T extends AnyTable>(
    table: T,
    keys: readonly KeyOf<T>[],
  ): Promise<(RowOf<T> | undefined)[]>
  slice<T extends AnyTable>(
    table: T,
    partition: PartitionOf<T>,
    slice: Slice<T>,
  ): Promise<RowOf<T>[]>
  write(writes: readonly Write[]): Promise<void>
  insertIfAbsent<T extends AnyTable>(
    table: T,
    row: DraftOf<T>,
    expiry?: Expiry,
  ): Promise<Outcome<T>>
  /** Changes the row if it exists and every column of `expected` is equal to what is there. */
  compareAndSet<T extends AnyTable>(
    table: T,
    key: KeyOf<T>,
    swap: { readonly expected: ChangesOf<T>; readonly next: ChangesOf<T> },
  ): Promise<Outcome<T>>
}

export class TablesUnavailableError extends UnavailableError {
  override readonly name = 'TablesUnavailableError'
}

/** Walks a partition page by page, however long it is. */
export async function* pages<T extends AnyTable>(
  tables: Tables,
  table: T,
  partition: PartitionOf<T>,
  slice: Slice<T>,
): AsyncGenerator<RowOf<T>[], void> {
  let request = slice
  for (;;) {
    const rows = await tables.slice(table, partition, request)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < slice.limit) return
    const { from: _passed, ...rest } = request
    request = { ...rest, after: boundOf(table, last) }
  }
}

const boundOf = <T extends AnyTable>(table: T, row: RowOf<T>): BoundOf<T> => {
  const bound: Record<string, unknown> = {}
  for (const { name } of table.clustering) bound[name] = (row as Cells)[name]
  return bound as BoundOf<T>
}

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
  const first = writes[0]
  if (!first || writes.length === 1) return { onePartition: true }
  const home = partitionText(first)
  const onePartition = writes.every((write) => partitionText(write) === home)
  checkRowsDiffer(writes)
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
const checkRowsDiffer = (writes: readonly Write[]): void => {
  const rows = new Set<string>()
  for (const write of writes) {
    const { name: table, partition, clustering } = write.table
    const cells = cellsOf(write)
    const key = [...partition, ...clustering].map(({ name }) => String(cells[name]))
    rows.add(JSON.stringify([table, ...key]))
  }
  if (rows.size === writes.length) return
  throw new BadInputError('a write names each row once')
}

const checkWrite = (write: Write): void => {
  const { table } = write
  checkKey(table, cellsOf(write))
  if (write.kind === 'remove') return
  const { row, ttlSeconds } = write
  let bytes = 0
  for (const column of table.columns) bytes += checkCell(table, column, row[column.name])
  if (bytes > ROW_BYTES_MAX) {
    throw new TooLargeError(`a row of ${table.name} holds at most ${ROW_BYTES_MAX} bytes`)
  }
  if (ttlSeconds !== undefined) checkExpiry(table, row, ttlSeconds)
}

const checkExpiry = (table: AnyTable, row: Cells, ttlSeconds: number): void => {
  if (!Number.isInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > TTL_SECONDS_MAX) {
    throw new BadInputError(`a TTL is 1 to ${TTL_SECONDS_MAX} whole seconds`, {
      field: 'ttlSeconds',
    })
  }
  const missing = table.columns.find(({ name }) => row[name] === undefined)
  if (!missing) return
  throw new BadInputError(`a put with a TTL names every column of ${table.name}`, {
    field: missing.name,
  })
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

const FITS: Readonly<Record<ColumnType, (value: ColumnValue) => boolean>> = {
  text: (value) => typeof value === 'string',
  int: (value) => typeof value === 'number' && (value | 0) === value,
  bigint: (value) => typeof value === 'bigint' && value >= BIGINT_MIN && value <= BIGINT_MAX,
  double: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  blob: (value) => value instanceof Uint8Array,
  timestamp: (value) => Number.isInteger(value) && Math.abs(Number(value)) <= TIME_MAX,
}

/** The bytes of a value that fits its column; anything else is refused before it is written. */
const checkCell = (table: AnyTable, column: Column, value: Cells[string]): number => {
  if (value === undefined || value === null) return 1
  if (FITS[column.type](value)) return valueBytes(value)
  const { name: field, type } = column
  throw new BadInputError(`${table.name}.${field} takes a value of type ${type}`, { field })
}

const partitionText = (write: Write): string => {
  const { name: table, partition } = write.table
  const cells = cellsOf(write)
  return JSON.stringify([table, ...partition.map(({ name }) => String(cells[name]))])
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
