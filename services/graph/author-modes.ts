/** The modes of authors as they are kept: decided by compare-and-set, and announced. */
import { DamagedError, UnavailableError } from '../kernel/errors.ts'
import { AuthorModeChanged, makeEvent } from '../kernel/events.ts'
import {
  type AccountId,
  arrivalMs,
  type EventId,
  formatId,
  type IdGenerator,
  parseId,
} from '../kernel/ids.ts'
import type { Values } from '../kernel/settings.ts'
import type { Clock } from '../platform/clock.ts'
import type { Commit } from '../platform/commit.ts'
import { letOthersPass } from '../platform/contention.ts'
import { type AuthorModesRow, authorModes } from '../platform/generated/tables.ts'
import type { Pending } from '../platform/pending.ts'
import type { ReadOptions, Tables } from '../platform/tables.ts'
import {
  filledMode,
  type Goal,
  type Mode,
  type ModeFacts,
  type ModeState,
  nextMode,
  PUSHED,
} from './author-mode.ts'
import type { graphSettings } from './settings.ts'

export interface AuthorMode {
  readonly mode: Mode
  /** 0 for an author who has always been pushed. */
  readonly version: bigint
}

export interface AuthorModesOptions {
  readonly tables: Tables
  readonly commit: Commit
  readonly pending: Pending
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly settings: Values<typeof graphSettings>
  /** How many follow each of these, exactly. */
  readonly followersOf: (author: AccountId) => Promise<number>
}

interface KeptMode extends ModeState {
  readonly version: bigint
  readonly eventId: EventId
}

type Step = (state: ModeState, facts: ModeFacts) => ModeState

const TASK = 'author-mode'

export class AuthorModes {
  readonly #options: AuthorModesOptions

  constructor(options: AuthorModesOptions) {
    this.#options = options
    options.pending.resumes(TASK, (subject) => this.#resume(parseId(subject)))
  }

  /** The modes in the order of the authors. */
  async of(authors: readonly AccountId[]): Promise<AuthorMode[]> {
    const keys = authors.map((authorId) => ({ authorId }))
    const rows = await this.#options.tables.getMany(authorModes, keys)
    return rows.map((row) => {
      const { mode, version } = keptOf(row)
      return { mode, version }
    })
  }

  /** Takes the step that is due, where one is. Most often none is, so the first look is a plain one. */
  async evaluate(author: AccountId): Promise<AuthorMode> {
    const kept = await this.#read(author, {})
    const facts = this.#facts(await this.#options.followersOf(author))
    if (nextMode(kept, facts) === kept) return kept
    return await this.#change(author, facts, nextMode)
  }

  /**
   * The feeds of the author's followers hold what was not pushed while the mode had this version:
   * posts are pushed alone from now on, unless the mode or the goal has changed meanwhile.
   */
  async filled(author: AccountId, version: bigint): Promise<AuthorMode> {
    const facts = this.#facts(await this.#options.followersOf(author))
    return await this.#change(author, facts, (state, seen) =>
      'version' in state && state.version === version ? filledMode(state, seen) : state,
    )
  }

  #facts(followers: number): ModeFacts {
    const { clock, settings } = this.#options
    const { pullFollowers, modeStaleMs } = settings
    return { followers, pullFollowers, modeStaleMs, now: clock.now() }
  }

  async #change(author: AccountId, facts: ModeFacts, step: Step): Promise<AuthorMode> {
    const { pending, settings } = this.#options
    const task = { kind: TASK, subject: formatId(author) }
    return await pending.follow(task, async () => {
      let kept = await this.#read(author)
      for (let attempt = 1; attempt <= settings.attemptsMax; attempt += 1) {
        const state = step(kept, facts)
        if (state === kept) return kept
        const next = this.#stamp(kept, state)
        const current = await this.#swap(author, kept, next)
        if (!current) {
          if (next.mode !== kept.mode) await this.#announce(author, next)
          return next
        }
        kept = current
        await letOthersPass(attempt)
      }
      throw new UnavailableError('the mode of an author was changed by others too often')
    })
  }

  /** A change of the goal alone has a version of its own, and nothing to announce. */
  #stamp(kept: KeptMode, { mode, goal, changedAt }: ModeState): KeptMode {
    const { ids } = this.#options
    const id = ids.next<'event'>()
    const version = id > kept.version ? id : kept.version + 1n
    return { mode, goal, changedAt, version, eventId: mode === kept.mode ? kept.eventId : id }
  }

  /** What stands there instead, when somebody was faster. */
  async #swap(authorId: AccountId, kept: KeptMode, next: KeptMode): Promise<KeptMode | undefined> {
    const { tables } = this.#options
    const { eventId: event, ...rest } = next
    const columns = { ...rest, event }
    const outcome =
      kept.version === 0n
        ? await tables.insertIfAbsent(authorModes, { authorId, ...columns })
        : await tables.compareAndSet(
            authorModes,
            { authorId },
            { expected: { version: kept.version }, next: columns },
          )
    return outcome.applied ? undefined : keptOf(outcome.current)
  }

  async #resume(author: AccountId): Promise<void> {
    const kept = await this.#read(author)
    if (kept.eventId > 0n) await this.#announce(author, kept)
  }

  async #announce(authorId: AccountId, { mode, version, eventId }: KeptMode): Promise<void> {
    const envelope = { id: eventId, at: arrivalMs(eventId) }
    const event = makeEvent(AuthorModeChanged, envelope, { authorId, mode, version })
    await this.#options.commit.commit([], [event])
  }

  async #read(authorId: AccountId, options: ReadOptions = { serial: true }): Promise<KeptMode> {
    return keptOf(await this.#options.tables.get(authorModes, { authorId }, options))
  }
}

const NEVER_CHANGED: KeptMode = { ...PUSHED, version: 0n, eventId: 0n as EventId }

const keptOf = (row: AuthorModesRow | undefined): KeptMode => {
  if (!row) return NEVER_CHANGED
  const { mode, goal, version, event, changedAt } = row
  if (mode === null || goal === null || version === null) {
    throw new DamagedError(`the mode of ${row.authorId} is not whole`)
  }
  return {
    mode: mode as Mode,
    goal: goal as Goal,
    changedAt: changedAt ?? 0,
    version,
    eventId: (event ?? 0n) as EventId,
  }
}
