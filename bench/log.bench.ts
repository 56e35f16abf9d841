/** The log against the engine beneath it, doing the same bytes with the same durability. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kafka, Producer } from 'kafkajs'
import { type Database, open } from 'lmdb'
import { readStack } from '../scripts/stack/control.ts'
import type { LogEvent, Topic } from '../services/kernel/events.ts'
import { SystemClock } from '../services/platform/clock.ts'
import { makeKafka } from '../services/platform/cluster/kafka-client.ts'
import { KafkaLog } from '../services/platform/cluster/log.ts'
import { migrateTopics, topicName } from '../services/platform/cluster/topics.ts'
import { EmbeddedLog } from '../services/platform/embedded/log.ts'
import { Store } from '../services/platform/embedded/store.ts'
import { type Log, partitionOf } from '../services/platform/log.ts'
import { Telemetry } from '../services/platform/telemetry.ts'
import { type Bench, type BenchKit, type Figure, quantile, type Work } from './kit.ts'

const BATCH = 100
/** Appends under way at a time, on both sides. */
const IN_FLIGHT = 8
const MAP_BYTES = 2 ** 34
const LATENCY_ROUNDS = 2_000

const logValues = {
  visibilityMs: 600_000,
  sweepMs: 60_000,
  purgeMax: 10_000,
  redeliverMinMs: 200,
  redeliverMaxMs: 30_000,
}
const telemetry = new Telemetry({ level: 'silent', version: 'bench' })
const topic: Topic = { name: 'bench', partitions: 4, retentionMs: 86_400_000 }
const filler = 'x'.repeat(1_000)
let made = 0

const makeEvents = (count: number): LogEvent[] =>
  Array.from({ length: count }, () => {
    made += 1
    return { key: `user:${made % 997}`, value: `{"n":${made},"text":"${filler}"}`, headers: {} }
  })

/** `IN_FLIGHT` batches at a time, a few rounds a call. */
const batches =
  (append: (events: LogEvent[]) => Promise<unknown>): Work =>
  async () => {
    const writer = async () => {
      for (let n = 0; n < 5; n += 1) await append(makeEvents(BATCH))
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, writer))
    return IN_FLIGHT * 5 * BATCH
  }

/** From the call of append to the handler, one event at a time. */
const sayLatency = async (kit: BenchKit, log: Log, latencyTopic: Topic): Promise<void> => {
  let arrived = (): void => undefined
  await using _consumer = await log.consume({
    group: 'latency',
    topics: [latencyTopic],
    batchMax: 100,
    partitionsAtOnce: 4,
    handle: (batch) => {
      for (const { offset } of batch.records) batch.done(offset)
      arrived()
      return Promise.resolve()
    },
  })
  const times: number[] = []
  for (let n = 0; n < LATENCY_ROUNDS; n += 1) {
    const handled = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const started = performance.now()
    await log.append(latencyTopic, makeEvents(1))
    await handled
    times.push(performance.now() - started)
  }
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)]
  kit.say(`append to handled: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms\n`)
}

const embedded = async (kit: BenchKit): Promise<Figure[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
  try {
    await using store = new Store({ folder: join(folder, 'ours'), mapBytes: MAP_BYTES })
    await using log = new EmbeddedLog({
      store,
      clock: new SystemClock(),
      telemetry,
      settings: logValues,
    })
    const raw = new RawLmdb(join(folder, 'raw'))
    const figure = await kit.contest({
      name: `durable appends in batches of ${BATCH}`,
      ours: batches((events) => log.append(topic, events)),
      reference: batches((events) => raw.append(events)),
      referenceName: 'raw lmdb puts of the same bytes',
      goal: 0.5,
    })
    await raw.close()
    await sayLatency(kit, log, { ...topic, name: 'latency' })
    return [figure]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One put an event, in order, each batch synced before it is acknowledged. */
class RawLmdb {
  readonly #root: Database<Buffer, Buffer> & { close(): Promise<void> }
  #next = 0

  constructor(path: string) {
    this.#root = open<Buffer, Buffer>({
      path,
      mapSize: MAP_BYTES,
      keyEncoding: 'binary',
      encoding: 'binary',
      overlappingSync: false,
    })
  }

  append(events: readonly LogEvent[]): Promise<unknown> {
    return this.#root.batch(() => {
      for (const { key, value } of events) {
        const at = Buffer.allocUnsafe(12)
        at.writeUIntBE(1, 0, 6)
        at.writeUIntBE(this.#next, 6, 6)
        this.#next += 1
        void this.#root.put(at, Buffer.from(`${key}${value}`))
      }
    })
  }

  close(): Promise<void> {
    return this.#root.close()
  }
}

const cluster = async (kit: BenchKit): Promise<Figure[]> => {
  const stack = readStack()
  if (!stack) throw new Error('this bench needs the stack: npm run stack -- up')
  const settings = {
    brokers: stack.kafka.brokers,
    replication: 1,
    appendTimeoutMs: 30_000,
    queuedBytesMax: 64 * 1024 ** 2,
    sessionTimeoutMs: 30_000,
    fetchWaitMs: 20,
  }
  const namespace = `bench_${randomUUID().slice(0, 8)}`
  const client = { settings, telemetry }
  const [reference, latency] = ['reference', 'latency'].map((name) => ({ ...topic, name }))
  if (!reference || !latency) throw new Error('two topics')
  await migrateTopics([topic, reference, latency], { namespace, ...client })
  const kafka = makeKafka(client)
  try {
    await using log = await KafkaLog.open([topic, latency], {
      namespace,
      kafka: settings,
      settings: logValues,
      telemetry,
    })
    const producer = await rawProducer(kafka)
    const name = topicName(namespace, reference)
    const figure = await kit.contest({
      name: `appends in batches of ${BATCH}`,
      ours: batches((events) => log.append(topic, events)),
      reference: batches((events) =>
        producer.send({
          topic: name,
          acks: -1,
          messages: events.map(({ key, value, headers }) => ({
            key,
            value,
            headers: { ...headers },
          })),
        }),
      ),
      referenceName: 'raw kafkajs, idempotent, acks all',
      goal: 0.85,
    })
    await producer.disconnect()
    await sayLatency(kit, log, latency)
    return [figure]
  } finally {
    await removeNamespace(kafka, namespace)
  }
}

const rawProducer = async (kafka: Kafka): Promise<Producer> => {
  const producer = kafka.producer({
    idempotent: true,
    allowAutoTopicCreation: false,
    createPartitioner:
      () =>
      ({ message: { key }, partitionMetadata }) =>
        partitionOf(String(key), partitionMetadata.length),
  })
  await producer.connect()
  return producer
}

const removeNamespace = async (kafka: Kafka, namespace: string): Promise<void> => {
  const admin = kafka.admin()
  await admin.connect()
  const isOurs = (name: string) => name.startsWith(`${namespace}.`)
  const topics = (await admin.listTopics()).filter(isOurs)
  if (topics.length > 0) await admin.deleteTopics({ topics })
  await admin.deleteGroups([`${namespace}.latency`])
  await admin.disconnect()
}

export const bench: Bench = {
  name: 'log',
  engines: ['embedded', 'cluster'],
  about: 'durable appends, and the time from append to handler',
  run: (engine, kit) => (engine === 'embedded' ? embedded(kit) : cluster(kit)),
}
