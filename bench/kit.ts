/**
 * How a benchmark is run: warm-up, then several rounds in which ours and the reference take turns,
 * so that a busy machine disturbs both alike; medians and spread; a ratio against a goal. An
 * absolute time means nothing on a shared machine, so none is judged.
 */
export type BenchEngine = 'embedded' | 'cluster'

/** Does one portion of work and says how many operations that was. */
export type Work = () => Promise<number>

export interface Contest {
  readonly name: string
  readonly ours: Work
  readonly reference: Work
  readonly referenceName: string
  /** The least ratio of ours to the reference; null: told, not judged. */
  readonly goal: number | null
}

export interface Figure {
  readonly name: string
  readonly ours: number
  readonly reference: number
  readonly referenceName: string
  readonly ratio: number
  /** null: told, not judged. */
  readonly goal: number | null
  readonly met: boolean
  readonly unit: string
  /** Half the distance between the quartiles of the rounds' ratios. */
  readonly spread: number
}

export interface BenchReport {
  readonly bench: string
  readonly engine: BenchEngine
  readonly figures: readonly Figure[]
}

export interface Bench {
  readonly name: string
  readonly engines: readonly BenchEngine[]
  readonly about: string
  run(engine: BenchEngine, kit: BenchKit): Promise<Figure[]>
}

export interface KitOptions {
  readonly rounds: number
  /** Time of one side of one round. */
  readonly roundMs: number
  readonly progress: (text: string) => void
}

const median = (values: readonly number[]): number => quantile(values, 0.5)

export const quantile = (values: readonly number[], q: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)] ?? Number.NaN
  const high = sorted[Math.ceil(at)] ?? Number.NaN
  return low + (high - low) * (at - Math.floor(at))
}

export class BenchKit {
  readonly #options: KitOptions

  constructor(options: KitOptions) {
    this.#options = options
  }

  say(text: string): void {
    this.#options.progress(text)
  }

  /** Operations per second of ours against the reference's. */
  async contest({ name, ours, reference, referenceName, goal }: Contest): Promise<Figure> {
    const { rounds, roundMs } = this.#options
    this.say(`${name}: warming up`)
    await rateOf(ours, roundMs)
    await rateOf(reference, roundMs)
    const rates: { ours: number; reference: number }[] = []
    for (let round = 1; round <= rounds; round += 1) {
      this.say(`${name}: round ${round} of ${rounds}`)
      // Who goes first alternates: the second runs on a warmer, more littered heap.
      const oursFirst = round % 2 === 1
      const first = await rateOf(oursFirst ? ours : reference, roundMs)
      const second = await rateOf(oursFirst ? reference : ours, roundMs)
      rates.push(
        oursFirst ? { ours: first, reference: second } : { ours: second, reference: first },
      )
    }
    const ratios = rates.map((rate) => rate.ours / rate.reference)
    const ratio = median(ratios)
    return {
      name,
      ours: median(rates.map((rate) => rate.ours)),
      reference: median(rates.map((rate) => rate.reference)),
      referenceName,
      ratio,
      goal,
      met: goal === null || ratio >= goal,
      unit: '/s',
      spread: (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / 2,
    }
  }

  /** A measured quantity that may be at most `limit`: bytes, a latency relative to another. */
  atMost(figure: {
    readonly name: string
    readonly ours: number
    readonly limit: number
    readonly limitName: string
    readonly unit: string
  }): Figure {
    const { name, ours, limit, limitName, unit } = figure
    const ratio = ours / limit
    return {
      name,
      ours,
      reference: limit,
      referenceName: limitName,
      ratio,
      goal: 1,
      met: ours <= limit,
      unit,
      spread: 0,
    }
  }

  /** Two measured quantities side by side, for people to judge. */
  told(figure: Pick<Figure, 'name' | 'ours' | 'reference' | 'referenceName' | 'unit'>): Figure {
    const ratio = figure.ours / figure.reference
    return { ...figure, ratio, goal: null, met: true, spread: 0 }
  }
}

const rateOf = async (work: Work, forMs: number): Promise<number> => {
  let operations = 0
  const started = performance.now()
  let elapsed = 0
  while (elapsed < forMs) {
    operations += await work()
    elapsed = performance.now() - started
  }
  return (operations / elapsed) * 1000
}
