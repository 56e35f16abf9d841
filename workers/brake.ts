/**
 * Stops a whole worker while an engine does not answer, so that an outage costs no event an attempt.
 *
 * Whoever meets an outage pulls the brake; everyone waits until it lets go, and the next try is the
 * probe. Pauses grow until a try succeeds. It lets go by itself: whoever pulled it may have lost its
 * partition meanwhile and never try again. Trying again at the same moment is no stampede, for a
 * worker has few tries under way.
 */
import type { Clock } from '../services/platform/clock.ts'
import { backOffMs, type Random } from './retry.ts'

export interface BrakeOptions {
  readonly clock: Clock
  readonly random: Random
  readonly range: () => { readonly minMs: number; readonly maxMs: number }
  /** Told when the brake is pulled and when it lets go. */
  readonly changed: (pulled: boolean) => void
  /** Aborts when the worker stops. */
  readonly signal: AbortSignal
}

export class Brake {
  readonly #options: BrakeOptions
  #outages = 0
  #untilMs: number | undefined

  constructor(options: BrakeOptions) {
    this.#options = options
  }

  /** Several tries that fail in one pause count as one outage. */
  pull(): void {
    if (this.#untilMs !== undefined) return
    const { clock, random, range, changed } = this.#options
    this.#outages += 1
    const waitMs = backOffMs(this.#outages, range(), random)
    this.#untilMs = clock.now() + waitMs
    changed(true)
    void this.#letGoAfter(waitMs)
  }

  /** A try succeeded: the next pause is a short one again. */
  release(): void {
    this.#outages = 0
  }

  /** Resolves when the next try may be made, or the signal aborts. */
  async ready(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    while (this.#untilMs !== undefined && !signal.aborted) {
      await clock.sleep(Math.max(1, this.#untilMs - clock.now()), signal)
    }
  }

  async #letGoAfter(waitMs: number): Promise<void> {
    const { clock, changed, signal } = this.#options
    await clock.sleep(waitMs, signal)
    this.#untilMs = undefined
    changed(false)
  }
}
