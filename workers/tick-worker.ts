/** Runs one method now and then: the next turn begins `everyMs` after the last one ended. */
import type { Services } from '../services/compose.ts'
import type { Clock } from '../services/platform/clock.ts'
import type { Telemetry } from '../services/platform/telemetry.ts'
import type { TickWorkerDefinition } from './kit.ts'
import { WorkerMetrics } from './metrics.ts'

export interface TickDependencies {
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly services: Services
}

export class TickWorker implements AsyncDisposable {
  readonly definition: TickWorkerDefinition
  readonly #own: TickDependencies
  readonly #metrics: WorkerMetrics
  readonly #stopping = new AbortController()
  #loop: Promise<void> = Promise.resolve()

  constructor(definition: TickWorkerDefinition, dependencies: TickDependencies) {
    this.definition = definition
    this.#own = dependencies
    this.#metrics = new WorkerMetrics(definition.name, dependencies.telemetry)
  }

  async start(): Promise<void> {
    this.#loop = this.#turns()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  async #turns(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#turn(signal)
      await this.#own.clock.sleep(this.definition.everyMs, signal)
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { services, telemetry } = this.#own
    const { name } = this.definition
    const stop = this.#metrics.timer()
    try {
      await telemetry.span(`tick ${name}`, {}, () => this.definition.run({ services, signal }))
      this.#metrics.count('handled')
    } catch (error) {
      this.#metrics.count('failed')
      telemetry.log.error({ err: error, worker: name }, 'a tick failed')
    } finally {
      stop()
    }
  }
}
