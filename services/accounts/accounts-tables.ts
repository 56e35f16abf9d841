/** How accounts, credentials, sessions and keys lie in their tables. */
import type { AccountId, Id } from '../kernel/ids.ts'
import {
  type AccountsRow,
  accounts,
  credentials,
  type SessionsRow,
  type SigningKeysRow,
  sessions,
  signingKeys,
} from '../platform/generated/tables.ts'
import { put, remove, type Write } from '../platform/tables.ts'
import type { Account } from './accounts.ts'
import type { Handle } from './handle.ts'
import type { StoredKey } from './keys.ts'
import type { Profile } from './profile.ts'
import { formatScopes, parseScopes } from './scopes.ts'
import type { Session } from './sessions.ts'

export { accounts, credentials, sessions, signingKeys }

export const HANDLE_CLAIM = 'handle'

export const putAccount = ({ scopes, ...account }: Account): Write =>
  put(accounts, { ...account, scopes: formatScopes(scopes) })

/** Only what changed: two who change different things at once do not undo each other. */
export const putProfile = (id: AccountId, changes: Profile): Write =>
  put(accounts, { id, ...changes })

export const putScopes = (id: AccountId, scopes: Account['scopes']): Write =>
  put(accounts, { id, scopes: formatScopes(scopes) })

export const fromAccountRow = (row: AccountsRow): Account => ({
  id: row.id as AccountId,
  handle: (row.handle ?? '') as Handle,
  displayName: row.displayName ?? '',
  bio: row.bio ?? '',
  isPrivate: row.isPrivate ?? false,
  scopes: parseScopes(row.scopes ?? ''),
  createdAt: row.createdAt ?? 0,
})

export const putPassword = (accountId: AccountId, password: string, changedAt: number): Write =>
  put(credentials, { accountId, password, changedAt })

export const removePassword = (accountId: AccountId): Write => remove(credentials, { accountId })

/** Every column but the key: a slot is always taken whole. */
export const sessionColumns = (session: Session): Omit<SessionsRow, 'accountId' | 'slot'> => ({
  sessionId: session.key.sessionId,
  familyHash: session.familyHash,
  refreshHash: session.refreshHash,
  spentHash: session.spentHash ?? null,
  seed: session.seed ?? null,
  scopes: formatScopes(session.scopes),
  createdAt: session.createdAt,
  rotatedAt: session.rotatedAt,
  expiresAt: session.expiresAt,
  endedAt: session.endedAt ?? null,
  endReason: session.endReason ?? null,
})

export const fromSessionRow = (row: SessionsRow): Session => ({
  key: {
    accountId: row.accountId as AccountId,
    slot: row.slot,
    sessionId: (row.sessionId ?? 0n) as Id<'session'>,
  },
  familyHash: row.familyHash ?? '',
  refreshHash: row.refreshHash ?? '',
  spentHash: row.spentHash ?? undefined,
  seed: row.seed ?? undefined,
  scopes: parseScopes(row.scopes ?? ''),
  createdAt: row.createdAt ?? 0,
  rotatedAt: row.rotatedAt ?? 0,
  expiresAt: row.expiresAt ?? 0,
  endedAt: row.endedAt ?? undefined,
  endReason: row.endReason ?? undefined,
})

const ACCESS_KEYS = 'access'

export const KEYS_PARTITION = { purpose: ACCESS_KEYS }

export const toKeyRow = (key: StoredKey): SigningKeysRow => ({
  ...KEYS_PARTITION,
  generation: key.generation,
  kid: key.kid,
  publicJwk: JSON.stringify(key.publicJwk),
  privateJwk: JSON.stringify(key.privateJwk),
  createdAt: key.createdAt,
})

export const fromKeyRow = (row: SigningKeysRow): StoredKey => ({
  generation: row.generation,
  kid: row.kid ?? '',
  publicJwk: JSON.parse(row.publicJwk ?? '{}') as StoredKey['publicJwk'],
  privateJwk: JSON.parse(row.privateJwk ?? '{}') as StoredKey['privateJwk'],
  createdAt: row.createdAt ?? 0,
})
