/**
 * Reads of totals from the tables, shared by those who ask for the same subject.
 *
 * Whoever asks waits for a read that has *not begun*: it then sees all that was applied before he
 * asked. So a subject that thousands ask for costs as many reads as follow one another, on each of
 * the few that go side by side, and not one for each who asks.
 */
import { OverloadedError } from '../kernel/errors.ts'

/** Reads side by side, and subjects of one. */
const READS_AT_ONCE = 4
const SUBJECTS_MAX = 100

export interface CountReadsOptions {
  read(subjects: readonly bigint[]): Promise<readonly number[]>
  /** Caches what was read, if the token stands. */
  keep(subject: bigint, found: { readonly token: string; readonly total: number }): Promise<void>
  failed(error: unknown): void
  /** Subjects that may wait. */
  readonly waitingMax: number
}

/** A subject asked for, and those who ask. */
interface Wanted {
  /** What the cache held before the read. */
  token: string | undefined
  readonly askers: {
    readonly resolve: (total: number) => void
    readonly reject: (error: unknown) => void
  }[]
}

export class CountReads {
  readonly #options: CountReadsOptions
  readonly #waiting = new Map<bigint, Wanted>()
  readonly #running = new Set<Promise<void>>()
  #free = READS_AT_ONCE

  constructor(options: CountReadsOptions) {
    this.#options = options
  }

  /** The total, cached under `token` if that is given. */
  total(subject: bigint, token: string | undefined): Promise<number> {
    const known = this.#waiting.get(subject)
    if (!known && this.#waiting.size >= this.#options.waitingMax) {
      throw new OverloadedError(`${this.#waiting.size} totals are waited for: try again later`)
    }
    const wanted = known ?? { token, askers: [] }
    wanted.token = token ?? wanted.token
    this.#waiting.set(subject, wanted)
    const total = new Promise<number>((resolve, reject) => {
      wanted.askers.push({ resolve, reject })
    })
    this.#begin()
    return total
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  #begin(): void {
    if (this.#free === 0) return
    this.#free -= 1
    const running = this.#run().finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #run(): Promise<void> {
    // What is asked for in the same turn goes together.
    await Promise.resolve()
    while (this.#waiting.size > 0) await this.#read(this.#take())
    // In the same turn in which nothing waited: who asks next begins anew.
    this.#free += 1
  }

  async #read(wanted: ReadonlyMap<bigint, Wanted>): Promise<void> {
    try {
      const totals = await this.#options.read([...wanted.keys()])
      for (const [index, { askers }] of [...wanted.values()].entries()) {
        for (const { resolve } of askers) resolve(totals[index] ?? 0)
      }
      await this.#keep(wanted, totals)
    } catch (error) {
      for (const { reject } of [...wanted.values()].flatMap(({ askers }) => askers)) reject(error)
    }
  }

  /** Nobody waits for it. */
  async #keep(wanted: ReadonlyMap<bigint, Wanted>, totals: readonly number[]): Promise<void> {
    const kept = [...wanted].map(async ([subject, { token }], index) => {
      const total = totals[index]
      if (token !== undefined && total !== undefined) {
        await this.#options.keep(subject, { token, total })
      }
    })
    for (const outcome of await Promise.allSettled(kept)) {
      if (outcome.status === 'rejected') this.#options.failed(outcome.reason)
    }
  }

  #take(): ReadonlyMap<bigint, Wanted> {
    const taken = new Map([...this.#waiting].slice(0, SUBJECTS_MAX))
    for (const subject of taken.keys()) this.#waiting.delete(subject)
    return taken
  }
}
