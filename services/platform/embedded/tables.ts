/**
 * Tables on LMDB: one ordered map per table, keys and rows as bytes (key-codec.ts, row-codec.ts).
 *
 * Everything is checked and encoded before it is queued, so what runs inside the transaction is
 * only puts, removes and the reads that a partial put or a condition needs. All writes are one
 * transaction each, whatever partitions they touch: more than the port promises, never less.
 * Reads run on the snapshot of the last sync; a condition is judged inside the writing transaction.
 */
import {
  type AnyTable,
  type Cells,
  type ChangesOf,
  checkGetMany,
  checkKey,
  checkSlice,
  checkSwap,
  checkWrites,
  type DraftOf,
  type Expiry,
  type KeyOf,
  type Outcome,
  type PartitionOf,
  put,
  type RowOf,
  type Slice,
  type Tables,
  TablesUnavailableError,
  type Write,
} from '../tables.ts'
import type { Telemetry } from '../telemetry.ts'
import { Expiries } from './expiries.ts'
import { type Bounds, KeyCodec } from './key-codec.ts'
import { RowCodec, type RowTarget } from './row-codec.ts'
import { type Bytes, isEngineError, type Store } from './store.ts'
import type { Load } from './write-queue.ts'

export interface EmbeddedTablesOptions {
  readonly sweepMs: number
  readonly sweepMax: number
  readonly telemetry: Telemetry
}

/** A table with all that is needed to read and write it. */
interface Shelf {
  readonly table: AnyTable
  readonly keys: KeyCodec
  readonly rows: RowCodec
  readonly db: Bytes
}

/** A write, encoded: what is left to do inside the transaction. */
export interface Prepared extends Load {
  readonly apply: () => void
}

export class EmbeddedTables implements Tables {
  readonly #store: Store
  readonly #shelves = new Map<AnyTable, Shelf>()
  readonly #expiries: Expiries
  readonly #sweepMax: number
  readonly #sweeper: NodeJS.Timeout
  readonly #telemetry: Telemetry
  readonly #writeSeconds
  readonly #reads
  #sweeping: Promise<void> = Promise.resolve()

