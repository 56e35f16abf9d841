/** The three ways a stack command fails, each with an exit code of its own. */

/** Something went wrong at run time: an engine that does not start, a port that is taken. */
export class StackError extends Error {
  override readonly name: string = 'StackError'
  readonly exitCode: number = 1
}

export class UsageError extends StackError {
  override readonly name = 'UsageError'
  override readonly exitCode = 2
}

/** A program this machine lacks. The message says what to install. */
export class MissingRequirementError extends StackError {
  override readonly name = 'MissingRequirementError'
  override readonly exitCode = 3
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
