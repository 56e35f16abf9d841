/**
 * The keys that sign access tokens: pairs of Ed25519, in the tables, shared by all processes.
 *
 * Generations follow one another. The next one is made when the newest is `keyLifeMs` old, by
 * whoever notices first: it is inserted if absent, and everybody goes on with what is there. It is
 * published at once and signs only after `keyLeadMs`, so that every verifier has heard of it; the one
 * before stays trusted until the last token it signed has expired. A process that meets an unknown
 * `kid` reads the keys again, at most once a second.
 *
 * Private keys leave the tables only to become a `CryptoKey` that cannot be exported.
 */
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose'
import { DamagedError } from '../kernel/errors.ts'
import type { Values } from '../kernel/settings.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tables } from '../platform/tables.ts'
import { fromKeyRow, KEYS_PARTITION, signingKeys, toKeyRow } from './accounts-tables.ts'
import type { accountSettings } from './settings.ts'

export const ALGORITHM = 'EdDSA'

/** Keys that can matter at a time; older ones have expired with all they signed. */
const GENERATIONS_READ = 8
const UNKNOWN_REREAD_MS = 1_000

export interface StoredKey {
  readonly generation: number
  readonly kid: string
  readonly publicJwk: JWK
  readonly privateJwk: JWK
  readonly createdAt: number
}

interface KeyRing {
  /** Newest first, at least one. */
  readonly keys: readonly [StoredKey, ...StoredKey[]]
  readonly readAt: number
}

export interface KeyDependencies {
  readonly tables: Tables
  readonly clock: Clock
  readonly settings: Values<typeof accountSettings>
}

export class SigningKeys {
  readonly #own: KeyDependencies
  readonly #imported = new Map<string, Promise<CryptoKey>>()
  #ring: KeyRing | undefined
  #reading: Promise<KeyRing> | undefined

  constructor(dependencies: KeyDependencies) {
    this.#own = dependencies
  }

  /** The key that signs now. */
  async signer(): Promise<{ readonly kid: string; readonly key: CryptoKey }> {
    const { keys } = await this.#current()
    const { kid, privateJwk } = signerOf(keys, this.#moment())
    return { kid, key: await this.#import(`private ${kid}`, privateJwk) }
  }

  /** The public key of that name, if it is trusted. */
  async verifier(kid: string): Promise<CryptoKey | undefined> {
    const known = this.#trusted(await this.#current()).find((key) => key.kid === kid)
    const found = known ?? (await this.#reread()).find((key) => key.kid === kid)
    return found && (await this.#import(`public ${kid}`, found.publicJwk))
  }

  /** What verifiers elsewhere may know, newest first. */
  async published(): Promise<JWK[]> {
    return this.#trusted(await this.#current()).map(({ kid, publicJwk }) => ({
      ...publicJwk,
      ...{ kid, alg: ALGORITHM, use: 'sig' },
    }))
  }

  async #current(): Promise<KeyRing> {
    const ring = this.#ring
    if (ring && this.#age(ring) < this.#own.settings.keyRereadMs) return ring
    return await this.#read()
  }

  async #reread(): Promise<readonly StoredKey[]> {
    const ring = this.#ring
    if (ring && this.#age(ring) < UNKNOWN_REREAD_MS) return []
    return this.#trusted(await this.#read())
  }

  /** One read at a time, whoever asks. */
  #read(): Promise<KeyRing> {
    this.#reading ??= this.#load().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #load(): Promise<KeyRing> {
    const { clock, settings } = this.#own
    const readAt = clock.now()
    const [newest, ...older] = await this.#stored()
    const due = !newest || newest.createdAt + settings.keyLifeMs <= readAt
    if (due) await this.#make((newest?.generation ?? 0) + 1)
    const keys = due ? await this.#stored() : [newest, ...older]
    const [first, ...rest] = keys
    if (!first) throw new DamagedError('the key that was just made is not in its table')
    this.#ring = { keys: [first, ...rest], readAt }
    return this.#ring
  }

  async #stored(): Promise<StoredKey[]> {
    const slice = { limit: GENERATIONS_READ }
    const rows = await this.#own.tables.slice(signingKeys, KEYS_PARTITION, slice)
    return rows.map(fromKeyRow)
  }

  /** Whoever inserts first made it; the others find it when they read again. */
  async #make(generation: number): Promise<void> {
    const { tables, clock } = this.#own
    const pair = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
    const publicJwk = await exportJWK(pair.publicKey)
    const kid = await calculateJwkThumbprint(publicJwk)
    const privateJwk = await exportJWK(pair.privateKey)
    const createdAt = clock.now()
    await tables.insertIfAbsent(
      signingKeys,
      toKeyRow({ generation, kid, publicJwk, privateJwk, createdAt }),
    )
  }

  #trusted({ keys }: KeyRing): readonly StoredKey[] {
    return trustedOf(keys, this.#moment())
  }

  #moment(): Moment {
    const { clock, settings } = this.#own
    return { ...settings, now: clock.now() }
  }

  /** A clock that stepped back makes a ring old. */
  #age({ readAt }: KeyRing): number {
    const age = this.#own.clock.now() - readAt
    return age < 0 ? Number.POSITIVE_INFINITY : age
  }

  async #import(name: string, jwk: JWK): Promise<CryptoKey> {
    const importing = this.#imported.get(name) ?? importKey(jwk)
    this.#imported.set(name, importing)
    return await importing
  }
}

interface Moment {
  readonly now: number
  readonly keyLeadMs: number
  readonly keyRereadMs: number
  readonly accessMs: number
}

type Aged = Pick<StoredKey, 'createdAt'>

/** The newest that has been published long enough; of a first generation, that one. */
export const signerOf = <Key extends Aged>(keys: readonly [Key, ...Key[]], moment: Moment): Key =>
  keys.find(({ createdAt }) => createdAt + moment.keyLeadMs <= moment.now) ?? keys.at(-1) ?? keys[0]

/**
 * A key is trusted until the last token it signed has expired: its successor signs `keyLeadMs`
 * after it was made, and every process has read that within two times `keyRereadMs`.
 */
export const trustedOf = <Key extends Aged>(
  keys: readonly Key[],
  { now, keyLeadMs, keyRereadMs, accessMs }: Moment,
): Key[] =>
  keys.filter((_key, index) => {
    const successor = keys[index - 1]
    if (!successor) return true
    return now < successor.createdAt + keyLeadMs + 2 * keyRereadMs + accessMs
  })

const importKey = async (jwk: JWK): Promise<CryptoKey> => {
  const key = await importJWK(jwk, ALGORITHM, { extractable: false })
  if (key instanceof Uint8Array) throw new DamagedError('a signing key is not a key pair')
  return key
}
