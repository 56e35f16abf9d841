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
import { formatId, type IdGenerator, parseId } from '../kernel/ids.ts'
import { checkFirst, type Page, type PageRequest } from '../kernel/page.ts'
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

export interface DeadLetterQuery extends PageRequest {
  /** All groups when left out. */
  readonly group?: string
}

/** Most letters on one page. */
const LETTERS_MAX = SLICE_MAX

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

  /** Group by group, the newest first within each. */
  async list({ group, first, after }: DeadLetterQuery): Promise<Page<DeadLetter>> {
    checkFirst(first, LETTERS_MAX)
    const position = after === undefined ? undefined : readPosition(after)
    const letters: DeadLetter[] = []
    for (const consumerGroup of group === undefined ? await this.#groups() : [group]) {
      if (position && consumerGroup < position.group) continue
      const begun = position?.group === consumerGroup ? { after: { id: position.id } } : {}
      const slice = { limit: first - letters.length, ...begun }
      const rows = await this.#tables.slice(deadLetters, { consumerGroup }, slice)
      letters.push(...rows.map(fromLetterRow))
      if (letters.length === first) break
    }
    const last = letters.length === first ? letters.at(-1) : undefined
    return { items: letters, ...(last ? { next: positionOf(last) } : {}) }
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

/** A place in the list: `ID@GROUP`. */
const positionOf = ({ id, group }: DeadLetter): string => `${formatId(id)}@${group}`

const readPosition = (cursor: string): { readonly id: bigint; readonly group: string } => {
  const [id = '', ...group] = cursor.split('@')
  return { id: parseId(id, 'after'), group: group.join('@') }
}

/** `00-TRACE-SPAN-FLAGS` → TRACE */
const traceIdOf = ({ headers: { traceparent = '' } }: LogEvent): string =>
  traceparent.split('-')[1] ?? ''
