/** Seeded chance for model tests: the same seed throws the same dice. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A whole number from 0 to below `n`. */
  below(n: number): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n)
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  list<Item>(most: number, make: () => Item): Item[] {
    return Array.from({ length: this.below(most + 1) }, make)
  }
}

/** Seeds of this run: the one of TRIBUTARY_SEED, or fresh ones. A test's title carries its seed. */
export const seeds = (count: number): readonly number[] => {
  const given = process.env['TRIBUTARY_SEED']
  if (given !== undefined) return [Number(given)]
  return Array.from({ length: count }, () => Math.floor(Math.random() * 2 ** 31))
}
