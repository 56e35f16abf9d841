/** Writes of tables, checked and encoded: what is left to do inside the transaction. */
import type { Cells } from '../tables.ts'
import type { Expiries } from './expiries.ts'
import { RowCodec, type RowTarget } from './row-codec.ts'
import type { Bytes } from './store.ts'
import type { Load } from './write-queue.ts'

export interface PreparedWrite extends Load {
  /** Queues the puts and removes in the transaction that runs. */
  apply(): void
}

/** Where a row lies. */
export interface RowPlace {
  readonly db: Bytes
  readonly key: Buffer
}

/** A row that names every column stands for itself. */
export class WholePut implements PreparedWrite {
  readonly isBlind = true
  readonly writes = 1
  readonly bytes: number
  readonly #place: RowPlace
  readonly #value: Buffer

  constructor(place: RowPlace, value: Buffer) {
    this.bytes = place.key.length + value.length
    this.#place = place
    this.#value = value
  }

  apply(): void {
    void this.#place.db.put(this.#place.key, this.#value)
  }
}

/** A whole row with a time to go, which the index of expiries learns of. */
export class ExpiringPut implements PreparedWrite {
  readonly writes = 2
  readonly bytes: number
  readonly #place: RowPlace
  readonly #value: Buffer
  readonly #expiry: { readonly ttlMs: number; readonly table: string; readonly index: Expiries }

  constructor(
    place: RowPlace,
    value: Buffer,
    expiry: { readonly ttlMs: number; readonly table: string; readonly index: Expiries },
  ) {
    this.bytes = 2 * place.key.length + value.length
    this.#place = place
    this.#value = value
    this.#expiry = expiry
  }

  apply(): void {
    const { db, key } = this.#place
    const { ttlMs, table, index } = this.#expiry
    // Its time begins when it is written, not while it waits for that.
    const expiresAt = Date.now() + ttlMs
    RowCodec.expireAt(this.#value, expiresAt)
    void db.put(key, this.#value)
    index.note(table, key, expiresAt)
  }
}

/** A row that leaves columns out is laid over what is there. */
export class PartialPut implements PreparedWrite {
  readonly writes = 1
  readonly bytes: number
  readonly #place: RowPlace
  readonly #rows: RowCodec
  readonly #changes: Cells

  constructor(place: RowPlace, rows: RowCodec, changes: Cells) {
    this.bytes = place.key.length + rows.encode(changes).length
    this.#place = place
    this.#rows = rows
    this.#changes = changes
  }

  apply(): void {
    const { db, key } = this.#place
    const bytes = db.getBinaryFast(key)
    const row: RowTarget = {}
    if (bytes && RowCodec.isLive(bytes)) this.#rows.decode(bytes, row)
    for (const name in this.#changes) {
      const value = this.#changes[name]
      if (value !== undefined) row[name] = value
    }
    void db.put(key, this.#rows.encode(row))
  }
}

export class Removal implements PreparedWrite {
  readonly writes = 1
  readonly bytes: number
  readonly reclaims = true
  readonly isBlind = true
  readonly #place: RowPlace

  constructor(place: RowPlace) {
    this.bytes = place.key.length
    this.#place = place
  }

  apply(): void {
    void this.#place.db.remove(this.#place.key)
  }
}
