/**
 * Rows and events in one transaction of the store: the reference meaning of `commit`.
 *
 * The queue of the store runs commits in the order they were called, and the log gives offsets
 * inside the transaction, so events of one key lie in the order of their commits. Consumers are
 * woken after the sync: nobody hears of rows that a crash could take back.
 */
import { type Event, encodeEvent, type LogEvent, type Topic } from '../../kernel/events.ts'
import type { Commit } from '../commit.ts'
import { checkAppend } from '../log.ts'
import type { Write } from '../tables.ts'
import type { Telemetry } from '../telemetry.ts'
import type { Store } from './store.ts'
import type { EmbeddedTables } from './tables.ts'

/** Events queued in a transaction; whoever ran it says how it ended. */
export interface Enqueued {
  /** They are on the disk: consumers may have them. */
  announce(): void
  /** They are not: their offsets stay empty. */
  withdraw(): void
}

/** The part of the embedded log that a transaction of somebody else's needs. */
export interface EventQueue {
  enqueue(topic: Topic, events: readonly LogEvent[]): Enqueued
}

export interface EmbeddedCommitOptions {
  readonly store: Store
  readonly tables: EmbeddedTables
  readonly log: EventQueue
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
    const prepared = tables.prepare(writes)
    const appends = appendsOf(events, telemetry.traceHeaders())
    let enqueued: Enqueued[] = []
    const work = (): void => {
      // Work that is run again begins again: what the first run queued was rolled back.
      for (const each of enqueued.splice(0)) each.withdraw()
      for (const { apply } of prepared) apply()
      for (const [topic, records] of appends) enqueued.push(log.enqueue(topic, records))
    }
    const load = {
      writes: writes.length + events.length,
      bytes: prepared.reduce((sum, { bytes }) => sum + bytes, 0) + bytesOf(appends),
    }
    const stop = this.#seconds.startTimer()
    try {
      await store.transaction(work, load)
    } catch (error) {
      for (const each of enqueued) each.withdraw()
      throw error
    }
    for (const each of enqueued) each.announce()
    enqueued = []
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

/** The events by topic, as the log carries them, checked; each topic keeps their order. */
const appendsOf = (
  events: readonly Event[],
  headers: LogEvent['headers'],
): ReadonlyMap<Topic, readonly LogEvent[]> => {
  const appends = new Map<Topic, LogEvent[]>()
  for (const event of events) {
    const records = appends.get(event.topic) ?? []
    records.push(encodeEvent(event, headers))
    appends.set(event.topic, records)
  }
  for (const records of appends.values()) checkAppend(records)
  return appends
}

const bytesOf = (appends: ReadonlyMap<Topic, readonly LogEvent[]>): number => {
  let bytes = 0
  for (const records of appends.values()) {
    for (const { key, value } of records) bytes += key.length + value.length
  }
  return bytes
}
