/**
 * CQL of a table, and its rows to and from the driver's values.
 *
 * The statements of a table are few, whatever is asked of it, so that each is prepared once: a put
 * binds every column and leaves those it does not name unset. Bounds of slices are tuples,
 * `(ms, id) < (?, ?)`, which Cassandra compares as a row's place in the clustering order.
 *
 * A versioned write takes its version as the timestamp of its cells, in place of that of the request,
 * and leaves `written_us` alone: a version is no time, and the clock of writes must not learn it.
 */
import type { types } from 'cassandra-driver'
import { boundColumns } from '../table-checks.ts'
import {
  type AnyTable,
  type Cells,
  type Column,
  type ColumnType,
  type ColumnValue,
  type Slice,
  TTL_SECONDS_MAX,
} from '../tables.ts'
import type { Bound } from './cassandra.ts'

/** Hidden in every table (timestamps.ts). A double: exact for µs until 2255, cheap to read. */
export const WRITTEN_US = 'written_us'

type DriverRow = types.Row

/** When a row is written, and for how long. */
export interface Stamp {
  readonly us: number
  readonly ttlSeconds?: number | undefined
}

export class TableStatements {
  readonly #table: AnyTable
  readonly #key: readonly Column[]
  readonly #all: readonly Column[]
  /** All but the partition key. */
  readonly #following: readonly Column[]
  readonly #get: string
  readonly #put: string
  readonly #putWithTtl: string
  readonly #putVersioned: string
  readonly #remove: string
  readonly #removeVersioned: string
  readonly #insertIfAbsent: string
  readonly #select: string
  readonly #slices = new Map<string, string>()
  readonly #swaps = new Map<string, string>()

