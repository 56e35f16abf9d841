/** Java command lines, kept in a file of arguments: readable, and short in a process list. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Command } from './processes.ts'
import { isOnPath } from './requirements.ts'

/** The JVM reads the file word by word; quotes keep blanks, and backslashes need doubling. */
export function renderArguments(args: readonly string[]): string {
  return args.map((arg) => `"${arg.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"\n`).join('')
}

/**
 * Each engine unpacks native libraries into its temporary folder and, when killed, leaves them
 * there; a folder of its own, emptied at every start, keeps fault tests from filling the machine's.
 */
export function javaCommand(java: string, file: string, args: readonly string[]): Command {
  const temporary = file.replace(/\.args$/, '.tmp')
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary, { recursive: true })
  writeFileSync(file, renderArguments([`-Djava.io.tmpdir=${temporary}`, ...args]))
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
