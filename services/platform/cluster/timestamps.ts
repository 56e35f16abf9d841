/**
 * Timestamps of writes, in µs: a hybrid logical clock.
 *
 * Cassandra keeps, of two writes to a cell, the one with the higher timestamp. Were timestamps the
 * wall clock alone, a process whose clock is behind could not overwrite what it has just read.
 * So each write stores its timestamp in the row as well (the column `written_us`, which the migrations
 * add to every table and the adapter alone sees); whoever reads the row has seen that time, and
 * writes later than it. Within a process timestamps never repeat, so the later of two writes wins.
 *
 * Both here and in the column a timestamp is a double. That loses nothing: a double holds every whole
 * number up to 2^53, which counts the µs since 1970 until June 2255, and timestamps are whole. Beyond
 * that `next` fails, as a step of 1 µs would be rounded away and a write could be lost in silence.
 *
 * A machine whose clock is years ahead would drag all others along: `aheadMs` shows it.
 */
import { assert } from '../../kernel/errors.ts'

export class WriteTimestamps {
  readonly #nowMs: () => number
  #lastUs = 0

  /** Real time, never the clock port: a clock turned by hand must not lose writes. */
  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs
  }

  /** A row written at `us` was read: what is written from now on is later. */
  observe(us: number): void {
    if (us > this.#lastUs) this.#lastUs = us
  }

  /** Later than all that were made or seen before. */
  next(): number {
    const us = Math.max(this.#nowMs() * 1000, this.#lastUs + 1)
    assert(Number.isSafeInteger(us), `${us} µs is a whole number that a double tells from the next`)
    this.#lastUs = us
    return us
  }

  /** How far the latest write made or seen lies ahead of this machine's clock. */
  get aheadMs(): number {
    return Math.max(0, this.#lastUs / 1000 - this.#nowMs())
  }
}
