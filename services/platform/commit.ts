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
 * A commit takes no conditions (use claims) and obeys the limits of `Tables.write`.
 */
import type { Event } from '../kernel/events.ts'
import type { Write } from './tables.ts'

export interface Commit extends AsyncDisposable {
  commit(writes: readonly Write[], events: readonly Event[]): Promise<void>
  /** Resolves when every event committed here before this call is on the log. */
  published(): Promise<void>
  /** The commit time of the oldest event known not to be on the log yet, over all processes. */
  oldestUnpublishedMs(): Promise<number | undefined>
}
