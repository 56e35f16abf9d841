/** At most `max` pieces of work at a time; the others wait in the order they came. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(max: number) {
    this.#free = max
  }

  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free += 1
    }
  }
}
