/**
 * What is said over the control socket: one line of JSON asks, one line answers.
 */
import { BadInputError, DomainError, type ErrorCode } from '../../services/kernel/errors.ts'
import type { Arguments } from './commands.ts'

export const LINE_BYTES_MAX = 4 * 1024 * 1024

export interface ControlRequest {
  readonly command: string
  readonly words: Arguments
  readonly actor: string
}

export type ControlReply =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false
      readonly code: ErrorCode | 'INTERNAL'
      readonly message: string
      readonly field?: string
    }

/** A fault of the running program, told by it. */
export class ControlError extends DomainError {
  override readonly name = 'ControlError'
  readonly code: ErrorCode

  constructor(reply: Extract<ControlReply, { ok: false }>) {
    super(reply.message, reply.field === undefined ? {} : { field: reply.field })
    this.code = reply.code === 'INTERNAL' ? 'UNAVAILABLE' : reply.code
  }
}

export const parseRequest = (line: string): ControlRequest => {
  const parsed: unknown = parseJson(line)
  if (isRequest(parsed)) return parsed
  throw new BadInputError('a request is { command, words, actor } on one line')
}

const parseJson = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new BadInputError('a request is one line of JSON', { cause })
  }
}

const isRequest = (value: unknown): value is ControlRequest => {
  if (typeof value !== 'object' || value === null) return false
  const { command, words, actor } = value as Record<keyof ControlRequest, unknown>
  return (
    typeof command === 'string' &&
    typeof actor === 'string' &&
    typeof words === 'object' &&
    words !== null &&
    Object.values(words).every((word) => typeof word === 'string')
  )
}

/** A fault as it is told; what is not a domain error stays inside. */
export const faultReply = (error: unknown): ControlReply => {
  if (!(error instanceof DomainError)) {
    return { ok: false, code: 'INTERNAL', message: 'something went wrong; see the program’s log' }
  }
  const { code, message, field } = error
  return { ok: false, code, message, ...(field === undefined ? {} : { field }) }
}
