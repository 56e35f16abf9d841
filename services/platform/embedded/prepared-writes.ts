/** Writes of tables, checked and encoded: what is left to do inside the transaction. */
import type { Cells } from '../tables.ts'
import type { Expiries } from './expiries.ts'
import { RowCodec, type RowTarget } from './row-codec.ts'
import type { Bytes } from './store.ts'
import type { BlindWork, Load } from './work.ts'

export interface PreparedWrite extends BlindWork {
  /** Whether it reads nothing (see BlindWork). */
  readonly isBlind: boolean
}

/** A row that names every column stands for itself. */
export class WholePut implements PreparedWrite {
  readonly isBlind = true
  readonly writes = 1
  readonly bytes: number
  readonly #db: Bytes
  readonly #key: Buffer
  readonly #value: Buffer

  constructor(db: Bytes, key: Buffer, value: Buffer) {
    this.bytes = key.length + value.length
    this.#db = db
    this.#key = key
    this.#value = value
  }

  apply(): void {
    void this.#db.put(this.#key, this.#value)
  }
}

interface ExpiryOf {
  readonly ttlMs: number
  readonly table: string
  readonly index: Expiries
}

/** A whole row with a time to go, which the index of expiries learns of. */
export class ExpiringPut implements PreparedWrite {
  readonly isBlind = true
  readonly writes = 2
  readonly bytes: number
  readonly #db: Bytes
  readonly #key: Buffer
  readonly #value: Buffer
  readonly #expiry: ExpiryOf

  constructor(db: Bytes, row: { readonly key: Buffer; readonly value: Buffer }, expiry: ExpiryOf) {
    this.bytes = 2 * row.key.length + row.value.length
    this.#db = db
    this.#key = row.key
    this.#value = row.value
    this.#expiry = expiry
  }

  apply(): void {
    const { ttlMs, table, index } = this.#expiry
    // Its time begins when it is written, not while it waits for that.
    const expiresAt = Date.now() + ttlMs
    RowCodec.expireAt(this.#value, expiresAt)
    void this.#db.put(this.#key, this.#value)
    index.note(table, this.#key, expiresAt)
  }
}

/** A row that leaves columns out is laid over what is there. */
export class PartialPut implements PreparedWrite {
  readonly isBlind = false
  readonly writes = 1
  readonly bytes: number
  readonly #db: Bytes
  readonly #key: Buffer
  readonly #rows: RowCodec
  readonly #changes: Cells

  constructor(db: Bytes, key: Buffer, change: { readonly rows: RowCodec; readonly cells: Cells }) {
    this.#db = db
    this.#key = key
    this.#rows = change.rows
    this.#changes = change.cells
    this.bytes = key.length + change.rows.encode(change.cells).length
  }

  apply(): void {
    const bytes = this.#db.getBinaryFast(this.#key)
    const row: RowTarget = {}
    if (bytes && RowCodec.isLive(bytes)) this.#rows.decode(bytes, row)
    for (const name in this.#changes) {
      const value = this.#changes[name]
      if (value !== undefined) row[name] = value
    }
    void this.#db.put(this.#key, this.#rows.encode(row))
  }
}

export class Removal implements PreparedWrite {
  readonly isBlind = true
  readonly reclaims = true
  readonly writes = 1
  readonly bytes: number
  readonly #db: Bytes
  readonly #key: Buffer

  constructor(db: Bytes, key: Buffer) {
    this.bytes = key.length
    this.#db = db
    this.#key = key
  }

  apply(): void {
    void this.#db.remove(this.#key)
  }
}

/** Several writes that are one. */
export class PreparedBatch implements PreparedWrite {
  readonly isBlind: boolean
  readonly reclaims: boolean
  readonly writes: number
  readonly bytes: number
  readonly #parts: readonly PreparedWrite[]

  constructor(parts: readonly PreparedWrite[]) {
    const { writes, bytes } = sumOf(parts)
    this.isBlind = parts.every((part) => part.isBlind)
    this.reclaims = parts.every((part) => part.reclaims)
    this.writes = writes
    this.bytes = bytes
    this.#parts = parts
  }

  apply(): void {
    for (const part of this.#parts) part.apply()
  }
}

export const sumOf = (loads: readonly Load[]): Load => ({
  writes: loads.reduce((sum, { writes }) => sum + writes, 0),
  bytes: loads.reduce((sum, { bytes }) => sum + bytes, 0),
})
