/** The public keys of access tokens, for whoever has to check one without asking us. */
import type { AccountService } from '../../services/accounts/accounts.ts'
import type { Answer } from '../server.ts'

export const KEY_SET_PATH = '/.well-known/jwks.json'

/** A key is published minutes before it signs. */
const CACHE_SECONDS = 60

export const keySetRoute =
  (accounts: Pick<AccountService, 'keySet'>) => async (): Promise<Answer> => ({
    status: 200,
    body: JSON.stringify(await accounts.keySet()),
    type: 'application/jwk-set+json',
    cacheSeconds: CACHE_SECONDS,
  })
