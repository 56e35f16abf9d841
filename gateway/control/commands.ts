/**
 * The commands an operator has: one table, whether they run in the program that serves or in one
 * that opened the engines for this alone. Arguments are words, results are JSON.
 */
import type { AuditEntry } from '../../services/audit/audit.ts'
import type { Services } from '../../services/compose.ts'
import type { DeadLetter } from '../../services/dead-letter/dead-letter.ts'
import { BadInputError, NotFoundError } from '../../services/kernel/errors.ts'
import { formatId, parseId } from '../../services/kernel/ids.ts'
import { nearest } from '../../services/kernel/nearest.ts'
import { checkFirst, type Page } from '../../services/kernel/page.ts'
import type { Settings } from '../../services/kernel/settings.ts'

export type Arguments = Readonly<Record<string, string>>

export interface CommandContext {
  readonly services: Services
  /** Who asks, for the audit trail. */
  readonly actor: string
  readonly backup: ((folder: string) => Promise<void>) | undefined
}

type Command = (words: Arguments, context: CommandContext) => unknown

const LIST_MAX = 1000

const commands = {
  'settings.list': (_words, { services }) => services.settings.list(),
  'settings.get': (words, { services }) => services.settings.get(need(words, 'name')),
  'settings.set': (words, { services, actor }) =>
    services.settings.set(need(words, 'name'), need(words, 'value'), actor),
  'settings.history': async (words, { services }) =>
    (await services.settings.history(limitOf(words))).map(showEntry),
  'dead-letters.list': async (words, { services }) => {
    const { limit: _first, ...query } = words
    const page = await services.deadLetters.list({ ...query, first: limitOf(words) })
    return { ...page, items: page.items.map(showLetter) }
  },
  'dead-letters.show': async (words, { services }) =>
    showLetter(await services.deadLetters.show(idOf(words))),
  'dead-letters.replay': async (words, { services, actor }) =>
    showLetter(await services.deadLetters.replay(idOf(words), actor)),
  'dead-letters.drop': async (words, { services, actor }) =>
    showLetter(await services.deadLetters.drop(idOf(words), actor)),
  'accounts.grant': async (words, { services, actor }) => {
    const { accounts } = services
    const scopes = need(words, 'scopes').split(',')
    const account = await accounts.grant(need(words, 'handle'), scopes, actor)
    return { handle: account.handle, scopes: account.scopes }
  },
  backup: async (words, { backup }) => {
    if (!backup) throw new BadInputError('only the embedded engines are backed up by this command')
    const folder = need(words, 'folder')
    await backup(folder)
    return { folder }
  },
} as const satisfies Record<string, Command>

export type CommandName = keyof typeof commands

export const isCommand = (name: string): name is CommandName => Object.hasOwn(commands, name)

export const runCommand = async (
  name: string,
  words: Arguments,
  context: CommandContext,
): Promise<unknown> => {
  if (isCommand(name)) return await commands[name](words, context)
  const close = nearest(name, Object.keys(commands))
  throw new BadInputError(`there is no command ${name}${close ? `, did you mean ${close}?` : ''}`)
}

/**
 * Where nothing was ever stored, only a change begins something: the settings are those of the
 * environment, and whoever asks for more has probably named another folder than they meant.
 */
export const runWithoutData = (
  name: CommandName,
  words: Arguments,
  { settings, dataFolder }: { readonly settings: Settings; readonly dataFolder: string },
): unknown => {
  if (name === 'settings.list') return settings.lines()
  if (name === 'settings.get') return settings.line(need(words, 'name'))
  throw new NotFoundError(
    `there is no data in ${dataFolder}: start \`tributary serve\` on it, or name another by --data`,
  )
}

/** Commands that may be the first to store something. */
export const beginsData = (name: CommandName): boolean => name === 'settings.set'

/** What is true of a letter, as a person or a script reads it. */
export interface LetterView {
  readonly id: string
  readonly group: string
  readonly topic: string
  readonly partition: number
  readonly offset: string
  readonly key: string
  readonly attempts: number
  readonly reason: string
  readonly traceId: string
  readonly firstFailedAt: string
  readonly diedAt: string
  readonly event: string
  readonly headers: Readonly<Record<string, string>>
}

export type LetterPage = Page<LetterView>

const showLetter = (letter: DeadLetter): LetterView => {
  const { group, topic, partition, attempts, reason, traceId, event } = letter
  return {
    id: formatId(letter.id),
    ...{ group, topic, partition, offset: `${letter.offset}`, key: event.key },
    ...{ attempts, reason, traceId },
    firstFailedAt: new Date(letter.firstFailedAt).toISOString(),
    diedAt: new Date(letter.diedAt).toISOString(),
    ...{ event: event.value, headers: event.headers },
  }
}

const showEntry = ({ id, at, actor, action, subject, detail }: AuditEntry) => ({
  id: formatId(id),
  at: new Date(at).toISOString(),
  ...{ actor, action, subject, detail },
})

const need = (words: Arguments, name: string): string => {
  const word = words[name]
  if (word !== undefined) return word
  throw new BadInputError(`the command needs a ${name}`, { field: name })
}

const idOf = (words: Arguments): bigint => parseId(need(words, 'id'))

const limitOf = ({ limit = '100' }: Arguments): number => checkFirst(Number(limit), LIST_MAX)
