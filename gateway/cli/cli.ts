/**
 * The command line: what can be typed, and what is printed. What a command does is handed in, so
 * this file opens no engine and reads no environment.
 */
import { resolve } from 'node:path'
import { Command, CommanderError, Option } from 'commander'
import { nearest } from '../../services/kernel/nearest.ts'
import type { SettingLine } from '../../services/kernel/settings.ts'
import type { Arguments, CommandName, LetterPage, LetterView } from '../control/commands.ts'
import type { Flags } from './environment.ts'
import { describeFault, EXIT, EXIT_HELP, type ExitCode, exitCodeOf } from './exit-codes.ts'
import { textTable } from './text-table.ts'

export interface Actions {
  readonly version: string
  /** Serves until the process is told to stop. */
  serve(flags: Flags): Promise<void>
  /** Says what it did. */
  migrate(flags: Flags, progress: (text: string) => void): Promise<void>
  /** Runs a command in the program that has the data folder, or on engines opened for it. */
  command(name: CommandName, words: Arguments, flags: Flags): Promise<unknown>
  restore(folder: string, flags: Flags): Promise<string>
  out(text: string): void
  err(text: string): void
}

export const runCli = async (argv: readonly string[], actions: Actions): Promise<ExitCode> => {
  try {
    await buildProgram(actions).parseAsync([...argv], { from: 'user' })
    return EXIT.ok
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    actions.err(`${describeFault(error)}\n`)
    return exitCodeOf(error)
  }
}

const buildProgram = (actions: Actions): Command => {
  const program = new Command('tributary')
    .description('A social-feed backend in one program, on embedded engines or on a cluster.')
    .version(actions.version, '-V, --version', 'print the version')
    .helpCommand(false)
    .showHelpAfterError('(tributary --help lists commands and flags)')
    .addHelpText('after', `\n${EXAMPLES}\n\n${EXIT_HELP}`)
    .configureOutput({ writeOut: actions.out, writeErr: actions.err })
    .exitOverride()
  addServe(program, actions)
  addMigrate(program, actions)
  addSettings(program, actions)
  addDeadLetters(program, actions)
  addAccounts(program, actions)
  addBackup(program, actions)
  program
    .command('version')
    .description('print the version')
    .action(() => actions.out(`${actions.version}\n`))
  return program
}

const EXAMPLES = `Examples:
  tributary serve                                 everything in one process, data in .data
  tributary serve --engine=cluster --role=audit   one role on Cassandra, Redis and Kafka
  tributary settings set telemetry.level debug    change a live setting of all processes
  tributary dead-letters list --json              events the workers have given up
  tributary accounts grant ada read,write,admin   what an account's sessions may do
  tributary backup /var/backups/tributary         a copy, taken while it serves

Every setting is a variable: telemetry.level is TRIBUTARY_TELEMETRY_LEVEL; a secret may lie in the
file that TRIBUTARY_…_FILE names. \`tributary settings\` lists them all.`

interface EngineFlags {
  readonly engine?: string
  readonly data?: string
}

interface ServeFlags extends EngineFlags {
  readonly role?: string
  readonly port?: string
  readonly host?: string
}

const withEngine = (command: Command): Command =>
  command
    .addOption(new Option('--engine <kind>', 'where data lives').choices(['embedded', 'cluster']))
    .option('--data <folder>', 'the folder of the embedded engines')

const FLAG_SETTINGS = {
  engine: 'engine.kind',
  data: 'engine.dataFolder',
  role: 'server.roles',
  port: 'server.port',
  host: 'server.host',
} as const

const flagsOf = (given: ServeFlags): Flags => {
  const flags = new Map<string, string>()
  for (const name of ['engine', 'data', 'role', 'port', 'host'] as const) {
    const value = given[name]
    if (value !== undefined) flags.set(FLAG_SETTINGS[name], value)
  }
  return flags
}

const addServe = (program: Command, actions: Actions): void => {
  withEngine(program.command('serve').description('run the program until it is told to stop'))
    .option('--role <roles>', 'what this process does, separated by commas (default: all)')
    .option('--port <number>', 'the port to listen on (default: 4000)')
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1)')
    .addHelpText('after', '\nSIGTERM and SIGINT stop it in order; a second signal ends it at once.')
    .action((given: ServeFlags) => actions.serve(flagsOf(given)))
}

const addMigrate = (program: Command, actions: Actions): void => {
  withEngine(program.command('migrate'))
    .description('create or update the keyspace and the topics of a cluster')
    .action(async (given: EngineFlags) => {
      await actions.migrate(flagsOf(given), (text) => actions.out(`${text}\n`))
    })
}

interface OutputFlags extends EngineFlags {
  readonly json?: boolean
  readonly limit?: string
  readonly group?: string
  readonly after?: string
}

const withOutput = (command: Command): Command =>
  withEngine(command).option('--json', 'print JSON instead of a table')

/** `list` may be left out; a word in its place that is no command is refused, not listed. */
const defaultList = (group: Command): Command =>
  group
    .command('list', { isDefault: true })
    .allowExcessArguments()
    .hook('preAction', (_group, { args: [word] }) => {
      if (word === undefined) return
      const names = group.commands.map((each) => each.name())
      const close = nearest(word, names)
      const hint = close ? `\n(Did you mean ${close}?)` : ''
      group.error(`error: unknown command '${word}'${hint}`, { exitCode: 2 })
    })

