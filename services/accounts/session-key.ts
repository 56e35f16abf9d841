/** What names a session: its account, the slot it lies in, and the id that no other ever has. */
import { BadInputError } from '../kernel/errors.ts'
import { type AccountId, formatId, type Id, parseId } from '../kernel/ids.ts'

export interface SessionKey {
  readonly accountId: AccountId
  readonly slot: number
  readonly sessionId: Id<'session'>
}

const SID = /^(\d{19})\.(\d{1,3})$/

/** The `sid` of a token, whose `sub` names the account. */
export const formatSid = ({ sessionId, slot }: SessionKey): string =>
  `${formatId(sessionId)}.${slot}`

export const parseSid = (sid: string, accountId: AccountId): SessionKey => {
  const [, id, slot] = SID.exec(sid) ?? []
  if (id === undefined) throw new BadInputError('this names no session', { field: 'sid' })
  return { accountId, slot: Number(slot), sessionId: parseId(id, 'sid') }
}
