/**
 * What a client is told of a failure: the one table from domain errors to codes and HTTP statuses.
 *
 * A domain error speaks for itself. Anything else is a fault of ours: it is written down with the
 * trace id, and the client gets `INTERNAL` and that id, never a message or a stack.
 */
import { randomBytes } from 'node:crypto'
import { HeaderMap } from '@apollo/server'
import { GraphQLError, type GraphQLFormattedError } from 'graphql'
import type { UserError, UserErrorCode } from '../schema/generated/resolvers-types.ts'
import { DomainError, type ErrorCode } from '../services/kernel/errors.ts'
import type { Telemetry } from '../services/platform/telemetry.ts'

interface Row {
  readonly status: number
  /** Instead of the error's own message, which may name engines and rows. */
  readonly message?: string
}

const TABLE: Readonly<Record<ErrorCode, Row>> = {
  BAD_INPUT: { status: 400 },
  UNAUTHENTICATED: { status: 401 },
  FORBIDDEN: { status: 403 },
  NOT_FOUND: { status: 404 },
  CONFLICT: { status: 409 },
  TOO_LARGE: { status: 413 },
  RATE_LIMITED: { status: 429 },
  CURSOR_INVALID: { status: 400 },
  CURSOR_OUTDATED: { status: 400 },
  OVERLOADED: { status: 503, message: 'too much is under way: try again shortly' },
  UNAVAILABLE: { status: 503, message: 'a part does not answer: nothing was done, try again' },
  OUTCOME_UNKNOWN: {
    status: 504,
    message: 'a part did not answer in time: it may have been done, ask before you try again',
  },
  DAMAGED: { status: 500, message: 'stored data cannot be read: it has been reported' },
}

/** Codes that a mutation puts into `userErrors`; the others are errors of the operation. */
const USER_CODES: Readonly<Record<UserErrorCode, true>> = {
  BAD_INPUT: true,
  UNAUTHENTICATED: true,
  FORBIDDEN: true,
  NOT_FOUND: true,
  CONFLICT: true,
  TOO_LARGE: true,
}

const isUserCode = (code: ErrorCode): code is UserErrorCode => Object.hasOwn(USER_CODES, code)

export const statusOf = (code: ErrorCode): number => TABLE[code].status

/** What the input did wrong; anything else is thrown on. */
export const userErrorOf = (error: unknown): UserError => {
  if (!(error instanceof DomainError) || !isUserCode(error.code)) throw error
  return { code: error.code, field: error.field ?? null, message: error.message }
}

/** An error of the whole request: Apollo takes the status from `extensions.http`. */
export const requestError = (error: DomainError): GraphQLError => {
  const headers = new HeaderMap()
  if (error.code === 'UNAUTHENTICATED') headers.set('www-authenticate', 'Bearer')
  if (error.retriable) headers.set('retry-after', '1')
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { http: { status: statusOf(error.code), headers } },
  })
}

/** Codes of graphql's own refusals. Those of Apollo that are not here become BAD_INPUT. */
const DOCUMENT_CODES = new Set(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'])

export interface PresenterOptions {
  readonly telemetry: Telemetry
  /** Whether to say `Did you mean …?`, which tells the schema to whoever guesses. */
  readonly suggests: boolean
}

export class ErrorPresenter {
  readonly #telemetry: Telemetry
  readonly #suggests: boolean
  readonly #presented = new WeakMap<object, GraphQLFormattedError>()

  constructor({ telemetry, suggests }: PresenterOptions) {
    this.#telemetry = telemetry
    this.#suggests = suggests
  }

  /** Once for each error, however often it is asked: the first time decides on the trace. */
  present(error: unknown): GraphQLFormattedError {
    if (typeof error !== 'object' || error === null) return this.#present(error)
    const presented = this.#presented.get(error) ?? this.#present(error)
    this.#presented.set(error, presented)
    return presented
  }

  #present(error: unknown): GraphQLFormattedError {
    const located = error instanceof GraphQLError ? error : undefined
    const cause = causeOf(error)
    const told = { ...place(located) }
    if (cause instanceof DomainError) return { ...told, ...domainPart(cause, this.#trace(cause)) }
    if (cause instanceof GraphQLError && isClients(located, cause)) {
      return { ...told, message: this.#plain(cause.message), extensions: { code: codeOf(located) } }
    }
    const traceId = this.#record(cause, 'an operation failed')
    const message = 'something went wrong here: ask with the trace id'
    return { ...told, message, extensions: { code: 'INTERNAL', traceId } }
  }

  /** Engines that fail are for operators to see; what a client did wrong is not. */
  #trace(error: DomainError): string | undefined {
    return statusOf(error.code) < 500 ? undefined : this.#record(error, 'an operation was refused')
  }

  #record(error: unknown, text: string): string {
    const traceId = this.#telemetry.traceId() ?? randomBytes(16).toString('hex')
    this.#telemetry.log.error({ err: error, traceId }, text)
    return traceId
  }

  #plain(message: string): string {
    return this.#suggests ? message : message.replace(/ Did you mean [^?]*\?/g, '')
  }
}

/** The error a resolver threw, beneath what graphql wrapped around it. */
const causeOf = (error: unknown): unknown =>
  error instanceof GraphQLError && error.originalError ? causeOf(error.originalError) : error

/**
 * graphql's own errors are the client's doing before execution has begun, and when they point at
 * an argument. Those of a value that does not fit its field are ours.
 */
const isClients = (located: GraphQLError | undefined, cause: GraphQLError): boolean =>
  located?.path === undefined || cause.nodes?.some(({ kind }) => kind !== 'Field') === true

/** The outermost error carries the code; the compiler's errors may carry nothing. */
const codeOf = (error: Partial<Pick<GraphQLError, 'extensions'>> = {}): string => {
  const code = error.extensions?.['code']
  return typeof code === 'string' && DOCUMENT_CODES.has(code) ? code : 'BAD_INPUT'
}

const place = (error: GraphQLError | undefined): Omit<GraphQLFormattedError, 'message'> => ({
  ...(error?.locations ? { locations: error.locations } : {}),
  ...(error?.path ? { path: error.path } : {}),
})

const domainPart = (error: DomainError, traceId: string | undefined) => ({
  message: TABLE[error.code].message ?? error.message,
  extensions: {
    code: error.code,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.retriable ? { retriable: true } : {}),
    ...('details' in error && typeof error.details === 'object' ? error.details : {}),
    ...(traceId === undefined ? {} : { traceId }),
  },
})
