/** The logs of a test: quick to redeliver, and on the cluster in a namespace of their own. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Topic } from '../../services/kernel/events.ts'
import type { Values } from '../../services/kernel/settings.ts'
import { type Clock, SystemClock } from '../../services/platform/clock.ts'
import { makeKafka } from '../../services/platform/cluster/kafka-client.ts'
import { KafkaLog } from '../../services/platform/cluster/log.ts'
import { migrateTopics } from '../../services/platform/cluster/topics.ts'
import { EmbeddedLog } from '../../services/platform/embedded/log.ts'
import { Store } from '../../services/platform/embedded/store.ts'
import type { kafkaSettings, logSettings } from '../../services/platform/settings.ts'
import { Telemetry } from '../../services/platform/telemetry.ts'
import { eventually } from './eventually.ts'

export const quickLog: Values<typeof logSettings> = {
  visibilityMs: 60_000,
  sweepMs: 60_000,
  purgeMax: 10_000,
  redeliverMinMs: 5,
  redeliverMaxMs: 100,
}

export const silentTelemetry = (): Telemetry => new Telemetry({ level: 'silent', version: 'test' })

let topics = 0
/** A topic nobody has used. */
export const freshTopic = (partitions: number, retentionMs = 86_400_000): Topic => {
  topics += 1
  return { name: `topic-${topics}`, partitions, retentionMs }
}

/** A data folder, and logs on it. */
export class EmbeddedLogs implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'tributary-log-'))

  open(options: { clock?: Clock; settings?: Partial<Values<typeof logSettings>> } = {}) {
    const store = new Store({ folder: this.folder, mapBytes: 2 ** 30 })
    const telemetry = silentTelemetry()
    const log = new EmbeddedLog({
      store,
      clock: options.clock ?? new SystemClock(),
      telemetry,
      settings: { ...quickLog, ...options.settings },
    })
    return new OpenEmbeddedLog(log, store, telemetry)
  }

  [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true })
    return Promise.resolve()
  }
}

class OpenEmbeddedLog implements AsyncDisposable {
  readonly log: EmbeddedLog
  readonly store: Store
  readonly telemetry: Telemetry
  #isOpen: boolean = true

  constructor(log: EmbeddedLog, store: Store, telemetry: Telemetry) {
    this.log = log
    this.store = store
    this.telemetry = telemetry
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.log[Symbol.asyncDispose]()
    await this.store[Symbol.asyncDispose]()
  }
}

/** A namespace on the brokers, and logs in it. */
export class KafkaLogs implements AsyncDisposable {
  readonly namespace = `test_${randomUUID().slice(0, 8)}`
  readonly settings: Values<typeof kafkaSettings>
  readonly telemetry = silentTelemetry()

  constructor(brokers: readonly string[], settings: Partial<Values<typeof kafkaSettings>> = {}) {
    this.settings = { ...quickKafka, ...settings, brokers }
  }

  open(topics: readonly Topic[] = []): Promise<KafkaLog> {
    return KafkaLog.open(topics, this.#options())
  }

  async topic(partitions: number, retentionMs?: number): Promise<Topic> {
    const topic = freshTopic(partitions, retentionMs)
    await this.migrate([topic])
    return topic
  }

  migrate(topics: readonly Topic[]): Promise<void> {
    const { namespace, settings, telemetry } = this
    return migrateTopics(topics, { namespace, settings, telemetry })
  }

  /** Removes everything of the namespace. */
  async [Symbol.asyncDispose](): Promise<void> {
    const admin = makeKafka({ settings: this.settings, telemetry: this.telemetry }).admin()
    await admin.connect()
    const isOurs = (name: string) => name.startsWith(`${this.namespace}.`)
    // A broker that has just started may still be loading its groups.
    const { groups } = await eventually(() => admin.listGroups())
    const groupIds = groups.map(({ groupId }) => groupId).filter(isOurs)
    if (groupIds.length > 0) await admin.deleteGroups(groupIds)
    const topics = (await admin.listTopics()).filter(isOurs)
    if (topics.length > 0) await admin.deleteTopics({ topics })
    await admin.disconnect()
  }

  #options() {
    const { namespace, settings, telemetry } = this
    return { namespace, kafka: settings, settings: quickLog, telemetry }
  }
}

const quickKafka: Values<typeof kafkaSettings> = {
  brokers: [],
  replication: 1,
  appendTimeoutMs: 10_000,
  queuedBytesMax: 64 * 1024 ** 2,
  sessionTimeoutMs: 6_000,
  fetchWaitMs: 20,
}
