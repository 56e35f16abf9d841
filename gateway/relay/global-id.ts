/**
 * Ids as clients see them: the type and the id, opaque. Whatever comes back is checked to be one
 * that we could have made.
 */
import { BadInputError } from '../../services/kernel/errors.ts'
import { formatId, parseId } from '../../services/kernel/ids.ts'

export interface GlobalId {
  readonly type: string
  readonly id: bigint
}

const LENGTH_MAX = 128
const DECODED = /^([A-Z][A-Za-z]{0,49}):(\d{19})$/

export const toGlobalId = (type: string, id: bigint): string =>
  Buffer.from(`${type}:${formatId(id)}`).toString('base64url')

export const parseGlobalId = (text: string, field = 'id'): GlobalId => {
  const decoded = text.length > LENGTH_MAX ? '' : Buffer.from(text, 'base64url').toString('latin1')
  const [, type, digits] = DECODED.exec(decoded) ?? []
  // Several texts decode to the same bytes: only the one we write is an id.
  if (type === undefined || digits === undefined || toText(decoded) !== text) throw notOurs(field)
  return { type, id: parseId(digits, field) }
}

/** The id of one type; another type's is as wrong as none. */
export const parseIdOf = (type: string, text: string, field = 'id'): bigint => {
  const parsed = parseGlobalId(text, field)
  if (parsed.type !== type) {
    throw new BadInputError(`this is the id of another kind of thing, not of ${type}`, { field })
  }
  return parsed.id
}

const toText = (decoded: string): string => Buffer.from(decoded, 'latin1').toString('base64url')

const notOurs = (field: string) =>
  new BadInputError('an id comes from this API and goes back as it is', { field })
