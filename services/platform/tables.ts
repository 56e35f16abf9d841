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
 * `compareAndWrite` is a condition on one row and, if it holds, writes of other rows of the same
 * partition: all of it at once or nothing, linearisable per partition. The rows of such a partition
 * are written only this way. A lost outcome is told by the row of the condition, as above; when
 * somebody has written that row since, the answer is `applied: false` although ours went before, so
 * what is written is such that a caller who tries again can see it (an id, a version in each row).
 *
 * **Versioned writes** name a version from 1 to `VERSION_MAX`: of all writes of a row the one with
 * the highest version stands, in whatever order and however often they arrive. So a copy of what is
 * decided elsewhere can be written by anyone, late or twice, without reading and without agreement.
 * A version stands for one write: of two different puts with one version either may stand, or a
 * mixture; a removal stands over a put with its own version. A versioned put names every column and
 * has no TTL. A row is written with versions always or never: a plain write of a versioned row may
 * do nothing. What an actor does next must beat what it did before, whatever the clocks say: its
 * version is the greater of a new id and one more than that of the row it has read.
 * A removal is remembered for `REMOVED_KEPT_MS`: an older write that comes later than that brings
 * the row back. What must never come back is no removal but a put, of a row that says it is gone.
 * (On Cassandra versions are the timestamps of cells: such a table keeps the default `gc_grace_seconds`
 * and no compaction by time windows.)
 *
 * **Expiry** by `ttlSeconds` is garbage collection by the engine's own time: the row is there for at
 * least that long (to the second), and goes some time after. Expiry that matters is a time in a
 * column, judged by the clock port. A put with a TTL names every column, and so does every later
 * write of that row: what a partial one would leave out has an expiry of its own on some engines.
 *
 * **Bounds.** Slices have a limit of at most `SLICE_MAX`; page through more with `pages`, which holds
 * one page at a time. The limits of sizes below are those of a Cassandra with default settings.
 */
import { UnavailableError } from '../kernel/errors.ts'

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
/** 20 years. */
export const TTL_SECONDS_MAX = 630_720_000
/** Nothing stands over it. */
export const VERSION_MAX = 2n ** 63n - 1n
/** How long a versioned removal is remembered: the grace that Cassandra gives its own. */
export const REMOVED_KEPT_MS = 10 * 86_400_000

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
  readonly version?: bigint
}
export interface Remove {
  readonly kind: 'remove'
  readonly table: AnyTable
  readonly key: Cells
  readonly version?: bigint
}
export type Write = Put | Remove

export interface Expiry {
  readonly ttlSeconds?: number
}
export interface Versioned {
  readonly version: bigint
}

export const put = <T extends AnyTable>(
  table: T,
  row: DraftOf<T>,
  options: Expiry | Versioned = {},
): Write => ({ kind: 'put', table, row: row as Cells, ...options })

export const remove = <T extends AnyTable>(
  table: T,
  key: KeyOf<T>,
  options: Partial<Versioned> = {},
): Write => ({ kind: 'remove', table, key: key as Cells, ...options })

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

/** What must hold of a row: that it has these values, or that there is none. */
export type Condition<T extends AnyTable> =
  | { readonly expected: ChangesOf<T> }
  | { readonly absent: true }

/** A condition, and the columns to change if it holds. */
export type Swap<T extends AnyTable> = Condition<T> & { readonly next: ChangesOf<T> }

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
  /** The same, or an insert of an absent row, together with plain writes of its partition. */
  compareAndWrite<T extends AnyTable>(
    table: T,
    key: KeyOf<T>,
    swap: Swap<T>,
    others: readonly Write[],
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

/** The place of a row among those of its partition. */
export const boundOf = <T extends AnyTable>(table: T, row: RowOf<T>): BoundOf<T> => {
  const bound: Record<string, unknown> = {}
  for (const { name } of table.clustering) bound[name] = (row as Cells)[name]
  return bound as BoundOf<T>
}
