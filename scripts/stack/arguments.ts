/** The command line of `npm run stack`, as a value. */
import { Command, CommanderError, Option } from 'commander'
import { UsageError } from './failures.ts'
import { parseOffset } from './place.ts'
import { type EngineName, engineNames } from './settings.ts'

export type Action = 'up' | 'down' | 'status' | 'reset' | 'kill' | 'start'

export interface Request {
  readonly action: Action
  readonly engine?: EngineName
  readonly dir?: string
  readonly offset?: number
  readonly ring: boolean
  readonly docker: boolean
}

/** `--help` was asked for: the text is the answer. */
export interface HelpText {
  readonly action: 'help'
  readonly text: string
}

const examples = `
Examples:
  npm run stack -- up                 Redis, Cassandra and Kafka on loopback ports
  npm run stack -- up --ring          three Redis Cluster masters as well
  npm run stack -- kill cassandra     SIGKILL, as a crash would
  npm run stack -- start cassandra    again, on the same data
  npm run stack -- up --offset 100    a second stack beside the first, in .stack-100
  npm run stack -- reset              stop, and delete all data; jars stay in the cache

Environment:
  TRIBUTARY_STACK_DIR, TRIBUTARY_STACK_OFFSET   as --dir and --offset
  JAVA_HOME                                     the Java 17 to use

Exit codes: 0 done; 1 an engine failed, or for status: not all is up; 2 wrong arguments;
3 a program is missing (the message says what to install).`

/** Options stand on every command, so that they may follow it and still be checked against it. */
function place(command: Command): Command {
  return command
    .option('--dir <dir>', 'folder for data, logs and pids (default: .stack in the checkout)')
    .addOption(
      new Option('--offset <n>', 'added to all ports; a multiple of 100').argParser(parseOffset),
    )
}

interface Flags {
  readonly dir?: string
  readonly offset?: number
  readonly ring?: boolean
  readonly docker?: boolean
}

function buildProgram(take: (request: Request) => void): Command {
  const program = new Command('npm run stack --')
  program.description('The real engines on this machine, for tests and benches.')
  program.addHelpText('after', examples)
  const accept = (action: Action, flags: Flags, engine?: EngineName) => {
    const { ring = false, docker = true, ...rest } = flags
    take({ action, ring, docker, ...rest, ...(engine ? { engine } : {}) })
  }
  place(program.command('up').description('start what does not run yet, wait until it serves'))
    .option('--ring', 'three Redis Cluster masters as well')
    .option('--no-docker', 'processes on this machine even where a Docker engine answers')
    .action((flags: Flags) => accept('up', flags))
  const plain = [
    ['down', 'stop the engines this stack started, and no others'],
    ['status', 'what runs, where, and its log'],
    ['reset', 'down, then delete data, logs and configuration'],
  ] as const
  for (const [action, about] of plain) {
    place(program.command(action).description(about)).action((flags: Flags) =>
      accept(action, flags),
    )
  }
  for (const [action, about] of [
    ['kill', 'end one engine with SIGKILL'],
    ['start', 'start one engine again on its data, wait until it serves'],
  ] as const) {
    place(
      program.command(`${action} <engine>`).description(`${about}: ${engineNames.join(', ')}`),
    ).action((engine: string, flags: Flags) => accept(action, flags, parseEngine(engine)))
  }
  return program
}

function parseEngine(text: string): EngineName {
  const engine = engineNames.find((name) => name === text)
  if (engine) return engine
  const similar = engineNames.find((name) => name[0] === text[0])
  const hint = similar ? `\n(Did you mean ${similar}?)` : ''
  throw new UsageError(`unknown engine '${text}'; there are ${engineNames.join(', ')}${hint}`)
}

const noCommand = 'name a command: up, down, status, reset, kill or start (--help explains them)'

/** Throws a UsageError that says what is wrong and what was probably meant. */
export function parseArguments(argv: readonly string[]): Request | HelpText {
  let request: Request | undefined
  let output = ''
  const program = buildProgram((taken) => {
    request = taken
  })
  const write = (text: string) => {
    output += text
  }
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ writeOut: write, writeErr: write })
  }
  try {
    program.parse(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.code === 'commander.helpDisplayed') return { action: 'help', text: output }
    // Commander answers an empty command line with the whole help text.
    if (error.code === 'commander.help') throw new UsageError(noCommand)
    throw new UsageError(output.trim().replace(/^error: /, ''))
  }
  if (request === undefined) throw new UsageError(noCommand)
  return request
}
