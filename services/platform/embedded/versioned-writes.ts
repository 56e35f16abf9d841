/**
 * Writes that carry a version, inside the transaction: each compares itself with what stands there.
 *
 * A removed row leaves a marker with the version of the removal, also where there was no row: a put
 * that is older and comes later has to find it. Markers go when the index of expiries says so.
 */
import { assert } from '../../kernel/errors.ts'
import type { Expiries } from './expiries.ts'
import type { PreparedWrite } from './prepared-writes.ts'
import { RowCodec } from './row-codec.ts'
import type { Bytes } from './store.ts'

/** Where a row lies. */
export interface RowPlace {
  readonly db: Bytes
  readonly key: Buffer
}

/** A whole row that stands over every older version. */
export class VersionedPut implements PreparedWrite {
  readonly isBlind = false
  readonly writes = 1
  readonly bytes: number
  readonly #place: RowPlace
  readonly #value: Buffer
  readonly #version: bigint

  constructor(place: RowPlace, value: Buffer, version: bigint) {
    this.bytes = place.key.length + value.length
    this.#place = place
    this.#value = value
    this.#version = version
  }

  apply(): void {
    const standing = standingVersion(this.#place)
    if (standing !== undefined && standing >= this.#version) return
    void this.#place.db.put(this.#place.key, this.#value)
  }
}

/** How long a removal is remembered, and by which index it is forgotten. */
export interface Memory {
  readonly keptMs: number
  readonly table: string
  readonly index: Expiries
}

/** Stands over a put of its own version too, as on Cassandra. */
export class VersionedRemoval implements PreparedWrite {
  readonly isBlind = false
  readonly writes = 2
  readonly bytes: number
  readonly #place: RowPlace
  readonly #version: bigint
  readonly #memory: Memory

  constructor(place: RowPlace, version: bigint, memory: Memory) {
    this.bytes = 2 * place.key.length
    this.#place = place
    this.#version = version
    this.#memory = memory
  }

  apply(): void {
    const standing = standingVersion(this.#place)
    if (standing !== undefined && standing > this.#version) return
    const { keptMs, table, index } = this.#memory
    const { db, key } = this.#place
    const marker = RowCodec.marker(this.#version)
    const forgottenAt = Date.now() + keptMs
    RowCodec.expireAt(marker, forgottenAt)
    void db.put(key, marker)
    index.note(table, key, forgottenAt)
  }
}

const standingVersion = ({ db, key }: RowPlace): bigint | undefined => {
  const bytes = db.getBinaryFast(key)
  if (!bytes) return undefined
  const version = RowCodec.versionOf(bytes)
  assert(version !== undefined, 'a row is written with versions always or never')
  return version
}
