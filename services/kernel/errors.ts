/**
 * Everything that can go wrong in a way a caller should know about.
 *
 * One base class, a closed set of codes that clients may rely on, `cause` kept. A bug is not a
 * domain error: it is an assertion, and it crashes the request. The gateway maps codes to GraphQL
 * and HTTP in one table, so a code added here must be added there.
 */
export type ErrorCode =
  /** The caller sent something that can never work; `field` says what. */
  | 'BAD_INPUT'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  /** Somebody else got there first, or holds it. */
  | 'CONFLICT'
  | 'TOO_LARGE'
  | 'RATE_LIMITED'
  | 'CURSOR_INVALID'
  | 'CURSOR_OUTDATED'
  /** A bound of ours is reached: later may work. */
  | 'OVERLOADED'
  /** An engine did not answer: nothing was done. */
  | 'UNAVAILABLE'
  /** An engine did not answer in time: it may or may not have been done. */
  | 'OUTCOME_UNKNOWN'
  /** Stored data cannot be read; a person has to look. */
  | 'DAMAGED'

export interface ErrorDetails {
  readonly cause?: unknown
  readonly field?: string
}

export abstract class DomainError extends Error {
  abstract readonly code: ErrorCode
  /** Whether the same call may work later, unchanged. */
  readonly retriable: boolean = false
  /** The input at fault, as the caller named it. */
  readonly field: string | undefined

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.field = details.field
  }
}

export class BadInputError extends DomainError {
  override readonly name = 'BadInputError'
  readonly code = 'BAD_INPUT'
}

/** Nobody is signed in, or what was shown to prove it is not good. */
export class UnauthenticatedError extends DomainError {
  override readonly name = 'UnauthenticatedError'
  readonly code = 'UNAUTHENTICATED'
}

/** Known, but not allowed. */
export class ForbiddenError extends DomainError {
  override readonly name = 'ForbiddenError'
  readonly code = 'FORBIDDEN'
}

export class NotFoundError extends DomainError {
  override readonly name = 'NotFoundError'
  readonly code = 'NOT_FOUND'
}

export class ConflictError extends DomainError {
  override readonly name = 'ConflictError'
  readonly code = 'CONFLICT'
}

export class TooLargeError extends DomainError {
  override readonly name = 'TooLargeError'
  readonly code = 'TOO_LARGE'
}

/** A cursor that this list never gave to this reader. */
export class CursorInvalidError extends DomainError {
  override readonly name = 'CursorInvalidError'
  readonly code = 'CURSOR_INVALID'
}

/** A cursor that was good once: begin again without it. */
export class CursorOutdatedError extends DomainError {
  override readonly name = 'CursorOutdatedError'
  readonly code = 'CURSOR_OUTDATED'
}

export class OverloadedError extends DomainError {
  override readonly name = 'OverloadedError'
  readonly code = 'OVERLOADED'
  override readonly retriable = true
}

export class UnavailableError extends DomainError {
  override readonly name: string = 'UnavailableError'
  readonly code = 'UNAVAILABLE'
  override readonly retriable = true
}

/** A write was sent and nothing came back: retry only what is idempotent. */
export class OutcomeUnknownError extends DomainError {
  override readonly name: string = 'OutcomeUnknownError'
  readonly code = 'OUTCOME_UNKNOWN'
  override readonly retriable = true
}

export class DamagedError extends DomainError {
  override readonly name = 'DamagedError'
  readonly code = 'DAMAGED'
}

/** Crashes the request on a state the code rules out. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
