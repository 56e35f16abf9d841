/**
 * Runs one worker on one topic.
 *
 * **Order.** Everything done for a key, from the log or from the parking lot, goes through that key's
 * lane, one thing at a time. Different keys run side by side.
 *
 * **Failure.** A failing event is tried a few times in place. Then it is parked: written to the
 * parking lot *before* the offset passes it, and every later event of its key follows it there. The
 * owner of the partition works parked keys off in order, with growing pauses; after `attemptsMax`
 * tries the event becomes a dead letter and its key goes on with the next. What cannot be read is a
 * dead letter at once; what this version does not know stays parked until one does.
 *
 * **Outage.** An engine that does not answer says nothing about an event: the whole worker pauses,
 * and no attempt is counted, however long it takes.
 *
 * **Hand-over.** When a partition is lost or the worker stops, events not begun are handed back by
 * leaving them undone. The new owner loads the parked keys before its first batch, so a key parked
 * by one member stays parked at the next. A member that was cut off and does not know yet that it has
 * lost a partition may still handle or park an event; the new owner has it from the log as well, so
 * the event is repeated, perhaps after later ones of its key, and never first handled out of order.
 */
import type { Services } from '../services/compose.ts'
import type { Clock } from '../services/platform/clock.ts'
import type { Assignment, Consumer, Log, LogBatch, LogRecord } from '../services/platform/log.ts'
import type { Telemetry } from '../services/platform/telemetry.ts'
import { Attempts, reasonOf, type Verdict } from './attempt.ts'
import { Brake } from './brake.ts'
import { eachBounded, KeyLanes } from './key-lanes.ts'
import type { EventWorkerDefinition } from './kit.ts'
import { WorkerMetrics } from './metrics.ts'
import { laneName, Parking, type Setback, unknownHere } from './parking.ts'
import { backOffMs, isOutage, type Random, retryRange } from './retry.ts'
import type { WorkerSettings } from './settings.ts'

export interface WorkerDependencies {
  readonly log: Log
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly services: Services
  readonly settings: WorkerSettings
  readonly random: Random
}

export class EventWorker implements AsyncDisposable {
  readonly definition: EventWorkerDefinition
  readonly #own: WorkerDependencies
  readonly #attempts: Attempts
  readonly #brake: Brake
  readonly #lanes = new KeyLanes()
  readonly #metrics: WorkerMetrics
  readonly #parking: Parking
  /** No new work. */
  readonly #stopping = new AbortController()
  /** The time to finish is over. */
  readonly #overdue = new AbortController()
  #consumer: Consumer | undefined
  #scanning: Promise<void> = Promise.resolve()
  #loop: Promise<void> = Promise.resolve()

