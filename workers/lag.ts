/** How far each worker is behind, asked of the log when metrics are collected, not too often. */
import type { Clock } from '../services/platform/clock.ts'
import type { Log } from '../services/platform/log.ts'
import type { Telemetry } from '../services/platform/telemetry.ts'
import type { EventWorkerDefinition } from './kit.ts'

interface Lagging {
  readonly definition: EventWorkerDefinition
}

const STALE_MS = 5_000

export class LagGauge {
  readonly #workers: readonly Lagging[]
  readonly #own: { readonly log: Log; readonly clock: Clock; readonly telemetry: Telemetry }
  #askedAt = 0

  constructor(
    workers: readonly Lagging[],
    dependencies: { readonly log: Log; readonly clock: Clock; readonly telemetry: Telemetry },
  ) {
    this.#workers = workers
    this.#own = dependencies
  }

  register(): void {
    this.#own.telemetry.gauge('tributary_worker_lag_events', 'Events not yet handled', {
      labels: ['worker'],
      collect: async (gauge) => {
        const now = this.#own.clock.now()
        if (Math.abs(now - this.#askedAt) < STALE_MS) return
        this.#askedAt = now
        for (const { definition } of this.#workers) {
          const lag = await this.#lagOf(definition)
          if (lag !== undefined) gauge.set({ worker: definition.name }, lag)
        }
      },
    })
  }

  /** A log that does not answer must not take the other metrics with it. */
  async #lagOf({ name, topic }: EventWorkerDefinition): Promise<number | undefined> {
    const { log, telemetry } = this.#own
    try {
      const partitions = await log.lag(name, [topic])
      return partitions.reduce((sum, { lag }) => sum + lag, 0)
    } catch (error) {
      telemetry.log.warn({ err: error, worker: name }, 'the lag of a worker is not known')
      return undefined
    }
  }
}
