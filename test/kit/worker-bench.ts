/** Workers on a log turned by hand and on real embedded tables, for tests of the kit alone. */
import { AuditService } from '../../services/audit/audit.ts'
import type { Services } from '../../services/compose.ts'
import { DeadLetterService } from '../../services/dead-letter/dead-letter.ts'
import {
  type Event,
  encodeEvent,
  makeEvent,
  SettingChanged,
  topics,
} from '../../services/kernel/events.ts'
import { IdGenerator } from '../../services/kernel/ids.ts'
import type { Tables } from '../../services/platform/tables.ts'
import { Telemetry } from '../../services/platform/telemetry.ts'
import { EventWorker } from '../../workers/event-worker.ts'
import { defineWorker, on, type WorkContext } from '../../workers/kit.ts'
import type { WorkerSettings } from '../../workers/settings.ts'
import { HandLog, type HandMember } from './hand-log.ts'
import { ManualClock } from './manual-clock.ts'
import { openTables } from './open-tables.ts'

export const quickSettings: WorkerSettings = {
  attemptsInPlace: 2,
  attemptsMax: 4,
  backOffMinMs: 10,
  backOffMaxMs: 80,
  pauseMaxMs: 100,
  parkedScanMs: 50,
  parkedKeysMax: 100,
  stopMs: 5_000,
}

export type Handle = (subject: string, context: WorkContext) => Promise<void>

export class WorkerBench implements AsyncDisposable {
  readonly clock = new ManualClock()
  readonly telemetry = new Telemetry({ level: 'silent', version: 'test' })
  readonly log = new HandLog(topics.operations)
  readonly ids: IdGenerator
  readonly tables: Tables
  readonly deadLetters: DeadLetterService
  readonly workers: EventWorker[] = []
  readonly #close: () => Promise<void>

  private constructor(tables: Tables, close: () => Promise<void>) {
    const { clock } = this
    const until = clock.now() + 1e12
    this.ids = new IdGenerator(() => clock.now(), { node: 1, afterMs: 0, untilMs: until })
    this.tables = tables
    const audit = new AuditService({ tables, clock })
    this.deadLetters = new DeadLetterService({ tables, clock, ids: this.ids, audit })
    this.#close = close
  }

  static async open(): Promise<WorkerBench> {
    const opened = await openTables.embedded()
    return new WorkerBench(opened.tables, async () => await opened[Symbol.asyncDispose]())
  }

  /** A member of the group `bench`; it owns nothing until it is given something. */
  async member(handle: Handle, settings: Partial<WorkerSettings> = {}): Promise<HandMember> {
    const worker = new EventWorker(
      defineWorker({
        name: 'bench',
        role: 'audit',
        topic: topics.operations,
        batchMax: 5,
        concurrency: 3,
        handlers: [on(SettingChanged, ({ data }, context) => handle(data.value, context))],
      }),
      {
        ...{ log: this.log, clock: this.clock, telemetry: this.telemetry, random: () => 1 },
        settings: { ...quickSettings, ...settings },
        services: { deadLetters: this.deadLetters } as Services,
      },
    )
    await worker.start()
    this.workers.push(worker)
    const member = this.log.members.at(-1)
    if (!member) throw new Error('the worker did not join')
    return member
  }

  event(key: string, subject: string): Event {
    const at = this.clock.now()
    const data = { name: key, value: subject, actor: 'test', changedAt: at }
    return makeEvent(SettingChanged, { id: this.ids.next(), at }, data)
  }

  /** Appends an event of `key`; its value names it to the handler. */
  async append(key: string, subject: string): Promise<void> {
    await this.log.append(topics.operations, [encodeEvent(this.event(key, subject))])
  }

  async appendRaw(key: string, value: string): Promise<void> {
    await this.log.append(topics.operations, [{ key, value, headers: {} }])
  }

  /** Lets time pass in small steps, real work between them, until `done`. */
  async until(done: () => boolean | Promise<boolean>, stepMs = 10): Promise<void> {
    const deadline = performance.now() + 20_000
    while (!(await done())) {
      if (performance.now() > deadline) throw new Error('it does not come to an end')
      await this.clock.advance(stepMs)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.workers) await worker[Symbol.asyncDispose]()
    await this.#close()
  }
}
