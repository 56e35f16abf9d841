/**
 * Whether sessions still stand, asked at every request and answered from memory.
 *
 * What a process knows of a session is at most `sessionStaleMs` old — then it reads the row again — so
 * a session that ended anywhere is refused everywhere within a second, even when no message comes
 * through. A notice on the channel makes it sooner, and tells those who hold something open for a
 * session, a socket, to close it; when notices may have been missed, all of those are read again.
 */
import { UnauthenticatedError, UnavailableError } from '../kernel/errors.ts'
import type { Values } from '../kernel/settings.ts'
import type { Clock } from '../platform/clock.ts'
import type { PubSub } from '../platform/pubsub.ts'
import { GET_MANY_MAX, type Tables } from '../platform/tables.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { fromSessionRow, sessions } from './accounts-tables.ts'
import { formatSid, type SessionKey } from './session-key.ts'
import { type Session, stands } from './sessions.ts'
import type { accountSettings } from './settings.ts'

const CHANNEL = 'sessions-ended'

export interface WatchDependencies {
  readonly tables: Tables
  readonly clock: Clock
  readonly pubsub: PubSub
  readonly telemetry: Telemetry
  readonly settings: Values<typeof accountSettings>
}

interface Known {
  /** Shared by all who ask before it is old. */
  readonly session: Promise<Session | undefined>
  readonly readAt: number
}

interface Watched {
  readonly key: SessionKey
  readonly listeners: Set<() => void>
}

export class SessionWatch {
  readonly #own: WatchDependencies
  /** By sid, which no two sessions share; the longest unread first. */
  readonly #known = new Map<string, Known>()
  readonly #watched = new Map<string, Watched>()
  readonly #reads
  #rechecking: Promise<void> = Promise.resolve()

  constructor(dependencies: WatchDependencies) {
    this.#own = dependencies
    this.#reads = dependencies.telemetry.counter(
      'tributary_accounts_session_reads_total',
      'sessions read again because what was known had become old',
    )
  }

  /** UnauthenticatedError when the session has ended. */
  async admit(key: SessionKey): Promise<void> {
    const session = await this.#recent(key)
    if (session && stands(session, key, this.#own.clock.now())) return
    throw new UnauthenticatedError('this session has ended: sign in again')
  }

  /** Calls `ended` once, when the session has ended; dispose it to look no longer. */
  watch(key: SessionKey, ended: () => void): Disposable {
    const sid = formatSid(key)
    const watched = this.#watched.get(sid) ?? { key, listeners: new Set() }
    this.#watched.set(sid, watched)
    watched.listeners.add(ended)
    return {
      [Symbol.dispose]: () => {
        watched.listeners.delete(ended)
        if (watched.listeners.size === 0 && this.#watched.get(sid) === watched) {
          this.#watched.delete(sid)
        }
      },
    }
  }

  /** A session ended in this process: nobody here is served from memory, the others are told. */
  async announce(key: SessionKey): Promise<void> {
    const sid = formatSid(key)
    this.#forget(sid)
    try {
      await this.#own.pubsub.publish(CHANNEL, sid)
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error
      // The others refuse it as soon as what they know is old.
      this.#own.telemetry.log.warn({ err: error }, 'the end of a session was not announced')
    }
  }

  /** Listens to the other processes until disposed. */
  async follow(): Promise<AsyncDisposable> {
    const subscription = await this.#own.pubsub.subscribe(CHANNEL, {
      message: (sid) => this.#forget(sid),
      resync: () => {
        this.#known.clear()
        this.#rechecking = this.#rechecking.then(() => this.#recheck())
      },
    })
    return {
      [Symbol.asyncDispose]: async () => {
        await subscription[Symbol.asyncDispose]()
        await this.#rechecking
      },
    }
  }

  async #recent(key: SessionKey): Promise<Session | undefined> {
    const sid = formatSid(key)
    const known = this.#known.get(sid)
    const age = this.#own.clock.now() - (known?.readAt ?? 0)
    if (known && age >= 0 && age < this.#own.settings.sessionStaleMs) return await known.session
    return await this.#read(sid, key)
  }

  async #read(sid: string, { accountId, slot }: SessionKey): Promise<Session | undefined> {
    const { tables, clock } = this.#own
    this.#reads.inc()
    const readAt = clock.now()
    const session = tables
      .get(sessions, { accountId, slot })
      .then((row) => row && fromSessionRow(row))
    this.#remember(sid, { session, readAt })
    try {
      return await session
    } catch (error) {
      this.#known.delete(sid)
      throw error
    }
  }

  #remember(sid: string, known: Known): void {
    this.#known.delete(sid)
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size >= this.#own.settings.sessionsHeldMax) {
      this.#known.delete(oldest)
    }
    this.#known.set(sid, known)
  }

  #forget(sid: string): void {
    this.#known.delete(sid)
    const watched = this.#watched.get(sid)
    this.#watched.delete(sid)
    for (const ended of watched?.listeners ?? []) ended()
  }

  /** Reads every watched session again; what cannot be read now is left to the next resync. */
  async #recheck(): Promise<void> {
    const watched = [...this.#watched.values()].map(({ key }) => key)
    try {
      for (let from = 0; from < watched.length; from += GET_MANY_MAX) {
        await this.#recheckSome(watched.slice(from, from + GET_MANY_MAX))
      }
    } catch (error) {
      this.#own.telemetry.log.warn({ err: error }, 'open sessions could not be read again')
    }
  }

  async #recheckSome(keys: readonly SessionKey[]): Promise<void> {
    const rows = await this.#own.tables.getMany(sessions, keys)
    const now = this.#own.clock.now()
    keys.forEach((key, index) => {
      const row = rows[index]
      if (!row || !stands(fromSessionRow(row), key, now)) this.#forget(formatSid(key))
    })
  }
}
