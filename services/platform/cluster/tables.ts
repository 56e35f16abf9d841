/** Tables on Cassandra. The contract is in ../tables.ts; what is special here is said where it is. */
import type { types } from 'cassandra-driver'
import { OutcomeUnknownError } from '../../kernel/errors.ts'
import {
  checkCompareAndWrite,
  checkGetMany,
  checkKey,
  checkSlice,
  checkSwap,
  checkWrites,
} from '../table-checks.ts'
import {
  type AnyTable,
  type Cells,
  type ChangesOf,
  type ColumnValue,
  type DraftOf,
  type Expiry,
  type KeyOf,
  type Outcome,
  type PartitionOf,
  put,
  type ReadOptions,
  type RowOf,
  type Slice,
  type Swap,
  type Tables,
  type Write,
} from '../tables.ts'
import { type Bound, Cassandra, type CassandraOptions } from './cassandra.ts'
import { TableStatements, writtenUs } from './statements.ts'
import { WriteTimestamps } from './timestamps.ts'

/** Point reads of one `getMany` under way at a time. */
const GET_MANY_AT_ONCE = 64
/** How often a conditional write whose outcome got lost is tried again. */
const CONDITIONAL_ATTEMPTS = 3

export interface CassandraTablesOptions extends CassandraOptions {
  readonly keyspace: string
  /** Real time; tests skew it. */
  readonly nowMs?: () => number
}

export class CassandraTables implements Tables {
  readonly #cassandra: Cassandra
  readonly #timestamps: WriteTimestamps
  readonly #statements = new Map<AnyTable, TableStatements>()

  private constructor(cassandra: Cassandra, { nowMs, telemetry }: CassandraTablesOptions) {
    this.#cassandra = cassandra
    this.#timestamps = new WriteTimestamps(nowMs)
    telemetry.gauge(
      'tributary_tables_clock_ahead_seconds',
      'how far timestamps of writes lie ahead of the clock of this machine',
      { collect: (gauge) => gauge.set(this.#timestamps.aheadMs / 1000) },
    )
  }

  static async open(options: CassandraTablesOptions): Promise<CassandraTables> {
    return new CassandraTables(await Cassandra.connect(options), options)
  }

  async get<T extends AnyTable>(
    table: T,
    key: KeyOf<T>,
    options: ReadOptions = {},
  ): Promise<RowOf<T> | undefined> {
    checkKey(table, key as Cells)
    return this.#get(table, key as Cells, options.serial ? 'serial' : 'read')
  }

  async #get<T extends AnyTable>(
    table: T,
    key: Cells,
    how: 'read' | 'serial',
  ): Promise<RowOf<T> | undefined> {
    const statements = this.#of(table)
    const [row] = await this.#cassandra.read(statements.get(key), how)
    if (row === undefined) return undefined
    this.#timestamps.observe(writtenUs(row))
    return statements.rowAt(key, row) as RowOf<T>
  }

  /** Point reads, each sent to a replica of its row: a list in one query would load one server. */
  async getMany<T extends AnyTable>(
    table: T,
    keys: readonly KeyOf<T>[],
  ): Promise<(RowOf<T> | undefined)[]> {
    checkGetMany(keys)
    for (const key of keys) checkKey(table, key as Cells)
    const rows = new Array<RowOf<T> | undefined>(keys.length)
    let next = 0
    const reader = async (): Promise<void> => {
      while (next < keys.length) {
        const index = next
        next += 1
        rows[index] = await this.#get(table, keys[index] as Cells, 'read')
      }
    }
    await Promise.all(Array.from({ length: Math.min(GET_MANY_AT_ONCE, keys.length) }, reader))
    return rows
  }

  async slice<T extends AnyTable>(
    table: T,
    partition: PartitionOf<T>,
    slice: Slice<T>,
  ): Promise<RowOf<T>[]> {
    checkSlice(table, partition as Cells, slice)
    const statements = this.#of(table)
    const rows = await this.#cassandra.read(statements.slice(partition as Cells, slice))
    return rows.map((row) => {
      this.#timestamps.observe(writtenUs(row))
      return statements.rowIn(partition as Cells, row) as RowOf<T>
    })
  }

  async write(writes: readonly Write[]): Promise<void> {
    const { onePartition } = checkWrites(writes)
    const us = this.#timestamps.next()
    const bounds = writes.map((write) => this.#bind(write, us))
    const [only] = bounds
    if (only === undefined) return
    if (bounds.length === 1) await this.#cassandra.write(only, us)
    else await this.#cassandra.batch(bounds, { onePartition, us })
  }

  #bind(write: Write, us: number): Bound {
    const statements = this.#of(write.table)
    const { version } = write
    if (write.kind === 'remove') return statements.remove(write.key, version)
    if (version !== undefined) return statements.putVersioned(write.row, version)
    return statements.put(write.row, { ttlSeconds: write.ttlSeconds, us })
  }

  async insertIfAbsent<T extends AnyTable>(
    table: T,
    row: DraftOf<T>,
    expiry: Expiry = {},
  ): Promise<Outcome<T>> {
    checkWrites([put(table, row, expiry)])
    const cells = row as Cells
    const us = this.#timestamps.next()
    return this.#conditionally<T>({
      table,
      key: cells,
      bounds: [this.#of(table).insertIfAbsent(cells, { ttlSeconds: expiry.ttlSeconds, us })],
      isOurs: (current) => holds(current, cells),
      mayTryAgain: (current) => current === undefined,
    })
  }