const SETTING_COLUMNS = [
  'name',
  'value',
  'default',
  'range',
  'unit',
  'live',
  'source',
  'about',
] as const

const addSettings = (program: Command, actions: Actions): void => {
  const group = program.command('settings').description('read and change settings')
  const lines = (given: OutputFlags, value: unknown) => {
    const list = (Array.isArray(value) ? value : [value]) as SettingLine[]
    print(actions, given, value, () => textTable(list, SETTING_COLUMNS))
  }
  withOutput(defaultList(group).description('every setting and its value')).action(
    async (given: OutputFlags) => {
      lines(given, await actions.command('settings.list', {}, flagsOf(given)))
    },
  )
  withOutput(group.command('get <name>').description('one setting')).action(
    async (name: string, given: OutputFlags) => {
      lines(given, await actions.command('settings.get', { name }, flagsOf(given)))
    },
  )
  withOutput(
    group.command('set <name> <value>').description('change a live setting everywhere'),
  ).action(async (name: string, value: string, given: OutputFlags) => {
    lines(given, await actions.command('settings.set', { name, value }, flagsOf(given)))
  })
  withOutput(group.command('history').description('what was changed, by whom, newest first'))
    .option('--limit <count>', 'how many', '100')
    .action(async ({ limit = '100', ...given }: OutputFlags) => {
      const value = await actions.command('settings.history', { limit }, flagsOf(given))
      print(actions, given, value, () =>
        textTable(value as HistoryLine[], ['at', 'actor', 'subject', 'detail']),
      )
    })
}

interface HistoryLine {
  readonly at: string
  readonly actor: string
  readonly subject: string
  readonly detail: string
}

const LETTER_COLUMNS = ['id', 'group', 'topic', 'key', 'attempts', 'diedAt', 'reason'] as const

const addDeadLetters = (program: Command, actions: Actions): void => {
  const group = program.command('dead-letters').description('events the workers have given up')
  withOutput(defaultList(group).description('newest first'))
    .option('--group <name>', 'those of one worker')
    .option('--limit <count>', 'how many', '100')
    .option('--after <place>', 'where the page before ended')
    .action(async ({ limit = '100', group: name, after, ...given }: OutputFlags) => {
      const words = {
        limit,
        ...(name === undefined ? {} : { group: name }),
        ...(after === undefined ? {} : { after }),
      }
      const value = await actions.command('dead-letters.list', words, flagsOf(given))
      print(actions, given, value, () => letterTable(value as LetterPage))
    })
  for (const [verb, about] of LETTER_VERBS) {
    withOutput(group.command(`${verb} <id>`).description(about)).action(
      async (id: string, given: OutputFlags) => {
        const value = await actions.command(`dead-letters.${verb}`, { id }, flagsOf(given))
        const letter = value as LetterView
        print(actions, given, value, () => (verb === 'show' ? pairs(letter) : done(verb, letter)))
      },
    )
  }
}

const LETTER_VERBS = [
  ['show', 'all that is known of one'],
  ['replay', 'hand one to its worker again, before later events of its key'],
  ['drop', 'remove one for good'],
] as const

const letterTable = ({ items, next }: LetterPage): string => {
  if (items.length === 0) return 'There are no dead letters.'
  const more = next === undefined ? '' : `\nThere are more: --after ${next}`
  return textTable(items, LETTER_COLUMNS) + more
}

const pairs = (letter: LetterView): string =>
  Object.entries(letter)
    .map(([name, value]) => {
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
      return `${name.padEnd(14)}${text}`
    })
    .join('\n')

const done = (verb: 'replay' | 'drop', { id, group }: LetterView): string =>
  verb === 'replay' ? `${id} handed to ${group} again` : `${id} of ${group} dropped`

const addAccounts = (program: Command, actions: Actions): void => {
  const group = program.command('accounts').description('what accounts may do')
  withOutput(group.command('grant <handle> <scopes>'))
    .description('let the sessions of an account do this and nothing else: read,write,moderate,…')
    .action(async (handle: string, scopes: string, given: OutputFlags) => {
      const value = await actions.command('accounts.grant', { handle, scopes }, flagsOf(given))
      print(actions, given, value, () => `${handle} may ${scopes} when they sign in again`)
    })
}

const addBackup = (program: Command, actions: Actions): void => {
  withOutput(program.command('backup <folder>'))
    .description('copy everything the embedded engines hold, while they serve')
    .action(async (target: string, given: OutputFlags) => {
      // The program that copies may run in another folder.
      const folder = resolve(target)
      const value = await actions.command('backup', { folder }, flagsOf(given))
      print(actions, given, value, () => `copied to ${folder}`)
    })
  withEngine(program.command('restore <folder>'))
    .description('put such a copy in the place of an empty data folder')
    .action(async (folder: string, given: EngineFlags) => {
      actions.out(`${await actions.restore(folder, flagsOf(given))}\n`)
    })
}

const print = (
  actions: Actions,
  { json = false }: OutputFlags,
  value: unknown,
  text: () => string,
): void => actions.out(`${json ? JSON.stringify(value, null, 2) : text()}\n`)
