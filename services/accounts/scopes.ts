/** What a session may do (ACC-3). An account is granted some; a session never has more. */
import { BadInputError } from '../kernel/errors.ts'

export const SCOPES = ['read', 'write', 'moderate', 'publish', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** What a new account is granted. */
export const MEMBER_SCOPES: readonly Scope[] = ['read', 'write']

export const formatScopes = (scopes: readonly Scope[]): string => scopes.join(' ')

/** What is not a scope here (any more) gives nothing. */
export const parseScopes = (text: string): Scope[] => {
  const words = text.split(' ')
  return SCOPES.filter((scope) => words.includes(scope))
}

/** What a person typed: only scopes, at least one. */
export const checkScopes = (words: readonly string[]): Scope[] => {
  const scopes = SCOPES.filter((scope) => words.includes(scope))
  if (scopes.length > 0 && scopes.length === new Set(words).size) return scopes
  throw new BadInputError(`scopes are some of ${SCOPES.join(', ')}`, { field: 'scopes' })
}

/** Of those asked for, the ones that are granted; all that are granted when none is named. */
export const narrowScopes = (
  granted: readonly Scope[],
  asked: readonly Scope[] | undefined,
): Scope[] => {
  const scopes = granted.filter((scope) => asked === undefined || asked.includes(scope))
  if (scopes.length > 0) return scopes
  throw new BadInputError('none of these scopes is granted to this account', { field: 'scopes' })
}
