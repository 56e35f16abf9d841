/**
 * What the program says of itself: whether it lives, whether it has started, whether to send it
 * requests. Engines are asked in the background; a request for health only reads the last answers.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Probe } from '../services/platform/platform.ts'

export type Phase = 'starting' | 'serving' | 'draining'

export interface PartHealth {
  readonly name: string
  readonly essential: boolean
  readonly up: boolean
  readonly checkedMsAgo: number
  readonly fault?: string
}

export interface Readiness {
  readonly ready: boolean
  /** Serving without a part it can do without. */
  readonly degraded: boolean
  readonly phase: Phase
  readonly parts: readonly PartHealth[]
}

interface Answer {
  readonly at: number
  readonly fault: string | undefined
}

export interface HealthOptions {
  readonly probeMs: number
  /** Event-loop delay beyond which the process counts as stuck. */
  readonly loopDelayMaxMs?: number
}

/** An answer older than so many rounds of probes is no answer. */
const STALE_ROUNDS = 5

export class Health implements AsyncDisposable {
  readonly #probeMs: number
  readonly #loopDelayMaxMs: number
  readonly #loop: IntervalHistogram
  readonly #answers = new Map<Probe, Answer | undefined>()
  readonly #asking = new Set<Probe>()
  #phase: Phase = 'starting'
  #timer: NodeJS.Timeout | undefined

  constructor({ probeMs, loopDelayMaxMs = 1_000 }: HealthOptions) {
    this.#probeMs = probeMs
    this.#loopDelayMaxMs = loopDelayMaxMs
    this.#loop = monitorEventLoopDelay({ resolution: 20 })
    this.#loop.enable()
  }

  get phase(): Phase {
    return this.#phase
  }

  /** Begins to probe; resolves after the first round. */
  async serving(probes: readonly Probe[]): Promise<void> {
    for (const probe of probes) this.#answers.set(probe, undefined)
    await Promise.all(probes.map((probe) => this.#ask(probe)))
    this.#timer = setInterval(() => this.#round(), this.#probeMs)
    this.#timer.unref()
    this.#phase = 'serving'
  }

  draining(): void {
    this.#phase = 'draining'
  }

  /** The longest delay of the event loop since the last question. */
  alive(): { readonly alive: boolean; readonly loopDelayMs: number } {
    const loopDelayMs = Math.round(this.#loop.max / 1e6)
    this.#loop.reset()
    return { alive: loopDelayMs < this.#loopDelayMaxMs, loopDelayMs }
  }

  readiness(): Readiness {
    const parts = [...this.#answers].map(([probe, answer]) => this.#part(probe, answer))
    const down = parts.filter(({ up }) => !up)
    return {
      ready: this.#phase === 'serving' && !down.some(({ essential }) => essential),
      degraded: down.length > 0,
      phase: this.#phase,
      parts,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#loop.disable()
  }

  #round(): void {
    for (const probe of this.#answers.keys()) void this.#ask(probe)
  }

  /** One question at a time; the fault it meets is its answer. */
  async #ask(probe: Probe): Promise<void> {
    if (this.#asking.has(probe)) return
    this.#asking.add(probe)
    try {
      await probe.ask()
      this.#answers.set(probe, { at: performance.now(), fault: undefined })
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error)
      this.#answers.set(probe, { at: performance.now(), fault })
    } finally {
      this.#asking.delete(probe)
    }
  }

  #part({ name, essential }: Probe, answer: Answer | undefined): PartHealth {
    const ageMs = answer ? performance.now() - answer.at : Number.POSITIVE_INFINITY
    const silent = ageMs > this.#probeMs * STALE_ROUNDS ? 'does not answer' : undefined
    const fault = answer?.fault ?? silent
    const checkedMsAgo = Math.round(ageMs)
    return { name, essential, up: fault === undefined, checkedMsAgo, ...(fault ? { fault } : {}) }
  }
}
