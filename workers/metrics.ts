/** What operators see of a worker. Every worker shares these metrics, told apart by its name. */
import type { Telemetry } from '../services/platform/telemetry.ts'

export type EventOutcome = 'handled' | 'failed' | 'unknown' | 'parked' | 'dead'

export class WorkerMetrics {
  readonly #worker: string
  readonly #events
  readonly #duration
  readonly #paused
  readonly #oldestParked

  constructor(worker: string, telemetry: Telemetry) {
    this.#worker = worker
    this.#events = telemetry.counter(
      'tributary_worker_events_total',
      'Events by what became of them; a failed one may be tried again',
      ['worker', 'outcome'],
    )
    this.#duration = telemetry.duration(
      'tributary_worker_handle_seconds',
      'Time a handler took for one event or tick',
      ['worker'],
    )
    this.#paused = telemetry.gauge(
      'tributary_worker_paused',
      'Whether the worker waits for an engine that does not answer',
      { labels: ['worker'] },
    )
    this.#oldestParked = telemetry.gauge(
      'tributary_worker_parked_oldest_seconds',
      'Age of the oldest event at the head of a parked key; 0 when none is parked here',
      { labels: ['worker'] },
    )
    this.paused(false)
    this.oldestParked(0)
  }

  count(outcome: EventOutcome): void {
    this.#events.inc({ worker: this.#worker, outcome })
  }

  /** Starts a stop-watch; the function it gives stops it. */
  timer(): () => void {
    return this.#duration.startTimer({ worker: this.#worker })
  }

  paused(paused: boolean): void {
    this.#paused.set({ worker: this.#worker }, paused ? 1 : 0)
  }

  oldestParked(ageMs: number): void {
    this.#oldestParked.set({ worker: this.#worker }, ageMs / 1000)
  }
}