  async compareAndSet<T extends AnyTable>(
    table: T,
    key: KeyOf<T>,
    swap: { readonly expected: ChangesOf<T>; readonly next: ChangesOf<T> },
  ): Promise<Outcome<T>> {
    const { expected, next: write } = checkSwap(table, key as Cells, {
      expected: swap.expected as Cells,
      next: swap.next as Cells,
    })
    checkWrites([write])
    const next = write.row
    return this.#conditionally<T>({
      table,
      key: next,
      bounds: [this.#of(table).compareAndSet(next, { expected, next })],
      isOurs: (current) => holds(current, next),
      mayTryAgain: (current) => holds(current, expected),
    })
  }

  async compareAndWrite<T extends AnyTable>(
    table: T,
    key: KeyOf<T>,
    swap: Swap<T>,
    others: readonly Write[],
  ): Promise<Outcome<T>> {
    const { expected, next: write } = checkCompareAndWrite(table, key as Cells, { swap, others })
    const next = write.row
    const us = this.#timestamps.next()
    const statements = this.#of(table)
    const condition = expected
      ? statements.compareAndSet(next, { expected, next })
      : statements.insertIfAbsent(next, { us })
    return this.#conditionally<T>({
      table,
      key: next,
      bounds: [condition, ...others.map((other) => this.#bind(other, us))],
      isOurs: (current) => holds(current, next),
      mayTryAgain: (current) => (expected ? holds(current, expected) : current === undefined),
    })
  }

  /**
   * A conditional write, and when its outcome got lost, the truth: a serial read ends whatever
   * agreement was under way, so the row then shows it. As what is written names its writer, a row
   * that holds it was written by this call.
   */
  async #conditionally<T extends AnyTable>(write: ConditionalWrite<T>): Promise<Outcome<T>> {
    let lost: OutcomeUnknownError | undefined
    for (let attempt = 1; attempt <= CONDITIONAL_ATTEMPTS; attempt += 1) {
      try {
        const { applied, row } = await this.#send(write.bounds)
        if (applied) return { applied: true }
        const current = await this.#current(write, row)
        return lost && write.isOurs(current) ? { applied: true } : { applied: false, current }
      } catch (error) {
        if (!(error instanceof OutcomeUnknownError)) throw error
        lost = error
      }
      const current = await this.#currentAfter(lost, write)
      if (write.isOurs(current)) return { applied: true }
      if (!write.mayTryAgain(current)) return { applied: false, current }
    }
    throw lost ?? new OutcomeUnknownError('a conditional write was not answered')
  }

  async #send(bounds: Bound[]): Promise<{ applied: boolean; row?: types.Row | undefined }> {
    const [only] = bounds
    if (only && bounds.length === 1) return this.#cassandra.conditional(only)
    // What a refused batch tells are the columns of its condition alone.
    return this.#cassandra.conditionalBatch(bounds)
  }

  /** What stands there: told by the server when an insert was refused, else read. */
  async #current<T extends AnyTable>(
    { table, key }: ConditionalWrite<T>,
    row: types.Row | undefined,
  ): Promise<RowOf<T> | undefined> {
    const told = row && table.partition.every(({ column }) => row[column] !== undefined)
    if (!told) return this.#get(table, key, 'serial')
    this.#timestamps.observe(writtenUs(row))
    return this.#of(table).rowAt(key, row) as RowOf<T>
  }

  /** When even the read fails, what became of the write stays open. */
  async #currentAfter<T extends AnyTable>(
    lost: OutcomeUnknownError,
    { table, key }: ConditionalWrite<T>,
  ): Promise<RowOf<T> | undefined> {
    try {
      return await this.#get(table, key, 'serial')
    } catch (error) {
      throw new OutcomeUnknownError(lost.message, { cause: new AggregateError([lost, error]) })
    }
  }

  #of(table: AnyTable): TableStatements {
    const known = this.#statements.get(table)
    if (known) return known
    const made = new TableStatements(table)
    this.#statements.set(table, made)
    return made
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cassandra[Symbol.asyncDispose]()
  }
}

interface ConditionalWrite<T extends AnyTable> {
  readonly table: T
  readonly key: Cells
  /** The condition, and what is written with it. */
  readonly bounds: Bound[]
  /** Whether a row is what this call wrote. */
  isOurs(current: RowOf<T> | undefined): boolean
  /** Whether the condition holds still. */
  mayTryAgain(current: RowOf<T> | undefined): boolean
}

/** Whether a row has all the values that are named. */
const holds = (row: Cells | undefined, cells: Cells): boolean =>
  row !== undefined &&
  Object.entries(cells).every(
    ([name, value]) => value === undefined || sameValue(row[name] ?? null, value),
  )

const sameValue = (a: ColumnValue | null, b: ColumnValue | null): boolean =>
  a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b