  constructor(definition: EventWorkerDefinition, dependencies: WorkerDependencies) {
    const { clock, random, settings, services, telemetry } = dependencies
    this.definition = definition
    this.#own = dependencies
    this.#metrics = new WorkerMetrics(definition.name, telemetry)
    this.#attempts = new Attempts({
      definition,
      context: { services, signal: this.#overdue.signal },
      telemetry,
      metrics: this.#metrics,
    })
    this.#brake = new Brake({
      clock,
      random,
      range: () => ({ minMs: settings.backOffMinMs, maxMs: settings.pauseMaxMs }),
      changed: (pulled) => this.#braked(pulled),
      signal: this.#stopping.signal,
    })
    this.#parking = new Parking({
      ...{ group: definition.name, concurrency: definition.concurrency },
      ...{ clock, random, settings, deadLetters: services.deadLetters },
      ...{ attempts: this.#attempts, lanes: this.#lanes, brake: this.#brake },
      metrics: this.#metrics,
    })
  }

  /** Joins its group. Resolves when it runs. */
  async start(): Promise<void> {
    const { name, topic, batchMax, concurrency } = this.definition
    this.#consumer = await this.#own.log.consume({
      group: name,
      topics: [topic],
      batchMax,
      partitionsAtOnce: Math.min(topic.partitions, concurrency),
      assigned: (partitions) => this.#assigned(partitions),
      handle: (batch) => this.#handle(batch),
    })
    this.#loop = this.#scanNowAndThen()
  }

  /** Works off the parked events that are due. Scans follow one another, never overlap. */
  scanParked(): Promise<void> {
    this.#scanning = this.#scanning.then(() => this.#scan())
    return this.#scanning
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    const { clock, settings, telemetry } = this.#own
    const done = new AbortController()
    const stopped = Promise.all([this.#consumer?.[Symbol.asyncDispose](), this.#loop])
    const overdue = clock.sleep(settings.stopMs, done.signal).then(() => false)
    const finished = await Promise.race([stopped.then(() => true), overdue])
    done.abort()
    if (finished) return
    this.#overdue.abort()
    telemetry.log.warn({ worker: this.definition.name }, 'handlers did not finish in time')
    stopped.catch((error) => telemetry.log.error({ err: error }, 'a worker failed to stop'))
  }

  async #assigned(partitions: readonly Assignment[]): Promise<void> {
    for (const assignment of partitions) {
      await this.#throughOutages(assignment.signal, async () => {
        await this.#parking.own(assignment)
        return true
      })
    }
  }

  async #handle(batch: LogBatch): Promise<void> {
    const byKey = groupByKey(batch.records)
    await eachBounded([...byKey], this.definition.concurrency, ([key, records]) =>
      this.#lanes.run(laneName(batch, key), () => this.#handleKey(batch, records)),
    )
  }

  async #handleKey(batch: LogBatch, records: readonly LogRecord[]): Promise<void> {
    for (const record of records) {
      const settled = await this.#throughOutages(batch.signal, () => this.#settle(batch, record))
      if (!settled) return
      batch.done(record.offset)
    }
  }

  /** Handles an event or puts it where it is not lost; throws only on an outage of the tables. */
  async #settle(batch: LogBatch, record: LogRecord): Promise<boolean> {
    if (await this.#parking.isParked(batch, record.key)) {
      if (batch.signal.aborted) return false
      await this.#parking.putAside(batch, record, { attempts: 0, reason: 'behind a parked event' })
      return true
    }
    for (let failures = 1; ; failures += 1) {
      const verdict = await this.#attempt(batch, record)
      if (verdict === undefined) return false
      if (verdict.kind !== 'failed') return await this.#conclude(batch, record, verdict)
      if (failures >= this.#own.settings.attemptsInPlace) {
        const reason = reasonOf(verdict.error)
        return await this.#park(batch, record, { attempts: failures, reason })
      }
      await this.#waitAfter(failures, batch.signal)
      if (batch.signal.aborted) return false
    }
  }

  /** Tries until an engine that is away has come back; `undefined` when the event is handed back. */
  async #attempt({ signal }: LogBatch, record: LogRecord): Promise<Verdict | undefined> {
    for (;;) {
      await this.#brake.ready(signal)
      if (signal.aborted) return undefined
      const verdict = await this.#attempts.make(record)
      if (verdict.kind !== 'outage') {
        this.#brake.release()
        return verdict
      }
      this.#brake.pull()
    }
  }

  async #conclude(batch: LogBatch, record: LogRecord, verdict: Verdict): Promise<boolean> {
    if (verdict.kind === 'unknown')
      return await this.#park(batch, record, unknownHere(verdict.error))
    if (verdict.kind === 'poison') {
      await this.#parking.giveUp(batch, record, { attempts: 1, reason: reasonOf(verdict.error) })
    }
    return true
  }

  async #park(batch: LogBatch, record: LogRecord, setback: Setback): Promise<boolean> {
    // Whoever lost the partition must not park behind the back of its new owner.
    if (batch.signal.aborted) return false
    await this.#parking.putAside(batch, record, setback)
    const { name } = this.definition
    const { key, offset } = record
    const { reason } = setback
    this.#own.telemetry.log.warn({ worker: name, key, offset: `${offset}`, reason }, 'event parked')
    return true
  }

  async #waitAfter(failures: number, signal: AbortSignal): Promise<void> {
    const { clock, random, settings } = this.#own
    await clock.sleep(backOffMs(failures, retryRange(settings), random), signal)
  }

  /** Repeats `work` while the tables do not answer. Answers `false` when handed back instead. */
  async #throughOutages(signal: AbortSignal, work: () => Promise<boolean>): Promise<boolean> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!isOutage(error)) throw error
        this.#brake.pull()
        await this.#brake.ready(signal)
        if (signal.aborted) return false
      }
    }
  }

  async #scanNowAndThen(): Promise<void> {
    const { clock, settings } = this.#own
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await clock.sleep(settings.parkedScanMs, signal)
      if (!signal.aborted) await this.scanParked()
    }
  }

  async #scan(): Promise<void> {
    try {
      await this.#parking.scan()
    } catch (error) {
      // The events stay parked: the next scan tries again.
      if (isOutage(error)) this.#brake.pull()
      const { name } = this.definition
      this.#own.telemetry.log.warn({ err: error, worker: name }, 'parked events were not scanned')
    }
  }

  #braked(pulled: boolean): void {
    this.#metrics.paused(pulled)
    if (pulled) this.#consumer?.pause()
    else this.#consumer?.resume()
    const { name } = this.definition
    const line = pulled ? 'worker waits for an engine' : 'worker goes on'
    this.#own.telemetry.log.warn({ worker: name }, line)
  }
}

const groupByKey = (records: readonly LogRecord[]): Map<string, LogRecord[]> => {
  const groups = new Map<string, LogRecord[]>()
  for (const record of records) {
    const group = groups.get(record.key)
    if (group) group.push(record)
    else groups.set(record.key, [record])
  }
  return groups
}
