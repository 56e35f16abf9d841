/**
 * The parked keys of the partitions a worker owns: putting events aside, and working them off.
 *
 * A scan walks the heads of all parked keys and drains those that are due, each in its key's lane.
 * It reads the table and not its memory, so it also finds what a person replayed from elsewhere.
 */
import type { DeadLetterService, ParkedEvent } from '../services/dead-letter/dead-letter.ts'
import type { Clock } from '../services/platform/clock.ts'
import type { Assignment, LogRecord, TopicPartition } from '../services/platform/log.ts'
import { type Attempts, reasonOf } from './attempt.ts'
import type { Brake } from './brake.ts'
import { eachBounded, type KeyLanes } from './key-lanes.ts'
import type { WorkerMetrics } from './metrics.ts'
import { ParkedKeys } from './parked-keys.ts'
import { backOffMs, type Random, retryRange } from './retry.ts'
import type { WorkerSettings } from './settings.ts'

export interface ParkingDependencies {
  readonly group: string
  /** Keys drained at the same time. */
  readonly concurrency: number
  readonly deadLetters: DeadLetterService
  readonly attempts: Attempts
  readonly lanes: KeyLanes
  readonly brake: Brake
  readonly clock: Clock
  readonly random: Random
  readonly settings: WorkerSettings
  readonly metrics: WorkerMetrics
}

/** Why an event is put aside. */
export interface Setback {
  readonly attempts: number
  readonly reason: string
  /** Tried again after the longest wait: only another version of the program can help. */
  readonly unknown?: boolean
}

export const unknownHere = (error: unknown): Setback => ({
  attempts: 0,
  reason: reasonOf(error),
  unknown: true,
})

/** Heads looked at before those that are due among them are drained. */
const HEADS_AT_ONCE = 100

export class Parking {
  readonly #own: ParkingDependencies
  readonly #owned = new Map<string, ParkedKeys>()

  constructor(dependencies: ParkingDependencies) {
    this.#own = dependencies
  }

  /** Takes over a partition: knows its parked keys before any of its events is handled. */
  async own({ topic, partition, signal }: Assignment): Promise<void> {
    const { group, deadLetters, settings } = this.#own
    const keys = new ParkedKeys({
      lane: { group, topic, partition },
      signal,
      parking: deadLetters.parking,
      keysMax: settings.parkedKeysMax,
    })
    await keys.load()
    this.#owned.set(nameOf(keys.lane), keys)
  }

  async isParked(place: TopicPartition, key: string): Promise<boolean> {
    return (await this.#owned.get(nameOf(place))?.has(key)) ?? false
  }

  /** Parks an event; from here on its key is parked. */
  async putAside(place: TopicPartition, record: LogRecord, setback: Setback): Promise<void> {
    const { deadLetters, metrics } = this.#own
    this.#owned.get(nameOf(place))?.add(record.key)
    await deadLetters.parking.park(this.#parked(place, record, setback))
    metrics.count('parked')
  }

  async giveUp(place: TopicPartition, record: LogRecord, setback: Setback): Promise<void> {
    await this.#bury(this.#parked(place, record, setback))
  }

  /** Works off what is due in every partition owned. */
  async scan(): Promise<void> {
    const { clock, metrics } = this.#own
    let oldestAt = clock.now()
    for (const [name, keys] of this.#owned) {
      if (keys.signal.aborted) this.#owned.delete(name)
      else oldestAt = Math.min(oldestAt, await this.#scanLane(keys))
    }
    metrics.oldestParked(clock.now() - oldestAt)
  }

  /** Answers since when the oldest head has been parked. */
  async #scanLane(keys: ParkedKeys): Promise<number> {
    const { clock, deadLetters } = this.#own
    let oldestAt = clock.now()
    let due: string[] = []
    for await (const head of deadLetters.parking.heads(keys.lane)) {
      oldestAt = Math.min(oldestAt, head.parkedAt)
      if (head.retryAt <= clock.now() || !(await keys.has(head.event.key))) due.push(head.event.key)
      if (due.length === HEADS_AT_ONCE) {
        await this.#drainAll(keys, due)
        due = []
      }
    }
    await this.#drainAll(keys, due)
    return oldestAt
  }

  async #drainAll(keys: ParkedKeys, due: readonly string[]): Promise<void> {
    const { concurrency, lanes } = this.#own
    await eachBounded(due, concurrency, (key) =>
      lanes.run(laneName(keys.lane, key), () => this.#drain(keys, key)),
    )
  }

  /** Handles the events of a key until one is not due or fails; the last one frees the key. */
  async #drain(keys: ParkedKeys, key: string): Promise<void> {
    const { clock, deadLetters, brake } = this.#own
    keys.add(key)
    for (;;) {
      await brake.ready(keys.signal)
      if (keys.signal.aborted) return
      const parked = await deadLetters.parking.next(keys.lane, key)
      if (!parked) return keys.delete(key)
      if (parked.retryAt > clock.now() || !(await this.#retry(parked, keys.signal))) return
    }
  }

  /** Whether the event is out of the way. */
  async #retry(parked: ParkedEvent, signal: AbortSignal): Promise<boolean> {
    const { attempts, brake, deadLetters, settings } = this.#own
    const verdict = await attempts.make(parked.event)
    // It is the new owner's by now, who may have handled it: a failure here says nothing.
    if (signal.aborted && verdict.kind !== 'handled') return false
    switch (verdict.kind) {
      case 'handled':
        brake.release()
        await deadLetters.parking.release(parked)
        return true
      case 'outage':
        brake.pull()
        return false
      case 'unknown':
        await this.#postpone(parked, unknownHere(verdict.error))
        return false
      case 'poison':
        await this.#bury({ ...parked, reason: reasonOf(verdict.error) })
        return true
      case 'failed': {
        const failed = { attempts: parked.attempts + 1, reason: reasonOf(verdict.error) }
        if (failed.attempts >= settings.attemptsMax) {
          await this.#bury({ ...parked, ...failed })
          return true
        }
        await this.#postpone(parked, failed)
        return false
      }
    }
  }

  async #postpone(parked: ParkedEvent, setback: Setback): Promise<void> {
    const { attempts, reason } = setback
    const retryAt = this.#retryAt(setback)
    await this.#own.deadLetters.parking.park({ ...parked, attempts, reason, retryAt })
  }

  async #bury(parked: ParkedEvent): Promise<void> {
    await this.#own.deadLetters.bury(parked)
    this.#own.metrics.count('dead')
  }

  #parked({ topic, partition }: TopicPartition, record: LogRecord, setback: Setback): ParkedEvent {
    const { group, clock } = this.#own
    const { key, value, headers, offset } = record
    return {
      ...{ group, topic, partition },
      attempts: setback.attempts,
      reason: setback.reason,
      position: offset,
      event: { key, value, headers },
      retryAt: this.#retryAt(setback),
      parkedAt: clock.now(),
    }
  }

  /** An event that has not failed only waits for those before it. */
  #retryAt({ attempts, unknown }: Setback): number {
    const { clock, random, settings } = this.#own
    if (unknown) return clock.now() + settings.backOffMaxMs
    if (attempts === 0) return clock.now()
    return clock.now() + backOffMs(attempts, retryRange(settings), random)
  }
}

const nameOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

/** The lane of a key, for all that is done for it. */
export const laneName = (place: TopicPartition, key: string): string => `${nameOf(place)}/${key}`
