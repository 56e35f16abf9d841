/**
 * One partition of one topic: hands out offsets, and reads what is stored.
 *
 * Offsets are given in memory (one process owns the folder) when an event is put, which is before
 * its transaction is on the disk, and one that is done again keeps them. So a consumer sees only up
 * to `visible`, below which every transaction has ended: else it could step over an event that is
 * still on its way. A transaction that failed leaves a hole.
 */
import type { LogEvent } from '../../kernel/events.ts'
import type { LogRecord } from '../log.ts'
import { Progress } from '../progress.ts'
import {
  appendedAtOf,
  decodeRecord,
  encodeRecord,
  offsetOf,
  type Place,
  recordKey,
} from './log-records.ts'
import type { Bytes } from './store.ts'

/** A batch ends after this many bytes, whatever its limit, but holds at least one event. */
const RUN_BYTES_MAX = 8 * 1024 * 1024
const OFFSET_MAX = Number.MAX_SAFE_INTEGER

export interface Run {
  readonly records: readonly LogRecord[]
  /** Where to go on: after the last record, or at `visible` when nothing lies between. */
  readonly next: number
}

/** Offsets given to the events of one transaction. */
export interface Share {
  readonly first: number
  readonly appendedAt: number
  readonly ticket: bigint
}

export class LogPartition {
  readonly topic: string
  readonly place: Place
  readonly #records: Bytes
  /** Transactions under way, each by its last offset. */
  readonly #underWay: Progress
  #start: number
  #next: number
  #lastAppendedAt: number

  /** `floor` is the next offset as of the last purge: it counts when no event is left. */
  constructor(records: Bytes, topic: string, place: Place, floor: number) {
    this.topic = topic
    this.place = place
    this.#records = records
    const last = this.#last()
    this.#next = Math.max(floor, (last?.offset ?? -1) + 1)
    this.#lastAppendedAt = last?.appendedAt ?? 0
    this.#start = this.#first(0) ?? this.#next
    this.#underWay = new Progress(BigInt(this.#next))
  }

  get partition(): number {
    return this.place.partition
  }

  /** The oldest offset retained. */
  get start(): number {
    return this.#start
  }

  get next(): number {
    return this.#next
  }

  /** The end for readers: no transaction below it is under way. */
  get visible(): number {
    return Number(this.#underWay.next)
  }

  /** Gives out `count` offsets. Each share is settled when its transaction has ended. */
  reserve(count: number, now: number): Share {
    // Times never fall within a partition, though a clock may step back: seeking by time bisects.
    this.#lastAppendedAt = Math.max(this.#lastAppendedAt, now)
    const first = this.#next
    this.#next += count
    const ticket = BigInt(this.#next - 1)
    this.#underWay.expect(ticket)
    return { first, appendedAt: this.#lastAppendedAt, ticket }
  }

  /** Puts events into the transaction being run, which may be run again. */
  put(events: readonly LogEvent[], { first, appendedAt }: Share): void {
    let offset = first
    for (const event of events) {
      void this.#records.put(recordKey(this.place, offset), encodeRecord(event, appendedAt))
      offset += 1
    }
  }

  settle({ ticket }: Share): void {
    this.#underWay.done(ticket)
  }

  read(from: number, limit: number): Run {
    const end = this.visible
    const records: LogRecord[] = []
    let bytes = 0
    for (const { key, value } of this.#range(Math.max(from, this.#start), end, limit)) {
      const offset = offsetOf(key, this.place)
      if (offset === undefined) break
      bytes += value.length
      if (bytes > RUN_BYTES_MAX && records.length > 0) return { records, next: offset }
      records.push(decodeRecord(value, offset))
    }
    const last = records.at(-1)
    const isCut = last !== undefined && records.length === limit
    return { records, next: isCut ? Number(last.offset) + 1 : end }
  }

  /** The first offset appended at or after `timeMs`. */
  offsetAt(timeMs: number): number {
    let low = this.#start
    let high = this.visible
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const probe = this.#probe(middle, high)
      if (probe === undefined || probe.appendedAt >= timeMs) high = middle
      else low = probe.offset + 1
    }
    return low
  }

  appendedAt(offset: number): number | undefined {
    return this.#probe(offset, this.visible)?.appendedAt
  }

  /** Queues the removal of at most `max` events below `end`; returns where the partition begins then. */
  removeBelow(end: number, max: number): { readonly removed: number; readonly start: number } {
    const keys = [
      ...this.#records.getKeys({
        start: recordKey(this.place, this.#start),
        end: recordKey(this.place, end),
        limit: max,
      }),
    ]
    for (const key of keys) void this.#records.remove(key)
    const last = keys.at(-1)
    const passed = last === undefined ? undefined : offsetOf(last, this.place)
    const isCut = passed !== undefined && keys.length === max
    return { removed: keys.length, start: isCut ? passed + 1 : end }
  }

  /** What retention removed is gone. */
  startAt(offset: number): void {
    this.#start = Math.max(this.#start, offset)
  }

  #range(from: number, end: number, limit: number) {
    return this.#records.getRange({
      start: recordKey(this.place, from),
      end: recordKey(this.place, end),
      limit,
    })
  }

  #probe(from: number, end: number) {
    for (const { key, value } of this.#range(from, end, 1)) {
      const offset = offsetOf(key, this.place)
      if (offset !== undefined) return { offset, appendedAt: appendedAtOf(value) }
    }
    return undefined
  }

  #first(from: number): number | undefined {
    for (const key of this.#records.getKeys({ start: recordKey(this.place, from), limit: 1 })) {
      return offsetOf(key, this.place)
    }
    return undefined
  }

  #last() {
    const from = recordKey(this.place, OFFSET_MAX)
    for (const { key, value } of this.#records.getRange({ start: from, reverse: true, limit: 1 })) {
      const offset = offsetOf(key, this.place)
      if (offset !== undefined) return { offset, appendedAt: appendedAtOf(value) }
    }
    return undefined
  }
}
