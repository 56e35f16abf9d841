/** What only the log on Kafka has: topics made by migrate, sessions, and a client kept quiet. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type KafkaClientOptions, makeKafka } from '../../services/platform/cluster/kafka-client.ts'
import { TopicMissingError } from '../../services/platform/log.ts'
import { stack } from '../kit/engines.ts'
import { eventually } from '../kit/eventually.ts'
import { freshTopic, KafkaLogs, silentTelemetry } from '../kit/log-engines.ts'
import { event, finish, joinGroup, series } from '../kit/log-readers.ts'

/** ConfigResourceTypes.TOPIC, which the client does not export to modules. */
const TOPIC_RESOURCE = 2

describe.skipIf(!stack)('log on Kafka', () => {
  let logs: KafkaLogs
  let client: KafkaClientOptions
  beforeAll(() => {
    logs = new KafkaLogs(stack?.kafka.brokers ?? [])
    client = { settings: logs.settings, telemetry: silentTelemetry() }
  })
  afterAll(() => logs[Symbol.asyncDispose]())

  test('PLT-4: migrate makes topics with their partitions and retention, by the brokers’ clock', async () => {
    const topic = freshTopic(5, 3_600_000)
    await Promise.all([logs.migrate([topic]), logs.migrate([topic])])
    await logs.migrate([topic])
    const admin = makeKafka(client).admin()
    await admin.connect()
    const name = `${logs.namespace}.${topic.name}`
    const { topics } = await admin.fetchTopicMetadata({ topics: [name] })
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: TOPIC_RESOURCE, name }],
    })
    await admin.disconnect()
    const configs = new Map(
      resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]),
    )
    expect(topics[0]?.partitions).toHaveLength(5)
    expect(configs.get('retention.ms')).toBe('3600000')
    expect(configs.get('message.timestamp.type')).toBe('LogAppendTime')
  })

  test('migrate refuses another count of partitions and changes nothing', async () => {
    const topic = await logs.topic(2)
    const changed = [{ ...topic, partitions: 3 }, freshTopic(1)]
    await expect(logs.migrate(changed)).rejects.toMatchObject({ name: 'TopicMismatchError' })
    await using log = await logs.open([topic])
    expect(await log.lag('g', [topic])).toHaveLength(2)
  })

  test('a missing topic is said at once and by its name', async () => {
    const missing = freshTopic(2)
    await using log = await logs.open()
    const started = performance.now()
    const attempts = [
      logs.open([missing]),
      log.append(missing, [event('a', '1')]),
      joinGroup(log, { group: 'g', topics: [missing] }),
    ]
    for (const outcome of await Promise.allSettled(attempts)) {
      expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(TopicMissingError)
      expect(String(outcome.status === 'rejected' && outcome.reason)).toContain(missing.name)
    }
    expect(performance.now() - started).toBeLessThan(5_000)
    await logs.migrate([missing])
    await log.append(missing, [event('a', '1')])
  })

  test('appends beyond what may wait are refused as overload, the others arrive', async () => {
    const small = new KafkaLogs(stack?.kafka.brokers ?? [], { queuedBytesMax: 1_000_000 })
    const topic = await small.topic(1)
    {
      await using log = await small.open([topic])
      const value = 'x'.repeat(100_000)
      const appends = Array.from({ length: 20 }, () => log.append(topic, [event('a', value)]))
      const outcomes = await Promise.allSettled(appends)
      const refused = outcomes.filter(({ status }) => status === 'rejected')
      expect(refused.length).toBeGreaterThan(5)
      for (const outcome of refused)
        expect(outcome).toMatchObject({ reason: { code: 'OVERLOADED' } })
      const stored = await log.read(topic, { partition: 0, offset: 0n, limit: 100 })
      expect(stored).toHaveLength(20 - refused.length)
    }
    await small[Symbol.asyncDispose]()
  })

  test('a handler that takes longer than the session keeps its partition', async () => {
    const topic = await logs.topic(1)
    await using log = await logs.open([topic])
    await log.append(topic, series('a', 3))
    let isReleased = false
    const handle = async (batch: Parameters<typeof finish>[0]) => {
      await new Promise((resolve) => setTimeout(resolve, logs.settings.sessionTimeoutMs * 1.5))
      isReleased = batch.signal.aborted
      await finish(batch)
    }
    await using reader = await joinGroup(log, { group: 'slow', topics: [topic], handle })
    await log.settled('slow', [topic])
    expect(reader.values('a')).toEqual(['0', '1', '2'])
    expect(isReleased).toBe(false)
  })

  test('an idle connection sets no timers of its own', async () => {
    const admin = makeKafka(client).admin()
    await admin.connect()
    await admin.listTopics()
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const deadline = performance.now() + 200
    await eventually(() => performance.now() > deadline, { everyMs: 50 })
    const short = timers.mock.calls.filter(([, delay]) => (delay ?? 0) <= 1)
    timers.mockRestore()
    await admin.disconnect()
    expect(short).toEqual([])
  })
})
