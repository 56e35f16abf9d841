/**
 * Counts: tallies behind the cache. A total comes from the cache, and from the tables where the cache
 * has none or does not answer.
 *
 * When `apply` resolves its changes count in every total asked for from then on, in any process: one
 * who likes a post reads his like. For that an apply replaces the cached total by a token that nobody
 * else has, and a total read from the tables is cached only by compare-and-set on a token that was
 * there *before* the tables were read. Whoever finds nothing places a token of his own first, so a
 * read that an apply has overtaken finds another token, or none, and is not cached, however slow it was.
 *
 * A token cannot be placed while the cache does not answer. Then, and when a failover brings back an
 * older cache, a total may stay behind until the change is applied again from its event, and at most
 * as long as a cached total lives (`totalTtlMs`).
 *
 * A hot subject is marked by every change, so its total is seldom cached. Its readers share reads
 * instead: at most a few are under way in a process (see count-reads.ts).
 */
import { randomUUID } from 'node:crypto'
import type { Values } from '../kernel/settings.ts'
import { type Cache, CacheUnavailableError } from './cache.ts'
import { CountReads } from './count-reads.ts'
import type { countSettings } from './settings.ts'
import { TALLY_SHARDS, type Tallies, type TallyChange, type TallyKind } from './tallies.ts'
import type { Telemetry } from './telemetry.ts'

export interface CountsOptions {
  readonly tallies: Tallies
  readonly cache: Cache
  readonly telemetry: Telemetry
  readonly settings: Values<typeof countSettings>
}

/** What the cache holds of a subject: its total, or a token that says it is not known. */
export const countKey = (subject: bigint, kind: TallyKind): string => `count:${kind}:${subject}`

export class Counts implements AsyncDisposable {
  readonly #options: CountsOptions
  readonly #reads: Readonly<Record<TallyKind, CountReads>>
  readonly #lookups
  readonly #marks

  constructor(options: CountsOptions) {
    this.#options = options
    const { telemetry } = options
    this.#lookups = telemetry.counter(
      'tributary_counts_lookups_total',
      'Totals looked up in the cache: held, changed since, absent, or not answered.',
      ['kind', 'outcome'],
    )
    this.#marks = telemetry.counter(
      'tributary_counts_marks_total',
      'Cached totals marked as changed, or left as they were for want of an answer.',
      ['kind', 'outcome'],
    )
    this.#reads = readsByKind(options)
  }

  async apply(subject: bigint, kind: TallyKind, changes: readonly TallyChange[]): Promise<void> {
    try {
      await this.#options.tallies.apply(subject, kind, changes)
    } finally {
      // Of a rejected apply some changes may count.
      await this.#mark(subject, kind)
    }
  }

  /**
   * Applies what the log will bring as well, so that its actor reads it at once. It never rejects: a
   * failure is logged, and mended by the event.
   */
  async anticipate(
    subject: bigint,
    kind: TallyKind,
    changes: readonly TallyChange[],
  ): Promise<void> {
    try {
      await this.apply(subject, kind, changes)
    } catch (error) {
      this.#options.telemetry.log.warn(
        { err: error, kind },
        'a change is counted by its event only',
      )
    }
  }

  /** The totals in the order of the subjects: one read of the cache for all. */
  async totals(subjects: readonly bigint[], kind: TallyKind): Promise<number[]> {
    const distinct = [...new Set(subjects)]
    const held = await this.#look(distinct, kind)
    if (distinct.length === subjects.length && held?.every(isTotal)) return held.map(Number)
    const totals = new Map<bigint, number>()
    await Promise.all(
      distinct.map(async (subject, index) => {
        const known = held?.[index]
        const total = isTotal(known) ? Number(known) : await this.#count(subject, kind, known)
        totals.set(subject, total)
      }),
    )
    return subjects.map((subject) => totals.get(subject) ?? 0)
  }

  /** Waits for what is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Object.values(this.#reads).map((reads) => reads.idle()))
  }

  async #look(subjects: readonly bigint[], kind: TallyKind): Promise<readonly Held[] | undefined> {
    if (subjects.length === 0) return []
    try {
      const keys = subjects.map((subject) => countKey(subject, kind))
      const values = await this.#options.cache.getMany(keys)
      this.#meter(values, kind)
      if (values.every((value) => value !== undefined)) return values
      return await Promise.all(
        values.map(async (value, index) => value ?? (await this.#place(keys[index] ?? '', kind))),
      )
    } catch (error) {
      if (!(error instanceof CacheUnavailableError)) throw error
      this.#lookups.inc({ kind, outcome: 'unavailable' }, subjects.length)
      return undefined
    }
  }

  #meter(values: readonly Held[], kind: TallyKind): void {
    const outcomes = { held: 0, changed: 0, absent: 0 }
    for (const value of values) outcomes[outcomeOf(value)] += 1
    for (const [outcome, count] of Object.entries(outcomes)) {
      if (count > 0) this.#lookups.inc({ kind, outcome }, count)
    }
  }

  /** A token where there is nothing yet; none when somebody else was first: he keeps the total. */
  async #place(key: string, kind: TallyKind): Promise<Held> {
    const { cache, settings } = this.#options
    const token = makeToken()
    const swap = { expected: undefined, next: token, ttlMs: settings.tokenTtlMs }
    const placed = await cache.swap(key, swap)
    if (!placed) this.#lookups.inc({ kind, outcome: 'raced' })
    return placed ? token : undefined
  }

  #count(subject: bigint, kind: TallyKind, token: Held): Promise<number> {
    return this.#reads[kind].total(subject, token)
  }

  async #mark(subject: bigint, kind: TallyKind): Promise<void> {
    const { cache, settings } = this.#options
    try {
      await cache.set(countKey(subject, kind), makeToken(), settings.tokenTtlMs)
      this.#marks.inc({ kind, outcome: 'marked' })
    } catch (error) {
      if (!(error instanceof CacheUnavailableError)) throw error
      this.#marks.inc({ kind, outcome: 'unavailable' })
    }
  }
}

/** A total in digits, or a token. */
type Held = string | undefined

const TOKEN_SIGN = '?'

const makeToken = (): string => TOKEN_SIGN + randomUUID()

const isTotal = (held: Held): held is string => held !== undefined && !held.startsWith(TOKEN_SIGN)

const outcomeOf = (value: Held): 'held' | 'changed' | 'absent' => {
  if (value === undefined) return 'absent'
  return isTotal(value) ? 'held' : 'changed'
}

const readsByKind = ({
  tallies,
  cache,
  telemetry,
  settings,
}: CountsOptions): Readonly<Record<TallyKind, CountReads>> => {
  const keeps = telemetry.counter(
    'tributary_counts_keeps_total',
    'Totals read from the tables and put into the cache: kept, or overtaken by a change.',
    ['kind', 'outcome'],
  )
  const readsOf = (kind: TallyKind): CountReads =>
    new CountReads({
      read: (subjects) => tallies.totals(subjects, kind),
      keep: async (subject, { token, total }) => {
        const swap = { expected: token, next: String(total), ttlMs: settings.totalTtlMs }
        const kept = await cache.swap(countKey(subject, kind), swap)
        keeps.inc({ kind, outcome: kept ? 'kept' : 'overtaken' })
      },
      failed: (error) => telemetry.log.debug({ err: error, kind }, 'a total was not cached'),
      waitingMax: settings.waitingMax,
    })
  const kinds = Object.keys(TALLY_SHARDS) as TallyKind[]
  const reads = kinds.map((kind) => [kind, readsOf(kind)])
  return Object.fromEntries(reads) as Record<TallyKind, CountReads>
}
