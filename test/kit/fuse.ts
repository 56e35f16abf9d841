/**
 * A process that dies in the middle: after so many calls of its engines the fuse blows, and nothing
 * it does from then on has any effect.
 */
import type { Commit } from '../../services/platform/commit.ts'
import type { Tables } from '../../services/platform/tables.ts'
import type { Random } from './random.ts'

export class DeadError extends Error {}

export class Fuse {
  readonly #random: Random
  #left = Number.POSITIVE_INFINITY

  constructor(random: Random) {
    this.#random = random
  }

  /** Lets so many more calls through. */
  set(calls: number): void {
    this.#left = calls
  }

  /** The process is started again. */
  mend(): void {
    this.#left = Number.POSITIVE_INFINITY
  }

  /** The last call may have been sent before the end, or not. */
  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#left -= 1
    if (this.#left < 0) throw new DeadError('the process is dead')
    if (this.#left > 0) return await call()
    if (this.#random.below(2) === 0) await call()
    throw new DeadError('the process dies here')
  }

  tables(tables: Tables): Tables {
    return {
      get: (table, key, options) => this.run(() => tables.get(table, key, options)),
      getMany: (table, keys) => this.run(() => tables.getMany(table, keys)),
      slice: (table, partition, slice) => this.run(() => tables.slice(table, partition, slice)),
      write: (writes) => this.run(() => tables.write(writes)),
      insertIfAbsent: (table, row, expiry) =>
        this.run(() => tables.insertIfAbsent(table, row, expiry)),
      compareAndSet: (table, key, swap) => this.run(() => tables.compareAndSet(table, key, swap)),
      compareAndWrite: (table, key, swap, others) =>
        this.run(() => tables.compareAndWrite(table, key, swap, others)),
      [Symbol.asyncDispose]: async () => {},
    }
  }

  commit(commit: Commit): Commit {
    return {
      commit: (writes, events) => this.run(() => commit.commit(writes, events)),
      published: () => commit.published(),
      oldestUnpublishedMs: () => commit.oldestUnpublishedMs(),
      [Symbol.asyncDispose]: async () => {},
    }
  }
}
