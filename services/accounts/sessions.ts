/**
 * Sessions: families of refresh tokens, one row each, changed only by compare-and-set.
 *
 * A session is opened by a sign-in, moves on with every refresh — the token shown is spent, its
 * successor is good — and ends by sign-out, by expiry, when its slot is needed for another, or when a
 * spent token is shown again: then somebody has a copy, and nobody can say who is the thief, so
 * the whole family ends. A row that ended stays until its slot is taken again.
 *
 * A call that saw its token good and lost the race to spend it is the same client twice (a second
 * tab, a retry): it gets the same successor. With `refreshGraceMs` that also holds for a while after;
 * only the last spent token has this grace, and a thief's use of it still shows at the next refresh.
 */
import { randomInt } from 'node:crypto'
import { OverloadedError } from '../kernel/errors.ts'
import type { AccountId, IdGenerator } from '../kernel/ids.ts'
import type { Values } from '../kernel/settings.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tables } from '../platform/tables.ts'
import { fromSessionRow, sessionColumns, sessions } from './accounts-tables.ts'
import {
  firstToken,
  formatToken,
  freshSeed,
  hasHash,
  hashOf,
  nextToken,
  parseToken,
  type RefreshToken,
  refusedToken,
} from './refresh-token.ts'
import type { Scope } from './scopes.ts'
import type { SessionKey } from './session-key.ts'
import type { accountSettings } from './settings.ts'

export type EndReason = 'signed out' | 'token reused' | 'slot needed'

export interface Session {
  readonly key: SessionKey
  readonly familyHash: string
  readonly refreshHash: string
  readonly spentHash: string | undefined
  readonly seed: string | undefined
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly rotatedAt: number
  readonly expiresAt: number
  readonly endedAt: number | undefined
  readonly endReason: string | undefined
}

export interface OpenedSession {
  readonly session: Session
  readonly refreshToken: string
}

export interface SessionDependencies {
  readonly tables: Tables
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly settings: Values<typeof accountSettings>
  /** Told of every session that ends here before its time. */
  readonly ended: (key: SessionKey, reason: EndReason) => Promise<void>
}

/** Slots have numbers below this; `sessionsMax` may be lowered while higher ones are in use. */
const SLOTS_MAX = 256
/** Many sign-ins of one account at once may want the same slot. */
const ATTEMPTS_MAX = 8

export class Sessions {
  readonly #own: SessionDependencies

  constructor(dependencies: SessionDependencies) {
    this.#own = dependencies
  }

