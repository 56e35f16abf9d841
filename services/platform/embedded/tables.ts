/**
 * Tables on LMDB: one ordered map per table, keys and rows as bytes (key-codec.ts, row-codec.ts).
 *
 * Everything is checked and encoded before it is queued, so what runs inside the transaction is
 * only puts, removes and the reads that a partial put, a version or a condition needs. All writes are one
 * transaction each, whatever partitions they touch: more than the port promises, never less.
 * Reads run on the snapshot of the last sync; a condition is judged inside the writing transaction.
 */
import {
  checkCompareAndWrite,
  checkGetMany,
  checkSlice,
  checkSwap,
  checkWrites,
} from '../table-checks.ts'
import {
  type AnyTable,
  type Cells,
  type ChangesOf,
  type DraftOf,
  type Expiry,
  type KeyOf,
  type Outcome,
  type PartitionOf,
  put,
  REMOVED_KEPT_MS,
  type Remove,
  type RowOf,
  type Slice,
  type Swap,
  type Tables,
  TablesUnavailableError,
  type Write,
} from '../tables.ts'
import type { Telemetry } from '../telemetry.ts'
import { Expiries } from './expiries.ts'
import { type Bounds, KeyCodec } from './key-codec.ts'
import {
  ExpiringPut,
  PartialPut,
  PreparedBatch,
  type PreparedWrite,
  Removal,
  WholePut,
} from './prepared-writes.ts'
import { RowCodec, type RowTarget } from './row-codec.ts'
import { type Bytes, isEngineError, passedKey, type Store } from './store.ts'
import { Tally } from './tally.ts'
import { VersionedPut, VersionedRemoval } from './versioned-writes.ts'

export interface EmbeddedTablesOptions {
  readonly sweepMs: number
  readonly sweepMax: number
  readonly telemetry: Telemetry
  /** How long a versioned removal is remembered; tests have less patience. */
  readonly removedKeptMs?: number
}

/** A table with all that is needed to read and write it. */
interface Shelf {
  readonly table: AnyTable
  readonly keys: KeyCodec
  readonly rows: RowCodec
  readonly db: Bytes
  /** Every column, null: copied for each row read, so that all rows have one shape. */
  readonly blank: RowTarget
}

export class EmbeddedTables implements Tables {
  readonly #store: Store
  readonly #shelves = new Map<AnyTable, Shelf>()
  readonly #expiries: Expiries
  readonly #sweepMax: number
  readonly #removedKeptMs: number
  readonly #sweeper: NodeJS.Timeout
  readonly #telemetry: Telemetry
  readonly #calls
  #sweeping: Promise<void> = Promise.resolve()

