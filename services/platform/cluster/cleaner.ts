/**
 * Removes the outbox rows of published events, those of a partition in one mutation.
 *
 * It gathers for a moment first: a shard's events of a second cost one removal then. Real time, as
 * this is housekeeping nobody can notice. A row whose removal fails stays for the relay, which
 * publishes its event once more.
 */
import { DomainError } from '../../kernel/errors.ts'
import type { Values } from '../../kernel/settings.ts'
import type { outboxSettings } from '../settings.ts'
import { BATCH_WRITES_MAX, type Tables } from '../tables.ts'
import type { Telemetry } from '../telemetry.ts'
import { byPartition, forEachBounded, type OutboxEntry, outboxRemove } from './outbox.ts'

const REMOVALS_AT_ONCE = 8

export interface CleanerEngines {
  readonly tables: Tables
  readonly telemetry: Telemetry
  readonly settings: Values<typeof outboxSettings>
}

export class OutboxCleaner implements AsyncDisposable {
  readonly #engines: CleanerEngines
  #gathered: OutboxEntry[] = []
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(engines: CleanerEngines) {
    this.#engines = engines
  }

  add(entries: readonly OutboxEntry[]): void {
    this.#gathered.push(...entries)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#flushing = this.flush()
    }, this.#engines.settings.markDelayMs)
  }

  /** Resolves when every row added before was removed, or was left to the relay. */
  async flush(): Promise<void> {
    await this.#flushing
    const entries = this.#gathered
    this.#gathered = []
    await forEachBounded(byPartition(entries), REMOVALS_AT_ONCE, (partition) =>
      this.#removeAll(partition),
    )
  }

  async #removeAll(partition: readonly OutboxEntry[]): Promise<void> {
    for (let from = 0; from < partition.length; from += BATCH_WRITES_MAX) {
      const part = partition.slice(from, from + BATCH_WRITES_MAX)
      try {
        await this.#engines.tables.write(part.map(outboxRemove))
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        this.#engines.telemetry.log.warn({ err: error }, 'published events stay in the outbox')
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer)
    await this.flush()
  }
}
