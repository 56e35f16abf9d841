/**
 * Events a worker has given up, kept until a person replays or drops them.
 *
 * A replay hands the event back to the one group that failed it, through that group's parking lot:
 * no other group sees it, and events of its key wait until it is done. Nothing is ever drained by
 * itself. Each step is ordered so that a crash in the middle leaves the event twice, never nowhere;
 * handlers are idempotent. Every death gets an id of its own, for the reason every replay gets a
 * position of its own (parking-lot.ts).
 */
import type { AuditService } from '../audit/audit.ts'
import { NotFoundError } from '../kernel/errors.ts'
import type { LogEvent } from '../kernel/events.ts'
import { formatId, type IdGenerator } from '../kernel/ids.ts'
import type { Clock } from '../platform/clock.ts'
import { put, remove, SLICE_MAX, type Tables } from '../platform/tables.ts'
import {
  deadLetterGroups,
  deadLetters,
  fromLetterRow,
  GROUPS_SCOPE,
  toLetterRow,
} from './dead-letter-tables.ts'
import { type Lane, offsetOf, type ParkedEvent, ParkingLot, replayPosition } from './parking-lot.ts'

export { type Lane, type ParkedEvent, ParkingLot } from './parking-lot.ts'

export interface DeadLetter extends Lane {
  readonly id: bigint
  readonly offset: bigint
  readonly event: LogEvent
  readonly attempts: number
  readonly reason: string
  /** The trace that committed the event; empty when it carried none. */
  readonly traceId: string
  readonly firstFailedAt: number
  readonly diedAt: number
}

export interface DeadLetterQuery {
  /** All groups when left out. */
  readonly group?: string
  readonly limit: number
}

export interface DeadLetterDependencies {
  readonly tables: Tables
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly audit: AuditService
}

export class DeadLetterService {
  readonly parking: ParkingLot
  readonly #tables: Tables
  readonly #clock: Clock
  readonly #ids: Pick<IdGenerator, 'next'>
  readonly #audit: AuditService

  constructor({ tables, clock, ids, audit }: DeadLetterDependencies) {
    this.parking = new ParkingLot(tables)
    this.#tables = tables
    this.#clock = clock
    this.#ids = ids
    this.#audit = audit
  }

  /** Gives an event up: it leaves the parking lot, if it is there, once the letter is kept. */
  async bury(parked: ParkedEvent): Promise<void> {
    const { group, topic, partition, position, event, attempts, reason, parkedAt } = parked
    const diedAt = this.#clock.now()
    const letter: DeadLetter = {
      ...{ group, topic, partition, event, attempts, reason },
      id: this.#ids.next(),
      offset: offsetOf(position),
      traceId: traceIdOf(event),
      firstFailedAt: parkedAt,
      diedAt,
    }
    await this.#tables.write([
      put(deadLetterGroups, { scope: GROUPS_SCOPE, consumerGroup: group, lastDiedAt: diedAt }),
    ])
    await this.#tables.write([put(deadLetters, toLetterRow(letter))])
    await this.parking.release(parked)
  }

  /** Newest first within a group. */
  async list({ group, limit }: DeadLetterQuery): Promise<DeadLetter[]> {
    const letters: DeadLetter[] = []
    for (const consumerGroup of group === undefined ? await this.#groups() : [group]) {
      const left = limit - letters.length
      if (left <= 0) break
      const rows = await this.#tables.slice(
        deadLetters,
        { consumerGroup },
        { limit: Math.min(left, SLICE_MAX) },
      )
      letters.push(...rows.map(fromLetterRow))
    }
    return letters
  }

  async show(id: bigint): Promise<DeadLetter> {
    for (const consumerGroup of await this.#groups()) {
      const row = await this.#tables.get(deadLetters, { consumerGroup, id })
      if (row) return fromLetterRow(row)
    }
    throw new NotFoundError(`there is no dead letter ${formatId(id)}`, { field: 'id' })
  }

  /** Hands the event to its group again, as the first of its key. */
  async replay(id: bigint, actor: string): Promise<DeadLetter> {
    const letter = await this.show(id)
    const { group, topic, partition, offset, event } = letter
    const now = this.#clock.now()
    await this.parking.park({
      ...{ group, topic, partition, event },
      position: replayPosition(offset, now),
      attempts: 0,
      retryAt: now,
      parkedAt: now,
      reason: `replayed by ${actor}`,
    })
    await this.#discard(letter, { actor, action: 'dead-letter.replayed' })
    return letter
  }

  async drop(id: bigint, actor: string): Promise<DeadLetter> {
    const letter = await this.show(id)
    await this.#discard(letter, { actor, action: 'dead-letter.dropped' })
    return letter
  }

  /** The letter goes and the trail of it stays, in one batch. */
  async #discard(
    letter: DeadLetter,
    { actor, action }: { readonly actor: string; readonly action: string },
  ): Promise<void> {
    const { group, id, topic, partition, offset, event, reason } = letter
    await this.#tables.write([
      remove(deadLetters, { consumerGroup: group, id }),
      this.#audit.entry({
        id: this.#ids.next(),
        at: this.#clock.now(),
        actor,
        action,
        subject: formatId(id),
        detail: `${group}: ${topic}/${partition}@${offset} key ${event.key}: ${reason}`,
      }),
    ])
  }

  async #groups(): Promise<string[]> {
    const page = { limit: SLICE_MAX }
    const rows = await this.#tables.slice(deadLetterGroups, { scope: GROUPS_SCOPE }, page)
    return rows.map(({ consumerGroup }) => consumerGroup)
  }
}

/** `00-TRACE-SPAN-FLAGS` → TRACE */
const traceIdOf = ({ headers: { traceparent = '' } }: LogEvent): string =>
  traceparent.split('-')[1] ?? ''