  constructor(store: Store, options: EmbeddedTablesOptions) {
    const { sweepMs, sweepMax, telemetry, removedKeptMs = REMOVED_KEPT_MS } = options
    this.#store = store
    this.#expiries = new Expiries(store, (name) => store.passingDatabase(databaseName(name)))
    this.#sweepMax = sweepMax
    this.#removedKeptMs = removedKeptMs
    this.#telemetry = telemetry
    this.#calls = new Tally(
      telemetry.counter('tributary_tables_calls_total', 'Calls by kind.', ['kind']),
      { get: 0, getMany: 0, slice: 0, write: 0, insert: 0, swap: 0, swapMany: 0 },
    )
    this.#sweeper = setInterval(() => this.#sweepSoon(), sweepMs)
    this.#sweeper.unref()
  }

  async get<T extends AnyTable>(table: T, key: KeyOf<T>): Promise<RowOf<T> | undefined> {
    this.#calls.add('get')
    this.#store.assertOpen()
    try {
      return this.#find(this.#shelf(table), key)
    } catch (error) {
      throw unavailable(error)
    }
  }

  async getMany<T extends AnyTable>(
    table: T,
    keys: readonly KeyOf<T>[],
  ): Promise<(RowOf<T> | undefined)[]> {
    checkGetMany(keys)
    this.#calls.add('getMany')
    const shelf = this.#shelf(table)
    return this.#read(() => keys.map((key) => this.#find(shelf, key)))
  }

  async slice<T extends AnyTable>(
    table: T,
    partition: PartitionOf<T>,
    slice: Slice<T>,
  ): Promise<RowOf<T>[]> {
    checkSlice(table, partition, slice)
    this.#calls.add('slice')
    return this.#read(() => this.#walk(this.#shelf(table), partition, slice)) as RowOf<T>[]
  }

  async write(writes: readonly Write[]): Promise<void> {
    if (writes.length === 0) return
    const prepared = this.prepare(writes)
    this.#calls.add('write')
    await (prepared.isBlind
      ? this.#store.write(prepared)
      : this.#store.transaction(() => prepared.apply(), prepared))
  }

  async insertIfAbsent<T extends AnyTable>(
    table: T,
    row: DraftOf<T>,
    expiry: Expiry = {},
  ): Promise<Outcome<T>> {
    const insert = put(table, row, expiry)
    const prepared = this.prepare([insert])
    const shelf = this.#shelf(table)
    const work = (): Outcome<T> => {
      const current = this.#find(shelf, row as Cells)
      if (current) return { applied: false, current }
      prepared.apply()
      return { applied: true }
    }
    this.#calls.add('insert')
    return this.#store.transaction(work, prepared)
  }

  async compareAndSet<T extends AnyTable>(
    table: T,
    key: KeyOf<T>,
    swap: { readonly expected: ChangesOf<T>; readonly next: ChangesOf<T> },
  ): Promise<Outcome<T>> {
    const { expected, next } = checkSwap(table, key as Cells, swap)
    const prepared = this.prepare([next])
    const shelf = this.#shelf(table)
    const work = (): Outcome<T> => {
      const current = this.#find(shelf, key as Cells)
      if (!current || !matches(current, expected)) return { applied: false, current }
      prepared.apply()
      return { applied: true }
    }
    this.#calls.add('swap')
    return this.#store.transaction(work, prepared)
  }

  async compareAndWrite<T extends AnyTable>(
    table: T,
    key: KeyOf<T>,
    swap: Swap<T>,
    others: readonly Write[],
  ): Promise<Outcome<T>> {
    const { expected, next } = checkCompareAndWrite(table, key as Cells, { swap, others })
    const prepared = this.prepareChecked([next, ...others])
    const shelf = this.#shelf(table)
    const work = (): Outcome<T> => {
      const current = this.#find(shelf, key as Cells)
      if (!meets(current, expected)) return { applied: false, current }
      prepared.apply()
      return { applied: true }
    }
    this.#calls.add('swapMany')
    return this.#store.transaction(work, prepared)
  }

  /** Checks and encodes writes. */
  prepare(writes: readonly Write[]): PreparedWrite {
    checkWrites(writes)
    return this.prepareChecked(writes)
  }

  /** Encodes writes that have been checked, for a transaction of somebody else's (see commit.ts). */
  prepareChecked(writes: readonly Write[]): PreparedWrite {
    const [first] = writes
    if (first && writes.length === 1) return this.#prepare(first)
    return new PreparedBatch(writes.map((write) => this.#prepare(write)))
  }

  /** Removes rows and markers past their time, one batch; resolves with the count it looked at. */
  sweep(): Promise<number> {
    return this.#expiries.sweep(this.#sweepMax)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper)
    await this.#sweeping
    this.#calls.flush()
  }

  #shelf(table: AnyTable): Shelf {
    const known = this.#shelves.get(table)
    if (known) return known
    const db = this.#store.passingDatabase(databaseName(table.name))
    const blank = blankRow(table)
    const shelf = {
      table,
      keys: new KeyCodec(table),
      rows: new RowCodec(table),
      db,
      blank,
    }
    this.#shelves.set(table, shelf)
    return shelf
  }

  #find({ keys, rows, db, blank }: Shelf, key: Cells): RowTarget | undefined {
    const row = { ...blank }
    const bytes = db.getBinaryFast(keys.passingKey(key, row))
    if (!bytes || !RowCodec.isLive(bytes)) return undefined
    rows.decode(bytes, row)
    return row
  }

  #walk(
    { table, keys, rows, db, blank }: Shelf,
    partition: Cells,
    slice: Slice<AnyTable>,
  ): RowTarget[] {
    const { limit, direction } = slice
    const prefix = keys.partition(partition)
    const reverse = direction === 'reverse'
    const { low, high } = keys.range(prefix, slice as Bounds, reverse)
    const start = { ...blank }
    for (const { name } of table.partition) start[name] = partition[name] ?? null
    const clustering = { start: 0, end: 0 }
    const found: RowTarget[] = []
    // Without a limit of its own: rows past their TTL and markers of removed ones do not count.
    for (const { key, value } of db.getRange(scan(low, high, reverse))) {
      if (!RowCodec.isLive(value)) continue
      const row = { ...start }
      clustering.start = passedKey.start + prefix.length
      clustering.end = passedKey.end
      keys.readClustering(key, clustering, row)
      rows.decode(value, row)
      found.push(row)
      if (found.length === limit) break
    }
    return found
  }

  #prepare(write: Write): PreparedWrite {
    const { table, keys, rows, db } = this.#shelf(write.table)
    if (write.kind === 'remove') return this.#prepareRemoval(write)
    const { row, ttlSeconds, version } = write
    const key = keys.key(row)
    if (version !== undefined) {
      return new VersionedPut({ db, key }, rows.encodeVersioned(row, version), version)
    }
    if (ttlSeconds !== undefined) {
      const value = rows.encode(row, Number.MAX_SAFE_INTEGER)
      const expiry = { ttlMs: 1000 * ttlSeconds, table: table.name, index: this.#expiries }
      return new ExpiringPut(db, { key, value }, expiry)
    }
    const isWhole = table.columns.every(({ name }) => row[name] !== undefined)
    if (!isWhole) return new PartialPut(db, key, { rows, cells: row })
    return new WholePut(db, key, rows.encode(row))
  }

  #prepareRemoval({ table, key, version }: Remove): PreparedWrite {
    const { keys, db } = this.#shelf(table)
    const place = { db, key: keys.key(key) }
    if (version === undefined) return new Removal(db, place.key)
    const memory = { keptMs: this.#removedKeptMs, table: table.name, index: this.#expiries }
    return new VersionedRemoval(place, version, memory)
  }

  #read<Result>(work: () => Result): Result {
    this.#store.assertOpen()
    try {
      return work()
    } catch (error) {
      throw unavailable(error)
    }
  }

  #sweepSoon(): void {
    this.#calls.flush()
    this.#sweeping = this.#sweeping.then(async () => {
      try {
        await this.sweep()
      } catch (error) {
        this.#telemetry.log.warn({ err: error }, 'rows past their TTL could not be swept')
      }
    })
  }
}

const databaseName = (table: string): string => `table/${table}`

const scan = (low: Buffer, high: Buffer, reverse: boolean) =>
  reverse
    ? { start: high, exclusiveStart: true, end: low, inclusiveEnd: true, reverse }
    : { start: low, end: high }

const blankRow = ({ partition, clustering, columns }: AnyTable): RowTarget => {
  const row: RowTarget = {}
  for (const { name } of [...partition, ...clustering, ...columns]) row[name] = null
  return row
}

/** `undefined` expects that there is no row. */
const meets = (row: RowTarget | undefined, expected: Cells | undefined): boolean => {
  if (row === undefined || expected === undefined) return row === expected
  return matches(row, expected)
}

const matches = (row: RowTarget, expected: Cells): boolean =>
  Object.entries(expected).every(
    ([name, value]) => value === undefined || isEqual(row[name] ?? null, value),
  )

const isEqual = (a: Cells[string], b: Cells[string]): boolean =>
  a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b

/** What lmdb throws does not cross; errors of ours and bugs pass as they are. */
const unavailable = (error: unknown): unknown =>
  isEngineError(error)
    ? new TablesUnavailableError('the embedded store did not answer', { cause: error })
    : error
