/**
 * The write of rows and the announcement of events as one act: how everything is announced.
 *
 * When `commit` resolves, the rows are durable and the events will come on the log, whatever
 * crashes; when it rejects with anything but OutcomeUnknownError neither is there. Nobody sees an
 * event whose rows cannot be read. Embedded both are one transaction. On a cluster the events lie in
 * an outbox row of the same logged batch and are published right after the acknowledgement; what a
 * crash leaves behind is published by a relay. So an event may come twice, and events of one key
 * keep the order in which one process committed them; what a crashed process left comes late.
 *
 * A commit takes no conditions (use claims). Each event counts as one more row, of a partition of its
 * own, against the limits of `Tables.write`.
 *
 * When a server of a cluster dies in the middle of a batch, its rows appear one after the other, up
 * to a minute apart, and the relay may announce them meanwhile: a handler that does not find the
 * rows of its event rejects, and gets the event again.
 */
import { type Event, encodeEvent, type LogEvent } from '../kernel/events.ts'
import { outbox } from './generated/tables.ts'
import { checkAppend, partitionOf } from './log.ts'
import { checkWrites } from './table-checks.ts'
import { put, type Write } from './tables.ts'

export interface Commit extends AsyncDisposable {
  commit(writes: readonly Write[], events: readonly Event[]): Promise<void>
  /** Resolves when every event committed here before this call is on the log. */
  published(): Promise<void>
  /** The commit time of the oldest event known not to be on the log yet, over all processes. */
  oldestUnpublishedMs(): Promise<number | undefined>
}

export const OUTBOX_SHARDS = 64

/** An event on its way from a commit to the log. */
export interface OutboxEvent {
  readonly id: bigint
  readonly topic: string
  readonly event: LogEvent
}

export const toOutbox = (event: Event, headers: LogEvent['headers']): OutboxEvent => ({
  id: event.id,
  topic: event.topic.name,
  event: encodeEvent(event, headers),
})

/** The row that keeps an event until it is on the log; `minute` is that of the commit. */
export const outboxPut = ({ id, topic, event }: OutboxEvent, minute: number): Write =>
  put(outbox, {
    shard: partitionOf(event.key, OUTBOX_SHARDS),
    minute,
    id,
    topic,
    eventKey: event.key,
    event: event.value,
    headers: JSON.stringify(event.headers),
  })

/** What every adapter refuses before it writes anything. */
export const checkCommit = (writes: readonly Write[], events: readonly OutboxEvent[]): void => {
  checkAppend(events.map(({ event }) => event))
  checkWrites([...writes, ...events.map((event) => outboxPut(event, 0))])
}