  constructor(store: Store, { sweepMs, sweepMax, telemetry }: EmbeddedTablesOptions) {
    this.#store = store
    this.#expiries = new Expiries(store, (name) => store.database(databaseName(name)))
    this.#sweepMax = sweepMax
    this.#telemetry = telemetry
    this.#writeSeconds = telemetry.duration(
      'tributary_tables_write_seconds',
      'From the call of a write to its acknowledgement.',
      ['kind'],
    )
    this.#reads = telemetry.counter('tributary_tables_reads_total', 'Reads by kind.', ['kind'])
    this.#sweeper = setInterval(() => this.#sweepSoon(), sweepMs)
    this.#sweeper.unref()
  }

  async get<T extends AnyTable>(table: T, key: KeyOf<T>): Promise<RowOf<T> | undefined> {
    this.#reads.inc({ kind: 'get' })
    return this.#read(() => this.#find(this.#shelf(table), key))
  }

  async getMany<T extends AnyTable>(
    table: T,
    keys: readonly KeyOf<T>[],
  ): Promise<(RowOf<T> | undefined)[]> {
    checkGetMany(keys)
    this.#reads.inc({ kind: 'getMany' })
    const shelf = this.#shelf(table)
    return this.#read(() => keys.map((key) => this.#find(shelf, key)))
  }

  async slice<T extends AnyTable>(
    table: T,
    partition: PartitionOf<T>,
    slice: Slice<T>,
  ): Promise<RowOf<T>[]> {
    checkSlice(table, partition, slice)
    this.#reads.inc({ kind: 'slice' })
    return this.#read(() => this.#walk(this.#shelf(table), partition, slice)) as RowOf<T>[]
  }

  async write(writes: readonly Write[]): Promise<void> {
    if (writes.length === 0) return
    const prepared = this.prepare(writes)
    const reclaims = writes.every(({ kind }) => kind === 'remove')
    const load = { writes: writes.length, bytes: bytesOf(prepared), reclaims }
    await this.#transact('write', () => applyAll(prepared), load)
  }

  async insertIfAbsent<T extends AnyTable>(
    table: T,
    row: DraftOf<T>,
    expiry: Expiry = {},
  ): Promise<Outcome<T>> {
    const insert = put(table, row, expiry)
    const [prepared] = this.prepare([insert])
    const shelf = this.#shelf(table)
    const work = (): Outcome<T> => {
      const current = this.#find(shelf, row as Cells)
      if (current) return { applied: false, current }
      prepared?.apply()
      return { applied: true }
    }
    return this.#transact('insert', work, { writes: 1, bytes: prepared?.bytes ?? 0 })
  }

  async compareAndSet<T extends AnyTable>(
    table: T,
    key: KeyOf<T>,
    swap: { readonly expected: ChangesOf<T>; readonly next: ChangesOf<T> },
  ): Promise<Outcome<T>> {
    const { expected, next } = checkSwap(table, key as Cells, swap)
    const [prepared] = this.prepare([next])
    const shelf = this.#shelf(table)
    const work = (): Outcome<T> => {
      const current = this.#find(shelf, key as Cells)
      if (!current || !matches(current, expected)) return { applied: false, current }
      prepared?.apply()
      return { applied: true }
    }
    return this.#transact('swap', work, { writes: 1, bytes: prepared?.bytes ?? 0 })
  }

  /** Checks and encodes writes for a transaction of somebody else's (see commit.ts). */
  prepare(writes: readonly Write[]): Prepared[] {
    checkWrites(writes)
    return writes.map((write) => this.#prepare(write))
  }

  /** Removes rows past their TTL, one batch; resolves with the count it looked at. */
  sweep(): Promise<number> {
    return this.#expiries.sweep(this.#sweepMax)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper)
    await this.#sweeping
  }

  #shelf(table: AnyTable): Shelf {
    const known = this.#shelves.get(table)
    if (known) return known
    const db = this.#store.database(databaseName(table.name))
    const shelf = { table, keys: new KeyCodec(table), rows: new RowCodec(table), db }
    this.#shelves.set(table, shelf)
    return shelf
  }

  #find({ table, keys, rows, db }: Shelf, key: Cells): RowTarget | undefined {
    checkKey(table, key)
    const bytes = db.getBinaryFast(keys.key(key))
    if (!bytes || !RowCodec.isLive(bytes, Date.now())) return undefined
    const row: RowTarget = {}
    copyColumns(table.partition, key, row)
    copyColumns(table.clustering, key, row)
    rows.decode(bytes, row)
    return row
  }

  #walk({ table, keys, rows, db }: Shelf, partition: Cells, slice: Slice<AnyTable>): RowTarget[] {
    const { limit, direction } = slice
    const prefix = keys.partition(partition)
    const reverse = direction === 'reverse'
    const { low, high } = keys.range(prefix, slice as Bounds, reverse)
    const now = Date.now()
    const found: RowTarget[] = []
    // Without a limit of its own: rows past their TTL lie in the range but do not count.
    for (const { key, value } of db.getRange(scan(low, high, reverse))) {
      if (!RowCodec.isLive(value, now)) continue
      const row: RowTarget = {}
      copyColumns(table.partition, partition, row)
      keys.readClustering(key, prefix.length, row)
      rows.decode(value, row)
      found.push(row)
      if (found.length === limit) break
    }
    return found
  }

  #prepare(write: Write): Prepared {
    const shelf = this.#shelf(write.table)
    const { table, keys, rows, db } = shelf
    if (write.kind === 'remove') {
      const key = keys.key(write.key)
      return { writes: 1, bytes: key.length, apply: () => void db.remove(key) }
    }
    const key = keys.key(write.row)
    const { row, ttlSeconds } = write
    const isWhole = table.columns.every(({ name }) => row[name] !== undefined)
    if (ttlSeconds !== undefined) {
      const expiresAt = Date.now() + 1000 * ttlSeconds
      const value = rows.encode(row, expiresAt)
      const apply = () => {
        void db.put(key, value)
        this.#expiries.note(table.name, key, expiresAt)
      }
      return { writes: 2, bytes: key.length + value.length, apply }
    }
    const value = rows.encode(row)
    const apply = isWhole ? () => void db.put(key, value) : () => this.#merge(shelf, key, row)
    return { writes: 1, bytes: key.length + value.length, apply }
  }

  /** Puts a row that leaves columns out over what is there. */
  #merge({ rows, db }: Shelf, key: Buffer, changes: Cells): void {
    const bytes = db.getBinaryFast(key)
    const row: RowTarget = {}
    if (bytes && RowCodec.isLive(bytes, Date.now())) rows.decode(bytes, row)
    for (const name in changes) {
      const value = changes[name]
      if (value !== undefined) row[name] = value
    }
    void db.put(key, rows.encode(row))
  }

  #read<Result>(work: () => Result): Result {
    this.#store.assertOpen()
    try {
      return work()
    } catch (error) {
      throw unavailable(error)
    }
  }

  async #transact<Result>(
    kind: 'write' | 'insert' | 'swap',
    work: () => Result,
    load: Load,
  ): Promise<Result> {
    const started = performance.now()
    try {
      return await this.#store.transaction(work, load)
    } catch (error) {
      throw unavailable(error)
    } finally {
      this.#writeSeconds.observe({ kind }, (performance.now() - started) / 1000)
    }
  }

  #sweepSoon(): void {
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

const copyColumns = (columns: AnyTable['partition'], cells: Cells, row: RowTarget): void => {
  for (const { name } of columns) row[name] = cells[name] ?? null
}

const applyAll = (prepared: readonly Prepared[]): void => {
  for (const { apply } of prepared) apply()
}

const bytesOf = (prepared: readonly Prepared[]): number =>
  prepared.reduce((sum, { bytes }) => sum + bytes, 0)

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
