/** Work that waits for the store's writer, and how it learns what became of it. */

import { assert } from '../../kernel/errors.ts'

/** What a piece of work weighs. */
export interface Load {
  readonly writes: number
  readonly bytes: number
  /** It only removes: let in even when the store may not grow. */
  readonly reclaims?: boolean
}

/** Work that only puts and removes: it reads nothing, and cannot throw between two of them. */
export interface BlindWork extends Load {
  apply(): void
}

/** An entry of the queue. */
export interface Waiting extends Load {
  readonly isBlind: boolean
  /** Called inside the transaction; again if the first one was rolled back. */
  run(): void
  settle(): void
  reject(error: unknown): void
}

interface Ends<Result> {
  resolve(result: Result): void
  reject(error: unknown): void
}

/** One piece of work that reads, or may throw, or has a result. */
export class ReadingWork<Result> implements Waiting {
  readonly isBlind = false
  readonly writes: number
  readonly bytes: number
  readonly #work: () => Result
  readonly #ends: Ends<Result>
  #results: Result[] = []

  constructor(work: () => Result, { writes, bytes }: Load, ends: Ends<Result>) {
    this.writes = writes
    this.bytes = bytes
    this.#work = work
    this.#ends = ends
  }

  run(): void {
    this.#results = [this.#work()]
  }

  settle(): void {
    for (const result of this.#results) this.#ends.resolve(result)
  }

  reject(error: unknown): void {
    this.#ends.reject(error)
  }
}

/**
 * Blind work of many callers, which all stands or falls: they share one promise. With a promise for
 * each, a quarter of the time of a write went into promises.
 */
export class BlindWorks implements Waiting {
  readonly isBlind = true
  writes = 0
  bytes = 0
  readonly #works: BlindWork[] = []
  readonly #done: Promise<void>
  readonly #ends: Ends<void>

  constructor() {
    let ends: Ends<void> | undefined
    this.#done = new Promise<void>((resolve, reject) => {
      ends = { resolve, reject }
    })
    assert(ends, 'a promise runs its executor at once')
    this.#ends = ends
  }

  add(work: BlindWork): Promise<void> {
    this.#works.push(work)
    this.writes += work.writes
    this.bytes += work.bytes
    return this.#done
  }

  run(): void {
    for (const work of this.#works) work.apply()
  }

  settle(): void {
    this.#ends.resolve()
  }

  reject(error: unknown): void {
    this.#ends.reject(error)
  }
}
