/**
 * Access tokens: short-lived JWTs (RFC 9068) signed by Ed25519, good for any process that knows the
 * published keys. What a token says is checked strictly — one algorithm, one issuer, one audience,
 * one type, a known key, a time — and whether its session still stands is for others to ask.
 *
 * A signature takes 0.1 ms of a thread; clients send one token many times, so those that were
 * found good are remembered until they expire or the memory is full.
 */
import {
  type CryptoKey,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose'
import { UnauthenticatedError } from '../kernel/errors.ts'
import { formatId, parseId } from '../kernel/ids.ts'
import type { Values } from '../kernel/settings.ts'
import type { Clock } from '../platform/clock.ts'
import { ALGORITHM, type SigningKeys } from './keys.ts'
import { formatScopes, parseScopes, type Scope } from './scopes.ts'
import { formatSid, parseSid, type SessionKey } from './session-key.ts'
import type { accountSettings } from './settings.ts'

const TYPE = 'at+jwt'
const TOKEN_LENGTH_MAX = 4_096

/** What a good access token says. */
export interface AccessGrant {
  readonly session: SessionKey
  readonly scopes: readonly Scope[]
  /** ms since 1970; at this time it is good no longer. */
  readonly expiresAt: number
}

export interface IssuedToken {
  readonly text: string
  readonly expiresAt: number
}

export interface TokenDependencies {
  readonly keys: SigningKeys
  readonly clock: Clock
  readonly settings: Values<typeof accountSettings>
}

export class AccessTokens {
  readonly #own: TokenDependencies
  readonly #checked = new Map<string, AccessGrant>()

  constructor(dependencies: TokenDependencies) {
    this.#own = dependencies
  }

  async issue(grant: Omit<AccessGrant, 'expiresAt'>, endsAt: number): Promise<IssuedToken> {
    const { keys, clock, settings } = this.#own
    const issuedAt = Math.floor(clock.now() / 1_000)
    const expiresAt = Math.min(issuedAt + settings.accessMs / 1_000, Math.floor(endsAt / 1_000))
    const { kid, key } = await keys.signer()
    const text = await new SignJWT({
      sid: formatSid(grant.session),
      scope: formatScopes(grant.scopes),
    })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: TYPE })
      .setIssuer(settings.issuer)
      .setAudience(settings.audience)
      .setSubject(formatId(grant.session.accountId))
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(key)
    return { text, expiresAt: expiresAt * 1_000 }
  }

  /** UnauthenticatedError unless everything about the token is right. */
  async check(token: string): Promise<AccessGrant> {
    const known = this.#checked.get(token)
    if (known && known.expiresAt > this.#own.clock.now()) return known
    this.#checked.delete(token)
    const grant = readGrant(await this.#verify(token))
    this.#remember(token, grant)
    return grant
  }

  async #verify(token: string): Promise<JWTPayload> {
    const { clock, settings } = this.#own
    if (token.length > TOKEN_LENGTH_MAX) throw refused()
    try {
      const { payload } = await jwtVerify(token, (header) => this.#keyFor(header), {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: settings.issuer,
        audience: settings.audience,
        requiredClaims: ['sub', 'sid', 'iat', 'exp', 'scope'],
        currentDate: new Date(clock.now()),
      })
      return payload
    } catch (cause) {
      if (cause instanceof errors.JWTExpired) {
        throw new UnauthenticatedError('the access token has expired: refresh it', { cause })
      }
      if (cause instanceof errors.JOSEError) throw refused(cause)
      throw cause
    }
  }

  async #keyFor({ kid }: JWTHeaderParameters): Promise<CryptoKey> {
    const key = kid === undefined ? undefined : await this.#own.keys.verifier(kid)
    if (key) return key
    throw refused()
  }

  /** The oldest goes first: by then it has most likely expired. */
  #remember(token: string, grant: AccessGrant): void {
    const [oldest] = this.#checked.keys()
    if (oldest !== undefined && this.#checked.size >= this.#own.settings.sessionsHeldMax) {
      this.#checked.delete(oldest)
    }
    this.#checked.set(token, grant)
  }
}

const readGrant = ({ sub, sid, scope, exp }: JWTPayload): AccessGrant => {
  const fits = typeof sub === 'string' && typeof sid === 'string' && typeof scope === 'string'
  if (!fits || exp === undefined) throw refused()
  return { session: readSession(sid, sub), scopes: parseScopes(scope), expiresAt: exp * 1_000 }
}

const readSession = (sid: string, sub: string): SessionKey => {
  try {
    return parseSid(sid, parseId(sub, 'sub'))
  } catch (cause) {
    throw refused(cause)
  }
}

const refused = (cause?: unknown): UnauthenticatedError =>
  new UnauthenticatedError('the access token is not good here: sign in', { cause })
