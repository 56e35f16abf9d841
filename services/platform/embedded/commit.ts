/**
 * Rows and events in one transaction of the store: the reference meaning of `commit`.
 *
 * The queue of the store runs commits in the order they were called, and the log gives offsets
 * inside the transaction, so events of one key lie in the order of their commits. Consumers are
 * woken after the sync: nobody hears of rows that a crash could take back.
 */
import { type Event, encodeEvent, type LogEvent, type Topic } from '../../kernel/events.ts'
import { type Commit, checkCommit, type OutboxEvent } from '../commit.ts'
import type { Write } from '../tables.ts'
import type { Telemetry } from '../telemetry.ts'
import type { EmbeddedLog } from './log.ts'
import type { Store } from './store.ts'
import type { EmbeddedTables } from './tables.ts'
import type { Load } from './write-queue.ts'

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
    const announced = announcements(events, telemetry.traceHeaders())
    checkCommit(writes, announced)
    const rows = tables.prepare(writes)
    const appends = byTopic(announced).map(([topic, records]) => log.prepare(topic, records))
    const load = sumOf([...rows, ...appends.map((append) => append.load)])
    const stop = this.#seconds.startTimer()
    try {
      await store.transaction(() => {
        for (const { apply } of rows) apply()
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

interface Announcement extends OutboxEvent {
  readonly on: Topic
}

/** The events as the log carries them. */
const announcements = (
  events: readonly Event[],
  headers: LogEvent['headers'],
): readonly Announcement[] =>
  events.map((event) => {
    const { id, topic } = event
    return { id, topic: topic.name, on: topic, event: encodeEvent(event, headers) }
  })

/** Each topic keeps the order of its events. */
const byTopic = (announced: readonly Announcement[]): (readonly [Topic, LogEvent[]])[] => {
  const appends = new Map<Topic, LogEvent[]>()
  for (const { on, event } of announced) {
    const records = appends.get(on) ?? []
    records.push(event)
    appends.set(on, records)
  }
  return [...appends]
}

const sumOf = (loads: readonly Load[]): Load => ({
  writes: loads.reduce((sum, { writes }) => sum + writes, 0),
  bytes: loads.reduce((sum, { bytes }) => sum + bytes, 0),
})
