/**
 * Parked events: those whose handler keeps failing, and every later event of the same key.
 *
 * A lane is one partition of a topic as one group reads it; only the member that owns the partition
 * takes events out of its lane. Within a lane the events of a key lie by position, and a key is
 * worked off from its lowest position. The position of an event is its offset; an event that a
 * person replays gets a position below all offsets, in the order of the original ones, so that it
 * goes first. Each replay makes a position of its own: a row that one process removed and another
 * makes again could be swallowed by the removal when their clocks differ.
 */
import type { LogEvent } from '../kernel/events.ts'
import { type BoundOf, put, remove, type Tables } from '../platform/tables.ts'
import { fromParkedRow, parkedEvents, parkedKey, toParkedRow } from './dead-letter-tables.ts'

export interface Lane {
  readonly group: string
  readonly topic: string
  readonly partition: number
}

export interface ParkedEvent extends Lane {
  readonly position: bigint
  readonly event: LogEvent
  /** Failed attempts so far; 0 for one that only waits behind another. */
  readonly attempts: number
  readonly retryAt: number
  readonly parkedAt: number
  /** Why it is here, in words. */
  readonly reason: string
}

export class ParkingLot {
  readonly #tables: Tables

  constructor(tables: Tables) {
    this.#tables = tables
  }

  /** Keeps an event, or what has become of it. Parking it again changes nothing. */
  async park(parked: ParkedEvent): Promise<void> {
    await this.#tables.write([put(parkedEvents, toParkedRow(parked))])
  }

  async release(parked: ParkedEvent): Promise<void> {
    await this.#tables.write([remove(parkedEvents, parkedKey(parked))])
  }

  /** The event of `key` that is next; `undefined` when none is parked. */
  async next(lane: Lane, key: string): Promise<ParkedEvent | undefined> {
    const bound = { eventKey: key }
    const [row] = await this.#slice(lane, { from: bound, until: bound })
    return row
  }

  /** The next event of every parked key, one key at a time, in the order of the keys. */
  async *heads(lane: Lane): AsyncGenerator<ParkedEvent, void> {
    let [head] = await this.#slice(lane, {})
    while (head) {
      yield head
      // A bound that names the key alone passes over all of its events.
      ;[head] = await this.#slice(lane, { after: { eventKey: head.event.key } })
    }
  }

  async #slice(lane: Lane, bounds: LaneBounds): Promise<ParkedEvent[]> {
    const { group, topic, partition } = lane
    const place = { consumerGroup: group, topic, topicPartition: partition }
    const rows = await this.#tables.slice(parkedEvents, place, { limit: 1, ...bounds })
    return rows.map(fromParkedRow)
  }
}

type Bound = BoundOf<typeof parkedEvents>
interface LaneBounds {
  readonly after?: Bound
  readonly from?: Bound
  readonly until?: Bound
}

const REPLAYED = -(1n << 62n)
const REPLAY_BITS = 20n

/** The place of a replayed event: before all that are not, by its offset, then by the time. */
export const replayPosition = (offset: bigint, nowMs: number): bigint =>
  REPLAYED + (offset << REPLAY_BITS) + (BigInt(Math.floor(nowMs / 1000)) & 0xfffffn)

/** The offset at which the event lay in the log. */
export const offsetOf = (position: bigint): bigint =>
  position < 0n ? (position - REPLAYED) >> REPLAY_BITS : position
