/** A clock turned by hand. Sleepers wake in order of their time, when it is reached. */
import type { Clock } from '../../services/platform/clock.ts'

interface Sleeper {
  readonly atMs: number
  wake(): void
}

export class ManualClock implements Clock {
  #nowMs: number
  readonly #sleepers = new Set<Sleeper>()

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  get sleeping(): number {
    return this.#sleepers.size
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted || ms <= 0) return resolve()
      const wake = () => {
        this.#sleepers.delete(sleeper)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const sleeper: Sleeper = { atMs: this.#nowMs + ms, wake }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', wake, { once: true })
    })
  }

  /** Moves time on and wakes who is due, letting each react before the next. */
  async advance(ms: number): Promise<void> {
    const target = this.#nowMs + ms
    for (;;) {
      const due = [...this.#sleepers]
        .filter(({ atMs }) => atMs <= target)
        .sort((a, b) => a.atMs - b.atMs)[0]
      if (!due) break
      this.#nowMs = Math.max(this.#nowMs, due.atMs)
      due.wake()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#nowMs = target
  }

  /** Sets the time without waking anybody: a clock that steps, back or forth. */
  step(toMs: number): void {
    this.#nowMs = toMs
  }
}
