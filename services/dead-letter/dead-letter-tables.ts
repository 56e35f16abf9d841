/** How failed events lie in their tables. */
import type { LogEvent } from '../kernel/events.ts'
import {
  type DeadLettersRow,
  deadLetterGroups,
  deadLetters,
  type ParkedEventsRow,
  parkedEvents,
} from '../platform/generated/tables.ts'
import type { DeadLetter } from './dead-letter.ts'
import type { ParkedEvent } from './parking-lot.ts'

export { deadLetterGroups, deadLetters, parkedEvents }

/** All groups lie in one partition: there are as many as there are workers. */
export const GROUPS_SCOPE = 'all'

export const parkedKey = ({ group, topic, partition, event, position }: ParkedEvent) => ({
  consumerGroup: group,
  topic,
  topicPartition: partition,
  eventKey: event.key,
  logOffset: position,
})

export const toParkedRow = (parked: ParkedEvent): ParkedEventsRow => ({
  ...parkedKey(parked),
  event: parked.event.value,
  headers: JSON.stringify(parked.event.headers),
  attempts: parked.attempts,
  retryAt: parked.retryAt,
  parkedAt: parked.parkedAt,
  reason: parked.reason,
})

export const fromParkedRow = (row: ParkedEventsRow): ParkedEvent => ({
  group: row.consumerGroup,
  topic: row.topic,
  partition: row.topicPartition,
  position: row.logOffset,
  event: { key: row.eventKey, value: row.event ?? '', headers: readHeaders(row.headers) },
  attempts: row.attempts ?? 0,
  retryAt: row.retryAt ?? 0,
  parkedAt: row.parkedAt ?? 0,
  reason: row.reason ?? '',
})

export const toLetterRow = (letter: DeadLetter): DeadLettersRow => ({
  consumerGroup: letter.group,
  id: letter.id,
  topic: letter.topic,
  topicPartition: letter.partition,
  logOffset: letter.offset,
  eventKey: letter.event.key,
  event: letter.event.value,
  headers: JSON.stringify(letter.event.headers),
  attempts: letter.attempts,
  reason: letter.reason,
  traceId: letter.traceId,
  firstFailedAt: letter.firstFailedAt,
  diedAt: letter.diedAt,
})

export const fromLetterRow = (row: DeadLettersRow): DeadLetter => ({
  group: row.consumerGroup,
  id: row.id,
  topic: row.topic ?? '',
  partition: row.topicPartition ?? 0,
  offset: row.logOffset ?? 0n,
  event: {
    key: row.eventKey ?? '',
    value: row.event ?? '',
    headers: readHeaders(row.headers),
  },
  attempts: row.attempts ?? 0,
  reason: row.reason ?? '',
  traceId: row.traceId ?? '',
  firstFailedAt: row.firstFailedAt ?? 0,
  diedAt: row.diedAt ?? 0,
})

const readHeaders = (text: string | null): LogEvent['headers'] =>
  JSON.parse(text ?? '{}') as LogEvent['headers']
