/**
 * Who asks. The gateway only carries the proof; whoever knows accounts judges it.
 */
import { UnauthenticatedError } from '../services/kernel/errors.ts'

export const SCOPES = ['read', 'write', 'moderate', 'publish', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** A signed-in caller, for as long as the token is good. */
export interface Viewer {
  readonly accountId: bigint
  /** The sign-in the token belongs to; signing out ends it. */
  readonly sessionId: string
  readonly scopes: ReadonlySet<Scope>
  /** ms since 1970. */
  readonly expiresAt: number
}

export interface Authenticator {
  /** Nothing for a token that is wrong, expired or revoked. */
  authenticate(bearer: string): Promise<Viewer | undefined>
  /** Calls `listener` within a second after a session has ended anywhere; open sockets close. */
  onSessionEnded?(listener: (sessionId: string) => void): Disposable
}

/** Until there are accounts: every token is wrong. */
export const nobody: Authenticator = { authenticate: async () => undefined }

const BEARER = /^Bearer +([\w.~+/-]+=*) *$/i

/** The caller an `Authorization` header proves; nobody without one. A proof that fails is refused. */
export const authenticateHeader = async (
  authenticator: Authenticator,
  header: string | undefined,
): Promise<Viewer | undefined> => {
  if (header === undefined) return undefined
  const token = BEARER.exec(header)?.[1]
  if (token === undefined) throw new UnauthenticatedError('send `Authorization: Bearer <token>`')
  return await authenticateToken(authenticator, token)
}

export const authenticateToken = async (
  authenticator: Authenticator,
  token: string,
): Promise<Viewer> => {
  const viewer = await authenticator.authenticate(token)
  if (viewer) return viewer
  throw new UnauthenticatedError('the token is wrong, expired or revoked: sign in or refresh it')
}
