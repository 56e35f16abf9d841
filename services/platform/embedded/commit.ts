/**
 * Rows and events in one transaction of the store: the reference meaning of `commit`.
 *
 * The queue of the store runs commits in the order they were called, and the log gives offsets
 * inside the transaction, so events of one key lie in the order of their commits. Consumers are
 * woken after the sync: nobody hears of rows that a crash could take back.
 */
import { type Event, encodeEvent, type LogEvent, type Topic } from '../../kernel/events.ts'
import type { Commit } from '../commit.ts'
import type { Write } from '../tables.ts'
import type { Telemetry } from '../telemetry.ts'
import type { EmbeddedLog } from './log.ts'
import type { Store } from './store.ts'
import type { EmbeddedTables } from './tables.ts'

export interface EmbeddedCommitOptions {
  readonly store: Store
  readonly tables: EmbeddedTables
  readonly log: Pick<EmbeddedLog, 'prepare'>
  readonly telemetry: Telemetry
}

export class EmbeddedCommit implements Commit {
  readonly #options: EmbeddedCommitOptions
  readonly #seconds

  constructor(options: EmbeddedCommitOptions) {
    this.#options = options
    this.#seconds = options.telemetry.duration(
      'tributary_commit_seconds',
      'From the call of a commit to its acknowledgement.',
    )
  }

  async commit(writes: readonly Write[], events: readonly Event[]): Promise<void> {
    if (writes.length === 0 && events.length === 0) return
    const { store, tables, log, telemetry } = this.#options
    const rows = tables.prepare(writes)
    const appends = [...byTopic(events, telemetry.traceHeaders())].map(([topic, records]) =>
      log.prepare(topic, records),
    )
    const work = (): void => {
      for (const { apply } of rows) apply()
      for (const { put } of appends) put()
    }
    const load = {
      writes: writes.length + events.length,
      bytes: [...rows, ...appends.map((append) => append.load)].reduce(
        (sum, { bytes }) => sum + bytes,
        0,
      ),
    }
    const stop = this.#seconds.startTimer()
    try {
      await store.transaction(work, load)
    } catch (error) {
      for (const each of appends) each.withdraw()
      throw error
    }
    for (const each of appends) each.announce()
    stop()
  }

  /** An acknowledged commit is on the log already. */
  published(): Promise<void> {
    return Promise.resolve()
  }

  oldestUnpublishedMs(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The store, the tables and the log belong to whoever opened them.
  }
}

/** The events by topic, as the log carries them; each topic keeps their order. */
const byTopic = (
  events: readonly Event[],
  headers: LogEvent['headers'],
): ReadonlyMap<Topic, readonly LogEvent[]> => {
  const appends = new Map<Topic, LogEvent[]>()
  for (const event of events) {
    const records = appends.get(event.topic) ?? []
    records.push(encodeEvent(event, headers))
    appends.set(event.topic, records)
  }
  return appends
}
