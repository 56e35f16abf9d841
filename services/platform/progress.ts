/**
 * How far a handler has come: offsets are done in any order, and what may be committed is the
 * longest prefix without a hole. Both adapters of the log use it, so that both mean the same.
 */
import { assert } from '../kernel/errors.ts'

export class Progress {
  /** Offsets handed out and not yet passed, ascending; true once done. */
  readonly #open = new Map<bigint, boolean>()
  #next: bigint

  /** `next` is the offset committed so far: the first one not passed. */
  constructor(next: bigint) {
    this.#next = next
  }

  /** The offset to commit: everything before it is done. */
  get next(): bigint {
    return this.#next
  }

  get complete(): boolean {
    return this.#open.size === 0
  }

  /** Hands out an offset; they come in ascending order. */
  expect(offset: bigint): void {
    this.#open.set(offset, false)
  }

  /** Says whether the prefix grew. An offset that was passed already changes nothing. */
  done(offset: bigint): boolean {
    if (!this.#open.has(offset)) {
      assert(offset < this.#next, `offset ${offset} was handed out`)
      return false
    }
    this.#open.set(offset, true)
    const before = this.#next
    for (const [passed, isDone] of this.#open) {
      if (!isDone) break
      this.#open.delete(passed)
      this.#next = passed + 1n
    }
    return this.#next > before
  }
}

export interface BackOff {
  readonly minMs: number
  readonly maxMs: number
}

/** The wait before attempt number `attempt` (from 1): doubled each time, half of it random. */
export const backOffMs = (attempt: number, { minMs, maxMs }: BackOff): number => {
  const full = Math.min(maxMs, minMs * 2 ** (attempt - 1))
  return full / 2 + (Math.random() * full) / 2
}
