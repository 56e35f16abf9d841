/**
 * Pending: what was decided is followed up, whoever crashes in between.
 *
 * Some things are decided by a conditional write of one row (who follows whom, what a post says now),
 * and only then do the rows derived from it and the event follow, in a commit. A crash between the
 * two would leave them out for ever. So a row here says *beforehand* that a subject is about to be
 * decided, and goes when all that follows has been done. What stays behind is found by a sweep, which
 * asks the module to resume the subject: to read serially what stands decided and to write again what
 * follows from it. That must be idempotent, as versioned writes and events with kept ids are; and it
 * must do no harm where nothing was decided at all.
 *
 * The sweep takes rows older than `sweepAfterMs`. Until then the writer has had its turn, so a body
 * begins only within the first half of that time: one that decided after its row was swept would be
 * without it. (A process that stands still in the middle of its body for longer than that, decides,
 * and dies then, is the one case that is not covered.)
 *
 * Rows are spread over shards by their subject. A shard is read from its mark on, so that the
 * tombstones of what was done long ago are not read again; the mark stays `lateMs` behind for rows
 * that come to light late.
 */
import { OutcomeUnknownError, UnavailableError } from '../kernel/errors.ts'
import { arrivalMs, firstIdAt, type IdGenerator } from '../kernel/ids.ts'
import type { Values } from '../kernel/settings.ts'
import type { Clock } from './clock.ts'
import { type PendingRow, pending, pendingMarks } from './generated/tables.ts'
import { type Lease, Leases } from './leases.ts'
import { partitionOf } from './log.ts'
import type { pendingSettings } from './settings.ts'
import { pages, put, remove, type Tables } from './tables.ts'
import type { Telemetry } from './telemetry.ts'

export const PENDING_SHARDS = 64
const LEASE = 'pending/sweep'
const PAGE_ROWS = 200

export interface PendingTask {
  /** Which module resumes it. */
  readonly kind: string
  /** What is decided; all the module needs to find it again. */
  readonly subject: string
}

/** Does again what follows from what stands decided about the subject. */
export type Resume = (subject: string) => Promise<void>

export interface PendingOptions {
  readonly tables: Tables
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly telemetry: Telemetry
  readonly settings: Values<typeof pendingSettings>
}

type RowKey = Pick<PendingRow, 'shard' | 'id'>

export class Pending implements AsyncDisposable {
  readonly #options: PendingOptions
  readonly #resumers = new Map<string, Resume>()
  readonly #leases: Leases
  readonly #removals = new Set<Promise<void>>()
  readonly #swept
  #lease: Lease | undefined

