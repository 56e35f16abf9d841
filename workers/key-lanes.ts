/** One thing at a time for each key, in the order in which it was asked for. */
export class KeyLanes {
  readonly #tails = new Map<string, Promise<void>>()

  /** Keys with work under way or waiting. */
  get busy(): number {
    return this.#tails.size
  }

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    const result = before.then(work)
    const tail = result.then(ignore, ignore)
    this.#tails.set(key, tail)
    try {
      return await result
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    }
  }
}

// The caller of `run` gets the failure; the next in the lane waits for the end alone.
const ignore = (): void => undefined

/** Runs `work` for each item, at most `limit` at a time. Rejects with the first failure, at the end. */
export const eachBounded = async <Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const queue = items[Symbol.iterator]()
  const runner = async (): Promise<void> => {
    for (const item of queue) await work(item)
  }
  const runners = Array.from({ length: Math.min(limit, items.length) }, runner)
  const failed = (await Promise.allSettled(runners)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
