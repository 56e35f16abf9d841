/** Java command lines, kept in a file of arguments: readable, and short in a process list. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Command } from './processes.ts'
import { isOnPath } from './requirements.ts'

/** The JVM reads the file word by word; quotes keep blanks, and backslashes need doubling. */
export function renderArguments(args: readonly string[]): string {
  return args.map((arg) => `"${arg.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"\n`).join('')
}

export function javaCommand(java: string, file: string, args: readonly string[]): Command {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, renderArguments(args))
  return withoutMemoryLock({ file: java, args: [`@${file}`] })
}

/**
 * Cassandra locks its whole heap into memory whenever it may, which root may. Taking that one
 * capability away keeps the heap as small as it is in use; a warning in the log is all that follows.
 */
function withoutMemoryLock(command: Command): Command {
  if (process.getuid?.() !== 0 || !isOnPath('setpriv')) return command
  return { file: 'setpriv', args: ['--bounding-set=-ipc_lock', command.file, ...command.args] }
}