  constructor(options: PendingOptions) {
    this.#options = options
    this.#leases = new Leases(options)
    this.#swept = options.telemetry.counter(
      'tributary_pending_swept_total',
      'What a writer left behind: resumed, failed (tried again later) or unknown here.',
      ['kind', 'outcome'],
    )
  }

  /** Names who resumes tasks of a kind; once for each kind. */
  resumes(kind: string, resume: Resume): void {
    if (this.#resumers.has(kind)) throw new Error(`two modules resume ${kind}`)
    this.#resumers.set(kind, resume)
  }

  /**
   * Runs a body that decides and follows up. When it throws, the task stays for the sweep: part of
   * it may have been done.
   */
  async follow<Result>(task: PendingTask, body: () => Promise<Result>): Promise<Result> {
    const key = await this.#begin(task)
    const result = await body()
    this.#finish(key)
    return result
  }

  /**
   * Resumes what others left behind, if no other process is at it; says how many it resumed. What
   * fails is left for the next turn, and does not keep back the rest.
   */
  async sweep(signal?: AbortSignal): Promise<number> {
    if (!(await this.#keepLease())) return 0
    const shards = Array.from({ length: PENDING_SHARDS }, (_none, shard) => shard)
    const marks = await this.#options.tables.getMany(
      pendingMarks,
      shards.map((shard) => ({ shard })),
    )
    let resumed = 0
    for (const shard of shards) {
      if (signal?.aborted || !this.#isSweeper()) break
      resumed += await this.#sweepShard(shard, marks[shard]?.mark ?? undefined)
    }
    return resumed
  }

  /** Resolves when the rows of what was finished before this call are gone. */
  async idle(): Promise<void> {
    await Promise.all(this.#removals)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.idle()
    if (this.#lease) await this.#leases.release(this.#lease)
    this.#lease = undefined
  }

  async #begin({ kind, subject }: PendingTask): Promise<RowKey> {
    const { tables, clock, ids, settings } = this.#options
    const key = { shard: partitionOf(subject, PENDING_SHARDS), id: ids.next() }
    try {
      await tables.write([put(pending, { ...key, kind, subject })])
    } catch (error) {
      // The caller's own outcome is known: nothing was decided.
      if (!(error instanceof OutcomeUnknownError)) throw error
      throw new UnavailableError('nothing was begun: the tables did not answer', { cause: error })
    }
    if (clock.now() - arrivalMs(key.id) <= settings.sweepAfterMs / 2) return key
    throw new UnavailableError(`the tables took too long to begin a change of ${kind}`)
  }

  /** Not waited for: whoever asked has what it asked for, and a row that stays is swept. */
  #finish(key: RowKey): void {
    const removal = this.#remove(key)
      .catch((error: unknown) => {
        this.#options.telemetry.log.warn({ err: error }, 'a finished task stays for the sweep')
      })
      .finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  async #remove({ shard, id }: RowKey): Promise<void> {
    await this.#options.tables.write([remove(pending, { shard, id })])
  }

  /** One process sweeps; that two never do at once is for economy only. */
  async #keepLease(): Promise<boolean> {
    const { leaseMs } = this.#options.settings
    this.#lease = this.#lease
      ? await this.#leases.renew(this.#lease, leaseMs)
      : await this.#leases.acquire(LEASE, leaseMs)
    return this.#isSweeper()
  }

  #isSweeper(): boolean {
    return this.#lease !== undefined && this.#leases.isHeld(this.#lease)
  }

  async #sweepShard(shard: number, mark: bigint | undefined): Promise<number> {
    const { tables, clock, settings } = this.#options
    const dueMs = clock.now() - settings.sweepAfterMs
    const slice = {
      limit: PAGE_ROWS,
      ...(mark === undefined ? {} : { from: { id: mark } }),
      before: { id: firstIdAt(dueMs) },
    }
    let resumed = 0
    let oldestLeft: bigint | undefined
    for await (const rows of pages(tables, pending, { shard }, slice)) {
      for (const row of rows) {
        if (!this.#isSweeper()) return resumed
        if (await this.#resume(row)) resumed += 1
        else oldestLeft ??= row.id
      }
    }
    await this.#raiseMark({ shard, mark, raised: oldestLeft ?? firstIdAt(dueMs) })
    return resumed
  }

  /** Says whether the task is out of the way. */
  async #resume({ shard, id, kind, subject }: PendingRow): Promise<boolean> {
    const { telemetry } = this.#options
    const name = kind ?? ''
    const resume: Resume | undefined = this.#resumers.get(name)
    if (!resume) {
      this.#swept.inc({ kind: 'unknown', outcome: 'unknown' })
      telemetry.log.error({ kind, subject }, 'a pending task is of a kind unknown here')
      return false
    }
    try {
      const resuming: Promise<void> = resume(subject ?? '')
      await resuming
      await this.#remove({ shard, id })
      this.#swept.inc({ kind: name, outcome: 'resumed' })
      return true
    } catch (error) {
      this.#swept.inc({ kind: name, outcome: 'failed' })
      telemetry.log.error({ err: error, kind, subject }, 'a pending task could not be resumed')
      return false
    }
  }

  /** Now and then: reading some tombstones again costs less than a write of every shard each turn. */
  async #raiseMark({ shard, mark, raised }: MarkChange): Promise<void> {
    const { tables, settings } = this.#options
    const late = firstIdAt(arrivalMs(raised) - settings.lateMs)
    if (mark !== undefined && arrivalMs(late) < arrivalMs(mark) + settings.lateMs) return
    await tables.write([put(pendingMarks, { shard, mark: late })])
  }
}

interface MarkChange {
  readonly shard: number
  readonly mark: bigint | undefined
  readonly raised: bigint
}
