/**
 * One shard of a tally while a process changes it: what waits, and the step that writes it.
 *
 * A step reads the header, then the members it is about, and writes both on the condition that the
 * header still has the revision it read. The order matters: the header is read serially (or is what
 * our own last step, or the refusal of it, has told), so the members read after it are at least as new;
 * and if the condition holds they were no newer. A step that finds nothing to do reads the header
 * once more, serially: what another process has written and not finished is finished by that, and
 * then counts in every total.
 */
import { randomUUID } from 'node:crypto'
import { UnavailableError } from '../kernel/errors.ts'
import type { Values } from '../kernel/settings.ts'
import { letOthersPass } from './contention.ts'
import { type TalliesRow, tallies } from './generated/tables.ts'
import type { tallySettings } from './settings.ts'
import { put, type Tables } from './tables.ts'

/** The member that is none: its row holds the total. */
export const HEADER = 0n

export interface TallyChange {
  /** Above 0. */
  readonly member: bigint
  readonly contribution: 0 | 1
  readonly version: bigint
}

export interface ShardPlace {
  readonly subject: bigint
  readonly kind: string
  readonly shard: number
}

interface OutcomeCounter {
  inc(labels: { readonly kind: string; readonly outcome: string }, value?: number): void
}

export interface ShardOptions {
  readonly tables: Tables
  readonly settings: Values<typeof tallySettings>
  readonly changes: OutcomeCounter
  readonly steps: OutcomeCounter
  /** Called when nothing waits any more. */
  emptied(): void
}

/** The changes of one call, or a part of them. */
interface Piece {
  readonly changes: readonly TallyChange[]
  resolve(): void
  reject(error: unknown): void
}

export class TallyShard {
  readonly #place: ShardPlace
  readonly #options: ShardOptions
  #waiting: Piece[] = []
  #running: Promise<void> | undefined
  /** As far as it is known without asking. */
  #header: TalliesRow | undefined

  constructor(place: ShardPlace, options: ShardOptions) {
    this.#place = place
    this.#options = options
  }

  /** Resolves when the changes count. */
  async add(changes: readonly TallyChange[]): Promise<void> {
    const { joinMax } = this.#options.settings
    const pieces: Promise<void>[] = []
    for (let start = 0; start < changes.length; start += joinMax) {
      pieces.push(this.#wait(changes.slice(start, start + joinMax)))
    }
    this.#running ??= this.#run()
    const outcomes = await Promise.allSettled(pieces)
    const failure = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failure) throw failure.reason
  }

  async idle(): Promise<void> {
    await this.#running
  }

  #wait(changes: readonly TallyChange[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, resolve, reject })
    })
  }

  async #run(): Promise<void> {
    // Calls made in the same turn go together.
    await Promise.resolve()
    while (this.#waiting.length > 0) await this.#step(this.#take())
    this.#running = undefined
    this.#options.emptied()
  }

  async #step(pieces: readonly Piece[]): Promise<void> {
    try {
      await this.#write(latest(pieces))
      for (const { resolve } of pieces) resolve()
    } catch (error) {
      this.#header = undefined
      for (const { reject } of pieces) reject(error)
    }
  }

  async #write(changes: readonly TallyChange[]): Promise<void> {
    const { attemptsMax } = this.#options.settings
    let header = this.#header ?? (await this.#readHeader())
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const effect = effectOf(changes, await this.#readMembers(changes))
      if (effect.changes.length === 0) {
        this.#header = await this.#readHeader()
        this.#count(changes, effect)
        return
      }
      const outcome = await this.#swap(header, effect)
      if (outcome.applied) {
        this.#count(changes, effect)
        return
      }
      header = outcome.current
      await letOthersPass(attempt)
    }
    throw new UnavailableError(`a tally was changed by others ${attemptsMax} times: try again`)
  }

  async #swap(header: TalliesRow | undefined, { changes, delta }: Effect) {
    const { tables, steps } = this.#options
    const { kind } = this.#place
    const next = {
      version: (header?.version ?? 0n) + 1n,
      total: (header?.total ?? 0n) + delta,
      writer: randomUUID(),
    }
    const key = { ...this.#place, member: HEADER }
    const outcome = await tables.compareAndWrite(
      tallies,
      key,
      header ? { expected: { version: header.version }, next } : { absent: true, next },
      changes.map((change) => put(tallies, { ...this.#place, ...change })),
    )
    steps.inc({ kind, outcome: outcome.applied ? 'written' : 'overtaken' })
    if (outcome.applied) this.#header = { ...key, ...next, contribution: null }
    return outcome
  }

  #count(changes: readonly TallyChange[], effect: Effect): void {
    const { kind } = this.#place
    const counted = effect.changes.length
    this.#options.changes.inc({ kind, outcome: 'counted' }, counted)
    this.#options.changes.inc({ kind, outcome: 'known' }, changes.length - counted)
  }

  #readHeader(): Promise<TalliesRow | undefined> {
    const key = { ...this.#place, member: HEADER }
    return this.#options.tables.get(tallies, key, { serial: true })
  }

  #readMembers(changes: readonly TallyChange[]): Promise<(TalliesRow | undefined)[]> {
    const keys = changes.map(({ member }) => ({ ...this.#place, member }))
    return this.#options.tables.getMany(tallies, keys)
  }

  /** The first pieces, as many as one step takes. */
  #take(): readonly Piece[] {
    let count = 0
    let changes = 0
    for (const piece of this.#waiting) {
      changes += piece.changes.length
      if (count > 0 && changes > this.#options.settings.joinMax) break
      count += 1
    }
    return this.#waiting.splice(0, count)
  }
}

/** One change for each member: the one with the highest version. */
const latest = (pieces: readonly Piece[]): readonly TallyChange[] => {
  const byMember = new Map<bigint, TallyChange>()
  for (const change of pieces.flatMap(({ changes }) => changes)) {
    const other = byMember.get(change.member)
    if (!other || other.version < change.version) byMember.set(change.member, change)
  }
  return [...byMember.values()]
}

/** The changes that are news to the shard, and what they add to its total. */
interface Effect {
  readonly changes: readonly TallyChange[]
  readonly delta: bigint
}

const effectOf = (
  changes: readonly TallyChange[],
  rows: readonly (TalliesRow | undefined)[],
): Effect => {
  const news: TallyChange[] = []
  let delta = 0
  for (const [index, change] of changes.entries()) {
    const row = rows[index]
    if (row && (row.version ?? 0n) >= change.version) continue
    news.push(change)
    delta += change.contribution - (row?.contribution ?? 0)
  }
  return { changes: news, delta: BigInt(delta) }
}