  constructor(table: AnyTable) {
    this.#table = table
    this.#key = [...table.partition, ...table.clustering]
    this.#following = [...table.clustering, ...table.columns]
    this.#all = [...this.#key, ...table.columns]
    const names = this.#all.map(quoted).join(', ')
    const marks = this.#all.map(() => '?').join(', ')
    const name = `"${table.name}"`
    const where = equalities(this.#key)
    this.#put = `INSERT INTO ${name} (${names}, ${WRITTEN_US}) VALUES (${marks}, ?)`
    this.#putWithTtl = `${this.#put} USING TTL ?`
    this.#putVersioned = `INSERT INTO ${name} (${names}) VALUES (${marks}) USING TIMESTAMP ?`
    this.#insertIfAbsent = `${this.#put} IF NOT EXISTS USING TTL ?`
    this.#remove = `DELETE FROM ${name} WHERE ${where}`
    this.#removeVersioned = `DELETE FROM ${name} USING TIMESTAMP ? WHERE ${where}`
    const select = (columns: readonly Column[]): string =>
      `SELECT ${columns.map((column) => `${quoted(column)}, `).join('')}${WRITTEN_US} FROM ${name} WHERE`
    this.#select = select(this.#following)
    this.#get = `${select(table.columns)} ${where}`
  }

  get(key: Cells): Bound {
    return { query: this.#get, params: encodeAll(this.#key, key) }
  }

  put(row: Cells, { ttlSeconds, us }: Stamp): Bound {
    const params = encodeAll(this.#all, row)
    params.push(us)
    if (ttlSeconds === undefined) return { query: this.#put, params }
    params.push(ttl(ttlSeconds))
    return { query: this.#putWithTtl, params }
  }

  putVersioned(row: Cells, version: bigint): Bound {
    return { query: this.#putVersioned, params: [...encodeAll(this.#all, row), version] }
  }

  remove(key: Cells, version?: bigint): Bound {
    const params = encodeAll(this.#key, key)
    if (version === undefined) return { query: this.#remove, params }
    return { query: this.#removeVersioned, params: [version, ...params] }
  }

  insertIfAbsent(row: Cells, { ttlSeconds, us }: Stamp): Bound {
    const params = encodeAll(this.#all, row)
    params.push(us, ttlSeconds === undefined ? 0 : ttl(ttlSeconds))
    return { query: this.#insertIfAbsent, params }
  }

  compareAndSet(key: Cells, { expected, next }: { expected: Cells; next: Cells }): Bound {
    const named = (cells: Cells) =>
      this.#table.columns.filter(({ name }) => cells[name] !== undefined)
    const changed = named(next)
    const compared = named(expected)
    const existing = !compared.some(({ name }) => expected[name] !== null)
    const shape = `${changed.map(quoted)} if ${compared.map(quoted)} ${existing}`
    const query = cached(this.#swaps, shape, () => this.#swap(changed, compared, existing))
    const params = [
      ...encodeAll(changed, next),
      ...encodeAll(this.#key, key),
      ...encodeAll(compared, expected),
    ]
    return { query, params }
  }

  #swap(changed: readonly Column[], compared: readonly Column[], existing: boolean): string {
    const conditions = compared.map((column) => `${quoted(column)} = ?`)
    // To Cassandra a missing row has nulls: that the row exists is asked for by a column all have.
    if (existing) conditions.push(`${WRITTEN_US} != null`)
    const changes = changed.map((column) => `${quoted(column)} = ?`).join(', ')
    const where = equalities(this.#key)
    return `UPDATE "${this.#table.name}" SET ${changes} WHERE ${where} IF ${conditions.join(' AND ')}`
  }

  slice(partition: Cells, slice: Slice<AnyTable>): Bound {
    const table = this.#table
    const ascending = (table.order === 'asc') === (slice.direction !== 'reverse')
    const bounds = [
      ...boundOf(table, slice.after, ascending ? '>' : '<'),
      ...boundOf(table, slice.from, ascending ? '>=' : '<='),
      ...boundOf(table, slice.until, ascending ? '<=' : '>='),
      ...boundOf(table, slice.before, ascending ? '<' : '>'),
    ]
    const shape = `${ascending} ${bounds.map(({ text }) => text).join(' AND ')}`
    const query = cached(this.#slices, shape, () => this.#range(bounds, ascending))
    const params = encodeAll(table.partition, partition)
    for (const { columns, cells } of bounds) params.push(...encodeAll(columns, cells))
    params.push(slice.limit)
    return { query, params }
  }

  #range(bounds: readonly RangeBound[], ascending: boolean): string {
    const { partition, clustering } = this.#table
    const relations = [equalities(partition), ...bounds.map(({ text }) => text)].join(' AND ')
    const order = clustering.map((column) => `${quoted(column)} ${ascending ? 'ASC' : 'DESC'}`)
    const isReverse = ascending !== (this.#table.order === 'asc') && order.length > 0
    return `${this.#select} ${relations}${isReverse ? ` ORDER BY ${order.join(', ')}` : ''} LIMIT ?`
  }

  /** The row of a key. What the reader named is not sent back to it. */
  rowAt(key: Cells, row: DriverRow): Cells {
    return decodeInto(copy(this.#key, key), this.#table.columns, row)
  }

  /** A row of a slice. */
  rowIn(partition: Cells, row: DriverRow): Cells {
    return decodeInto(copy(this.#table.partition, partition), this.#following, row)
  }
}

/** When a row was written last; a row of another program does not say. */
export const writtenUs = (row: DriverRow): number => {
  const us: unknown = row[WRITTEN_US]
  return typeof us === 'number' ? us : 0
}

interface RangeBound {
  readonly text: string
  readonly columns: readonly Column[]
  readonly cells: Cells
}

/** Cassandra compares tuples by their first columns alone when a bound names no more. */
const boundOf = (
  table: AnyTable,
  cells: Cells | undefined,
  relation: '<' | '<=' | '>' | '>=',
): RangeBound[] => {
  if (cells === undefined) return []
  const columns = boundColumns(table, cells)
  const marks = columns.map(() => '?').join(', ')
  return [{ text: `(${columns.map(quoted).join(', ')}) ${relation} (${marks})`, columns, cells }]
}

const quoted = ({ column }: Column): string => `"${column}"`

const equalities = (columns: readonly Column[]): string =>
  columns.map((column) => `${quoted(column)} = ?`).join(' AND ')

const cached = (cache: Map<string, string>, shape: string, make: () => string): string => {
  const known = cache.get(shape)
  if (known !== undefined) return known
  const made = make()
  cache.set(shape, made)
  return made
}

/**
 * Cassandra counts whole seconds and drops the fraction a row was written in: one more second keeps
 * the row for at least as long as was asked.
 */
const ttl = (seconds: number): number => Math.min(seconds + 1, TTL_SECONDS_MAX)

const encodeAll = (columns: readonly Column[], cells: Cells): unknown[] =>
  columns.map(({ name }) => encode(cells[name]))

/** `undefined` is left unset, `null` removes the value; times are numbers to the driver as well. */
const encode = (value: Cells[string]): unknown =>
  value instanceof Uint8Array && !Buffer.isBuffer(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : value

type MutableCells = Record<string, Cells[string]>

const copy = (columns: readonly Column[], cells: Cells): MutableCells => {
  const copied: MutableCells = {}
  for (const { name } of columns) copied[name] = cells[name]
  return copied
}

const decodeInto = (
  cells: MutableCells,
  columns: readonly Column[],
  row: DriverRow,
): MutableCells => {
  for (const { name, column, type } of columns) cells[name] = decode(type, row[column])
  return cells
}

const decode = (type: ColumnType, value: unknown): ColumnValue | null => {
  if (value === null || value === undefined) return null
  if (type === 'timestamp' && value instanceof Date) return value.getTime()
  if (type === 'blob' && Buffer.isBuffer(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  }
  return value as ColumnValue
}
