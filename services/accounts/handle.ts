/**
 * Handles: the name people type. One spelling each, so that no two look alike: whatever letters and
 * width they are typed in, they are kept as lower-case ASCII letters, digits, `_` and `.`.
 */
import { BadInputError } from '../kernel/errors.ts'

declare const brand: unique symbol
export type Handle = string & { readonly [brand]: 'handle' }

const LENGTH_MIN = 2
const LENGTH_MAX = 30
/** More than any spelling of a handle needs: what is longer is not looked at. */
const TYPED_MAX = 200

/** The one spelling of what was typed, or `undefined` when it can be no handle. */
export const parseHandle = (typed: string): Handle | undefined => {
  const handle = spell(typed)
  return faultOf(handle) === undefined ? (handle as Handle) : undefined
}

/** A handle for a new account. */
export const checkHandle = (typed: string, field = 'handle'): Handle => {
  const handle = spell(typed)
  const fault = faultOf(handle)
  if (fault !== undefined) throw new BadInputError(`a handle ${fault}`, { field })
  return handle as Handle
}

/** NFKC folds wide and styled letters; a leading `@` is how people point at handles. */
const spell = (typed: string): string =>
  typed.slice(0, TYPED_MAX).normalize('NFKC').trim().toLowerCase().replace(/^@/, '')

const faultOf = (handle: string): string | undefined => {
  if (handle.length < LENGTH_MIN || handle.length > LENGTH_MAX) {
    return `has ${LENGTH_MIN} to ${LENGTH_MAX} characters`
  }
  if (!/^[a-z0-9_.]+$/.test(handle)) return 'has only the letters a to z, digits, _ and .'
  if (/^\.|\.$|\.\./.test(handle)) return 'has no . at its ends and no two in a row'
  return undefined
}
