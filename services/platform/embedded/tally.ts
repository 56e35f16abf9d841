/**
 * Counts too frequent for a metric: a read takes about a microsecond, and so would its metric.
 * Kept as plain numbers and added to the counter from time to time.
 */
interface KindCounter {
  inc(labels: { readonly kind: string }, value: number): void
}

export class Tally<Kind extends string> {
  readonly #counter: KindCounter
  readonly #counts: Record<Kind, number>

  constructor(counter: KindCounter, counts: Record<Kind, number>) {
    this.#counter = counter
    this.#counts = counts
  }

  add(kind: Kind): void {
    this.#counts[kind] += 1
  }

  flush(): void {
    for (const kind in this.#counts) {
      this.#counter.inc({ kind }, this.#counts[kind])
      this.#counts[kind] = 0
    }
  }
}
