/** What a failure of ioredis or an error reply of Redis means to us. */
import { DomainError } from '../../kernel/errors.ts'
import { WrongKindError } from '../cache.ts'

/** Refused before anything was done: the same call may be sent again. */
const REDIRECTED = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN)\b/
/** The server is there but cannot serve now. */
const NOT_NOW =
  /^(READONLY|LOADING|MASTERDOWN|NOREPLICAS|OOM|BUSY|MISCONF|NOAUTH|WRONGPASS|NOPERM|UNKILLABLE)\b/

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

const isReply = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError'

export const isRedirect = (error: unknown): boolean =>
  isReply(error) && REDIRECTED.test(messageOf(error))

export const isFunctionMissing = (error: unknown): boolean =>
  isReply(error) && /function not found/i.test(messageOf(error))

export type FailureMaker = (message: string, details: { readonly cause: unknown }) => Error

/**
 * The error a caller of a port sees: `unavailable` when the server did not or could not answer, and
 * a plain error, which is a bug of ours, when it did and said that the call makes no sense.
 */
export const translate = (error: unknown, unavailable: FailureMaker): Error => {
  if (error instanceof DomainError) return error
  const message = messageOf(error)
  if (!isReply(error) || REDIRECTED.test(message) || NOT_NOW.test(message)) {
    return unavailable(`Redis did not answer: ${message}`, { cause: error })
  }
  if (/\bWRONGTYPE\b/.test(message)) {
    return new WrongKindError('a cache key is used as another kind than it has', { cause: error })
  }
  return new Error(`Redis refused a call: ${message}`, { cause: error })
}
