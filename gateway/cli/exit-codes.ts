/** What the exit code of a command says. Scripts rely on it: a number never changes its meaning. */
import { DomainError, type ErrorCode } from '../../services/kernel/errors.ts'

export const EXIT = { ok: 0, failed: 1, usage: 2, unreachable: 3, folder: 4 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_HELP = `Exit codes:
  0  done
  1  failed; the message says why
  2  a mistake in the command, in a flag or in a setting
  3  an engine cannot be reached
  4  the data folder is in use by another process, damaged, or of a newer version`

const BY_CODE: Partial<Record<ErrorCode, ExitCode>> = {
  BAD_INPUT: EXIT.usage,
  TOO_LARGE: EXIT.usage,
  UNAVAILABLE: EXIT.unreachable,
  OVERLOADED: EXIT.unreachable,
  OUTCOME_UNKNOWN: EXIT.unreachable,
  CONFLICT: EXIT.folder,
  DAMAGED: EXIT.folder,
}

export const exitCodeOf = (error: unknown): ExitCode =>
  error instanceof DomainError ? (BY_CODE[error.code] ?? EXIT.failed) : EXIT.failed

/** A fault and what caused it, in lines for a person. */
export const describeFault = (error: unknown): string => {
  const lines: string[] = []
  for (let fault = error; fault instanceof Error && lines.length < 5; fault = fault.cause) {
    const known = fault instanceof DomainError
    const text = known ? fault.message : `${fault.name}: ${fault.message}`
    lines.push(lines.length === 0 ? `tributary: ${text}` : `  because: ${text}`)
  }
  return lines.length > 0 ? lines.join('\n') : `tributary: ${String(error)}`
}