  async open(accountId: AccountId, scopes: readonly Scope[]): Promise<OpenedSession> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const place = await this.#findSlot(accountId)
      const key = { accountId, slot: place.slot, sessionId: this.#own.ids.next<'session'>() }
      const token = firstToken(key)
      const session = this.#begin(token, scopes)
      if (await this.#take(session, place.held)) {
        return { session, refreshToken: formatToken(token) }
      }
    }
    throw new OverloadedError('too many sign-ins of this account at once: try again')
  }

  /** Spends the token and gives its successor; UnauthenticatedError when it is not good. */
  async refresh(text: string): Promise<OpenedSession> {
    const shown = parseToken(text)
    const session = await this.#find(shown)
    if (!hasHash(shown.secret, session.refreshHash)) return await this.#spent(shown, session)
    const seed = freshSeed()
    const token = nextToken(shown, seed)
    const next = this.#rotate(session, { refreshHash: hashOf(token.secret), seed })
    if (await this.#swap(session, next)) return { session: next, refreshToken: formatToken(token) }
    const current = await this.#find(shown)
    return successorOf(shown, current) ?? (await this.#spent(shown, current))
  }

  /** Ends the family; ending it again changes nothing. */
  async end(key: SessionKey, reason: EndReason): Promise<void> {
    const { tables, clock, ended } = this.#own
    const { accountId, slot, sessionId } = key
    await tables.compareAndSet(
      sessions,
      { accountId, slot },
      {
        expected: { sessionId, endedAt: null },
        next: { endedAt: clock.now(), endReason: reason },
      },
    )
    await ended(key, reason)
  }

  /** Ends the family of a refresh token, good or spent; what is no token of ours ends nothing. */
  async endByToken(text: string): Promise<void> {
    const shown = parseToken(text)
    const session = await this.#read(shown)
    if (session) await this.end(session.key, 'signed out')
  }

  /** The session of a token while it stands. */
  async #find(shown: RefreshToken): Promise<Session> {
    const session = await this.#read(shown)
    if (session && stands(session, shown.session, this.#own.clock.now())) return session
    throw refusedToken()
  }

  /** The row a token is of, whether the session stands or not. */
  async #read({ session: key, family }: RefreshToken): Promise<Session | undefined> {
    const { accountId, slot, sessionId } = key
    const row = await this.#own.tables.get(sessions, { accountId, slot }, { serial: true })
    const session = row && fromSessionRow(row)
    const same = session?.key.sessionId === sessionId && hasHash(family, session.familyHash)
    return same ? session : undefined
  }

  async #spent(shown: RefreshToken, session: Session): Promise<OpenedSession> {
    const { clock, settings } = this.#own
    const recent = clock.now() - session.rotatedAt < settings.refreshGraceMs
    const successor = recent ? successorOf(shown, session) : undefined
    if (successor) return successor
    await this.end(session.key, 'token reused')
    throw refusedToken()
  }

  #begin(token: RefreshToken, scopes: readonly Scope[]): Session {
    const now = this.#own.clock.now()
    return {
      key: token.session,
      familyHash: hashOf(token.family),
      refreshHash: hashOf(token.secret),
      spentHash: undefined,
      seed: undefined,
      scopes,
      createdAt: now,
      rotatedAt: now,
      expiresAt: this.#expiry(now, now),
      endedAt: undefined,
      endReason: undefined,
    }
  }

  #rotate(session: Session, next: Pick<Session, 'refreshHash' | 'seed'>): Session {
    const now = this.#own.clock.now()
    return {
      ...session,
      ...next,
      spentHash: session.refreshHash,
      rotatedAt: now,
      expiresAt: this.#expiry(session.createdAt, now),
    }
  }

  #expiry(createdAt: number, now: number): number {
    const { refreshMs, sessionMs } = this.#own.settings
    return Math.min(now + refreshMs, createdAt + sessionMs)
  }

  async #findSlot(accountId: AccountId): Promise<Slot> {
    const { tables, clock, settings } = this.#own
    const rows = await tables.slice(sessions, { accountId }, { limit: SLOTS_MAX })
    return chooseSlot(rows.map(fromSessionRow), {
      ...{ now: clock.now(), sessionsMax: settings.sessionsMax },
      below: randomInt,
    })
  }

  /** Puts a session into its slot if that still holds what was seen there. */
  async #take(session: Session, held: Session | undefined): Promise<boolean> {
    const { accountId, slot } = session.key
    const columns = sessionColumns(session)
    if (!held) {
      const row = { accountId, slot, ...columns }
      return (await this.#own.tables.insertIfAbsent(sessions, row)).applied
    }
    const taken = await this.#swap(held, session)
    if (taken && isOpen(held, this.#own.clock.now())) await this.#own.ended(held.key, 'slot needed')
    return taken
  }

  async #swap(seen: Session, next: Session): Promise<boolean> {
    const { accountId, slot, sessionId } = seen.key
    const { refreshHash, endedAt = null } = seen
    const outcome = await this.#own.tables.compareAndSet(
      sessions,
      { accountId, slot },
      { expected: { sessionId, refreshHash, endedAt }, next: sessionColumns(next) },
    )
    return outcome.applied
  }
}

/** The token that followed the one shown, if that was the last one spent. */
const successorOf = (shown: RefreshToken, session: Session): OpenedSession | undefined => {
  const { spentHash, seed } = session
  if (seed === undefined || !hasHash(shown.secret, spentHash)) return undefined
  return { session, refreshToken: formatToken(nextToken(shown, seed)) }
}

const isOpen = ({ endedAt, expiresAt }: Session, now: number): boolean =>
  endedAt === undefined && now < expiresAt

/** Whether a row is the session of that key, and neither ended nor expired. */
export const stands = (session: Session, key: SessionKey, now: number): boolean =>
  session.key.accountId === key.accountId &&
  session.key.sessionId === key.sessionId &&
  isOpen(session, now)

export interface Slot {
  readonly slot: number
  /** Whose slot it was. */
  readonly held: Session | undefined
}

interface SlotChoice {
  readonly now: number
  readonly sessionsMax: number
  readonly below: (limit: number) => number
}

/**
 * A slot whose session is over or one never used — any of them, so that sign-ins at one time seldom
 * want the same — or that of the session longest unused when there are as many as may be.
 */
export const chooseSlot = (
  taken: readonly Session[],
  { now, sessionsMax, below }: SlotChoice,
): Slot => {
  const open = taken.filter((session) => isOpen(session, now))
  const [oldest] = open.sort((a, b) => a.rotatedAt - b.rotatedAt)
  if (oldest && open.length >= sessionsMax) return { slot: oldest.key.slot, held: oldest }
  const held = new Map(taken.map((session) => [session.key.slot, session]))
  const busy = new Set(open.map(({ key }) => key.slot))
  const free = Array.from({ length: SLOTS_MAX }, (_none, slot) => slot).filter(
    (slot) => !busy.has(slot) && (slot < sessionsMax || held.has(slot)),
  )
  const slot = free[below(free.length)] ?? 0
  return { slot, held: held.get(slot) }
}
