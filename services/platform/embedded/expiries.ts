/**
 * When rows go: an index by time of every row written with a TTL, and of the markers that versioned
 * removals leave, so that sweeping never scans.
 *
 * An entry is (ms, table, key) without a value. It may be stale (the row was written again since,
 * or removed): the row itself says when it expires, and the sweep believes the row.
 */
import { RowCodec } from './row-codec.ts'
import type { Bytes, Store } from './store.ts'

const NOTHING = Buffer.alloc(0)

export class Expiries {
  readonly #store: Store
  readonly #index: Bytes
  /** The database that holds the rows of a table. */
  readonly #rowsOf: (table: string) => Bytes

  constructor(store: Store, rowsOf: (table: string) => Bytes) {
    this.#store = store
    this.#index = store.database('expiries')
    this.#rowsOf = rowsOf
  }

  /** Called in the transaction that writes the row. */
  note(table: string, key: Buffer, expiresAt: number): void {
    void this.#index.put(entryOf(table, key, expiresAt), NOTHING)
  }

  /** Removes up to `max` rows that are past their time; resolves with how many entries it took. */
  async sweep(max: number): Promise<number> {
    const due = this.#due(max)
    if (due.length === 0) return 0
    await this.#store.transaction(
      () => {
        for (const entry of due) this.#collect(entry)
      },
      { writes: 2 * due.length, bytes: 0, reclaims: true },
    )
    return due.length
  }

  #due(max: number): Buffer[] {
    const end = Buffer.alloc(8)
    end.writeDoubleBE(Date.now())
    return [...this.#index.getKeys({ end, limit: max })].map((key) => Buffer.from(key))
  }

  #collect(entry: Buffer): void {
    const { table, key } = partsOf(entry)
    const rows = this.#rowsOf(table)
    const bytes = rows.getBinaryFast(key)
    if (bytes && RowCodec.isPast(bytes)) void rows.remove(key)
    void this.#index.remove(entry)
  }
}

/** A positive f64 in big-endian has the order of its value. */
const entryOf = (table: string, key: Buffer, expiresAt: number): Buffer => {
  const entry = Buffer.allocUnsafe(9 + table.length + key.length)
  entry.writeDoubleBE(expiresAt)
  entry[8] = table.length
  entry.write(table, 9, 'latin1')
  key.copy(entry, 9 + table.length)
  return entry
}

const partsOf = (entry: Buffer): { readonly table: string; readonly key: Buffer } => {
  const keyAt = 9 + (entry[8] ?? 0)
  return { table: entry.toString('latin1', 9, keyAt), key: entry.subarray(keyAt) }
}
