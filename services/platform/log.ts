/**
 * The event log: durable, partitioned by key, at least once.
 *
 * Order holds within one key (in truth: within a partition, and a key is always in the same one)
 * and nowhere else. A group is one reader of a topic, however many processes it has: each partition
 * is handled by one member at a time, and when a member dies, stops or falls silent another takes
 * over from the last committed offset. Handlers must be idempotent: everything after the last
 * commit comes again. A group that is new begins at the oldest event retained.
 *
 * Progress is manual. A handler marks each finished record with `batch.done(offset)`, in any order;
 * what is committed is the longest prefix without a hole. When `handle` rejects, or returns before
 * all is done, what follows that prefix comes again after a back-off. `batch.signal` aborts when the
 * partition is lost or the consumer stops: what is done before that is committed, work that goes on
 * after it may be done again by another.
 *
 * Offsets grow within a partition but may have holes. The adapter owns its connections; no client
 * type crosses this line. Appends reject in bounded time, with OutcomeUnknownError when the events
 * may have been stored.
 */
import { BadInputError, DomainError, TooLargeError, UnavailableError } from '../kernel/errors.ts'
import type { LogEvent, Topic } from '../kernel/events.ts'

/** The key of a failing event becomes a part of a key in the tables. */
export const EVENT_KEY_BYTES_MAX = 512
/** Key, value and headers of one event. */
export const EVENT_BYTES_MAX = 900_000
export const APPEND_EVENTS_MAX = 10_000
export const APPEND_BYTES_MAX = 16 * 1024 * 1024
export const READ_MAX = 1_000

export type Group = string

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** An event as it lies in the log. */
export interface LogRecord extends LogEvent {
  readonly offset: bigint
  /** When it was appended, ms by the engine's clock. */
  readonly appendedAt: number
}

export interface LogBatch extends TopicPartition {
  /** In order, at least one, all of one partition. */
  readonly records: readonly LogRecord[]
  readonly signal: AbortSignal
  done(offset: bigint): void
}

/** A partition given to a consumer. The signal aborts when it is lost or the consumer stops. */
export interface Assignment extends TopicPartition {
  readonly signal: AbortSignal
}

export interface Subscription {
  readonly group: Group
  readonly topics: readonly Topic[]
  /** Most records handed over at once. */
  readonly batchMax: number
  /** Partitions handled at the same time by this consumer. */
  readonly partitionsAtOnce: number
  /**
   * Called before the first batch of partitions given to this consumer. In a rebalance an engine may
   * take all partitions back and give some of them again.
   */
  assigned?(partitions: readonly Assignment[]): Promise<void>
  handle(batch: LogBatch): Promise<void>
}

/** A running member of a group. Disposing it hands its partitions back and waits for handlers. */
export interface Consumer extends AsyncDisposable {
  /** Takes no further batch until `resume`; keeps its membership. */
  pause(): void
  resume(): void
}

export interface PartitionLag extends TopicPartition {
  /** The next offset the group would handle. */
  readonly committed: bigint
  /** The offset after the newest event. */
  readonly end: bigint
  /** Events not yet committed; holes may make it larger than the truth. */
  readonly lag: number
}

export type Position =
  | { readonly at: 'start' | 'end' }
  /** The first event appended at or after this time. */
  | { readonly timeMs: number }
  | { readonly partition: number; readonly offset: bigint }

export interface Log extends AsyncDisposable {
  /** Resolves once the events would survive a crash. Events of one key keep their order. */
  append(topic: Topic, events: readonly LogEvent[]): Promise<void>
  /** Joins the group. Resolves when the consumer runs; it goes on until it is disposed. */
  consume(subscription: Subscription): Promise<Consumer>
  /** Resolves when `group` has committed everything appended to `topics` before this call. */
  settled(group: Group, topics: readonly Topic[]): Promise<void>
  lag(group: Group, topics: readonly Topic[]): Promise<PartitionLag[]>
  /** Moves a group that has no running consumer, to handle events again or to pass them over. */
  seek(group: Group, topic: Topic, position: Position): Promise<void>
  /** Reads without a group: for tools and tests. At most 1,000 records. */
  read(
    topic: Topic,
    from: { readonly partition: number; readonly offset: bigint; readonly limit: number },
  ): Promise<LogRecord[]>
}

export class LogUnavailableError extends UnavailableError {
  override readonly name = 'LogUnavailableError'
}

/** A topic is stored with another number of partitions than is declared; no key may move. */
export class TopicMismatchError extends DomainError {
  override readonly name = 'TopicMismatchError'
  readonly code = 'CONFLICT'
}

/** A topic has not been created yet; `migrate` does that. */
export class TopicMissingError extends DomainError {
  override readonly name = 'TopicMissingError'
  readonly code = 'NOT_FOUND'
}

/** A group with running consumers cannot be moved. */
export class GroupBusyError extends DomainError {
  override readonly name = 'GroupBusyError'
  readonly code = 'CONFLICT'
}

/** The partition of a key: the same on every engine and for ever (32-bit FNV-1a of its UTF-8). */
export const partitionOf = (key: string, partitions: number): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at += 1) {
    const unit = key.charCodeAt(at)
    // Nearly every key is ASCII, whose UTF-8 is the code unit itself: no bytes are made for those.
    if (unit > 0x7f) return hashBytes(key) % partitions
    hash = Math.imul(hash ^ unit, 0x01000193)
  }
  return (hash >>> 0) % partitions
}

const hashBytes = (key: string): number => {
  let hash = 0x811c9dc5
  for (const byte of encoder.encode(key)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

const encoder = new TextEncoder()

/** What both adapters refuse before they touch anything. Returns the bytes of all events. */
export const checkAppend = (events: readonly LogEvent[]): number => {
  if (events.length > APPEND_EVENTS_MAX) {
    throw new TooLargeError(`append at most ${APPEND_EVENTS_MAX} events at once`)
  }
  let total = 0
  for (const event of events) total += checkEvent(event)
  if (total > APPEND_BYTES_MAX) {
    throw new TooLargeError(`append at most ${APPEND_BYTES_MAX} bytes at once`)
  }
  return total
}

const checkEvent = ({ key, value, headers }: LogEvent): number => {
  const keyBytes = Buffer.byteLength(key)
  if (keyBytes === 0) throw new BadInputError('an event needs a key', { field: 'key' })
  if (keyBytes > EVENT_KEY_BYTES_MAX) {
    throw new TooLargeError(`the key of an event holds at most ${EVENT_KEY_BYTES_MAX} bytes`, {
      field: 'key',
    })
  }
  let bytes = keyBytes + Buffer.byteLength(value)
  for (const name in headers)
    bytes += Buffer.byteLength(name) + Buffer.byteLength(headers[name] ?? '')
  if (bytes > EVENT_BYTES_MAX) {
    throw new TooLargeError(`an event holds at most ${EVENT_BYTES_MAX} bytes`, { field: 'value' })
  }
  return bytes
}

/** What both adapters refuse of a reader without a group. */
export const checkRead = (topic: Topic, from: { partition: number; limit: number }): void => {
  if (!(from.partition >= 0 && from.partition < topic.partitions)) {
    throw new BadInputError(`${topic.name} has no partition ${from.partition}`, {
      field: 'partition',
    })
  }
  if (!(from.limit >= 1 && from.limit <= READ_MAX)) {
    throw new BadInputError(`read 1 to ${READ_MAX} records at once`, { field: 'limit' })
  }
}
