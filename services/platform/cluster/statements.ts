/**
 * CQL of a table, and its rows to and from the driver's values.
 *
 * The statements of a table are few, whatever is asked of it, so that each is prepared once: a put
 * binds every column and leaves those it does not name unset. Bounds of slices are tuples,
 * `(ms, id) < (?, ?)`, which Cassandra compares as a row's place in the clustering order.
 */
import type { types } from 'cassandra-driver'
import { BadInputError } from '../../kernel/errors.ts'
import {
  type AnyTable,
  boundColumns,
  type Cells,
  type Column,
  type ColumnType,
  type ColumnValue,
  type Slice,
} from '../tables.ts'
import type { Bound } from './cassandra.ts'

export const WRITTEN_US = 'written_us'
/** Cassandra's own: 20 years. */
const TTL_MAX_SECONDS = 630_720_000

type DriverRow = types.Row

export class TableStatements {
  readonly #table: AnyTable
  readonly #key: readonly Column[]
  readonly #all: readonly Column[]
  readonly #get: string
  readonly #put: string
  readonly #remove: string
  readonly #insertIfAbsent: string
  readonly #select: string
  readonly #slices = new Map<string, string>()
  readonly #swaps = new Map<string, string>()

  constructor(table: AnyTable) {
    this.#table = table
    this.#key = [...table.partition, ...table.clustering]
    this.#all = [...this.#key, ...table.columns]
    const names = [...this.#all.map(quoted), `"${WRITTEN_US}"`]
    const marks = names.map(() => '?').join(', ')
    const name = `"${table.name}"`
    const insert = `INSERT INTO ${name} (${names.join(', ')}) VALUES (${marks})`
    const where = equalities(this.#key)
    this.#select = `SELECT ${names.join(', ')} FROM ${name} WHERE`
    this.#get = `${this.#select} ${where}`
    this.#put = `${insert} USING TTL ? AND TIMESTAMP ?`
    this.#remove = `DELETE FROM ${name} USING TIMESTAMP ? WHERE ${where}`
    this.#insertIfAbsent = `${insert} IF NOT EXISTS USING TTL ?`
  }

  get(key: Cells): Bound {
    return { query: this.#get, params: encodeAll(this.#key, key) }
  }

  put(
    row: Cells,
    { ttlSeconds, us }: { readonly ttlSeconds?: number | undefined; readonly us: number },
  ): Bound {
    const written = BigInt(us)
    const params = encodeAll(this.#all, row)
    params.push(written, ttl(ttlSeconds), written)
    return { query: this.#put, params }
  }

  remove(key: Cells, us: number): Bound {
    return { query: this.#remove, params: [BigInt(us), ...encodeAll(this.#key, key)] }
  }

  insertIfAbsent(
    row: Cells,
    { ttlSeconds, us }: { readonly ttlSeconds?: number | undefined; readonly us: number },
  ): Bound {
    const params = encodeAll(this.#all, row)
    params.push(BigInt(us), ttl(ttlSeconds))
    return { query: this.#insertIfAbsent, params }
  }

  compareAndSet(key: Cells, { expected, next }: { expected: Cells; next: Cells }): Bound {
    const named = (cells: Cells) =>
      this.#table.columns.filter(({ name }) => cells[name] !== undefined)
    const changed = named(next)
    if (changed.length === 0) {
      throw new BadInputError(`a swap changes at least one column of ${this.#table.name}`)
    }
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
    if (existing) conditions.push(`"${WRITTEN_US}" != null`)
    const changes = changed.map((column) => `${quoted(column)} = ?`).join(', ')
    const where = equalities(this.#key)
    return `UPDATE "${this.#table.name}" SET ${changes} WHERE ${where} IF ${conditions.join(' AND ')}`
  }

  slice(partition: Cells, slice: Slice<AnyTable>): Bound {
    const { order } = this.#table
    const ascending = (order === 'asc') === (slice.direction !== 'reverse')
    const lower = tighter(this.#table, { exclusive: slice.after, inclusive: slice.from, ascending })
    const upper = tighter(this.#table, {
      exclusive: slice.before,
      inclusive: slice.until,
      ascending: !ascending,
    })
    const bounds = [lower, upper].filter((bound) => bound !== undefined)
    const shape = `${ascending} ${bounds.map(({ text }) => text).join(' AND ')}`
    const query = cached(this.#slices, shape, () => this.#range(bounds, ascending))
    const params = encodeAll(this.#table.partition, partition)
    for (const { columns, cells } of bounds) params.push(...encodeAll(columns, cells))
    params.push(slice.limit)
    return { query, params }
  }

  #range(bounds: readonly RangeBound[], ascending: boolean): string {
    const { partition, clustering } = this.#table
    const relations = [equalities(partition), ...bounds.map(({ text }) => text)].join(' AND ')
    const direction = ascending ? 'ASC' : 'DESC'
    const order = clustering.map((column) => `${quoted(column)} ${direction}`).join(', ')
    return `${this.#select} ${relations}${order === '' ? '' : ` ORDER BY ${order}`} LIMIT ?`
  }

  decode(row: DriverRow): Cells {
    const cells: Record<string, ColumnValue | null> = {}
    for (const { name, column, type } of this.#all) cells[name] = decode(type, row[column])
    return cells
  }
}

/** When a row was written last; unknown to Cassandra for rows of another program. */
export const writtenUs = (row: DriverRow): number => {
  const us: unknown = row[WRITTEN_US]
  return typeof us === 'bigint' ? Number(us) : 0
}

interface RangeBound {
  readonly text: string
  readonly columns: readonly Column[]
  readonly cells: Cells
}

/** The stricter of two bounds of one side: Cassandra takes one. */
const tighter = (
  table: AnyTable,
  side: {
    readonly exclusive: Cells | undefined
    readonly inclusive: Cells | undefined
    readonly ascending: boolean
  },
): RangeBound | undefined => {
  const { exclusive, inclusive, ascending } = side
  const sign = ascending ? '>' : '<'
  const bound = (cells: Cells, relation: string): RangeBound => {
    const columns = boundColumns(table, cells)
    const marks = columns.map(() => '?').join(', ')
    return { text: `(${columns.map(quoted).join(', ')}) ${relation} (${marks})`, columns, cells }
  }
  const outer = exclusive && bound(exclusive, sign)
  const inner = inclusive && bound(inclusive, `${sign}=`)
  if (!outer || !inner) return outer ?? inner
  const compared = compareBounds(inner, outer)
  return (ascending ? compared > 0 : compared < 0) ? inner : outer
}

const compareBounds = (a: RangeBound, b: RangeBound): number => {
  for (const [index, { name }] of a.columns.entries()) {
    if (index >= b.columns.length) break
    const order = compareValues(a.cells[name], b.cells[name])
    if (order !== 0) return order
  }
  return 0
}

const compareValues = (a: Cells[string], b: Cells[string]): number => {
  if (typeof a === 'string' && typeof b === 'string') {
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  if (a === b || a == null || b == null) return 0
  return a < b ? -1 : 1
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
 * the row for at least as long as was asked. 0 is for ever.
 */
const ttl = (seconds: number | undefined): number =>
  seconds === undefined ? 0 : Math.min(Math.ceil(seconds) + 1, TTL_MAX_SECONDS)

const encodeAll = (columns: readonly Column[], cells: Cells): unknown[] =>
  columns.map(({ name }) => encode(cells[name]))

/** `undefined` is left unset, `null` removes the value; times are numbers to the driver as well. */
const encode = (value: Cells[string]): unknown =>
  value instanceof Uint8Array && !Buffer.isBuffer(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : value

const decode = (type: ColumnType, value: unknown): ColumnValue | null => {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return value.getTime()
  if (type === 'blob' && Buffer.isBuffer(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  }
  return value as ColumnValue
}
