/**
 * Rows and events in one transaction of the store: the reference meaning of `commit`.
 *
 * The queue of the store runs commits in the order they were called, and the log gives offsets
 * inside the transaction, so events of one key lie in the order of their commits. Consumers are
 * woken after the sync: nobody hears of rows that a crash could take back.
 */
import { assert } from '../../kernel/errors.ts'
import type { Event, LogEvent, Topic } from '../../kernel/events.ts'
import { type Commit, checkCommit, type OutboxEvent, toOutbox } from '../commit.ts'
import type { Write } from '../tables.ts'
import type { Telemetry } from '../telemetry.ts'
import type { EmbeddedLog } from './log.ts'
import { sumOf } from './prepared-writes.ts'
import type { Store } from './store.ts'
import type { EmbeddedTables } from './tables.ts'

export interface EmbeddedCommitOptions {
  readonly store: Store
  readonly tables: EmbeddedTables
  readonly log: EmbeddedLog
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
    const headers = telemetry.traceHeaders()
    const records = events.map((event) => toOutbox(event, headers))
    checkCommit(writes, records)
    const rows = tables.prepareChecked(writes)
    const appends = byTopic(events, records).map(([topic, batch]) => log.prepare(topic, batch))
    const load = sumOf([rows, ...appends.map((append) => append.load)])
    const stop = this.#seconds.startTimer()
    try {
      await store.transaction(() => {
        rows.apply()
        for (const { put } of appends) put()
      }, load)
    } catch (error) {
      for (const { withdraw } of appends) withdraw()
      throw error
    }
    for (const { announce } of appends) announce()
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

/** The events as the log carries them; each topic keeps their order. */
const byTopic = (
  events: readonly Event[],
  records: readonly OutboxEvent[],
): (readonly [Topic, LogEvent[]])[] => {
  const appends = new Map<Topic, LogEvent[]>()
  for (const [index, { event }] of records.entries()) {
    const topic = events[index]?.topic
    assert(topic, 'there is a record for each event')
    const batch = appends.get(topic)
    if (batch) batch.push(event)
    else appends.set(topic, [event])
  }
  return [...appends]
}
