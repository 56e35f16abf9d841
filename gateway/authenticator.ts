/** Who asks. The gateway carries the proof; accounts judge it. */
import type { AccountService, Viewer } from '../services/accounts/accounts.ts'
import { UnauthenticatedError } from '../services/kernel/errors.ts'

export type Authenticator = Pick<AccountService, 'authenticate' | 'watch'>

const BEARER = /^Bearer +([\w.~+/-]+=*) *$/i

/** The caller an `Authorization` header proves; nobody without one. A proof that fails is refused. */
export const authenticateHeader = async (
  authenticator: Authenticator,
  header: string | undefined,
): Promise<Viewer | undefined> => {
  if (header === undefined) return undefined
  const token = BEARER.exec(header)?.[1]
  if (token === undefined) throw new UnauthenticatedError('send `Authorization: Bearer <token>`')
  return await authenticator.authenticate(token)
}
