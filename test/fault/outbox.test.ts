/** Events on their way to a log that is not there, from writers that may not be there any more. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Topic } from '../../services/kernel/events.ts'
import { type Clock, SystemClock } from '../../services/platform/clock.ts'
import { ClusterCommit } from '../../services/platform/cluster/commit.ts'
import type { OutboxEngines } from '../../services/platform/cluster/publisher.ts'
import { OutboxRelay } from '../../services/platform/cluster/relay.ts'
import { ShardTurns } from '../../services/platform/cluster/shard-turns.ts'
import { OUTBOX_SHARDS } from '../../services/platform/commit.ts'
import { LEASE_SKEW_MS } from '../../services/platform/leases.ts'
import type { Log } from '../../services/platform/log.ts'
import { put, type Tables } from '../../services/platform/tables.ts'
import { byName } from '../contract/tables-fixture.ts'
import { Belongings } from '../kit/belongings.ts'
import { Child } from '../kit/child.ts'
import { requireStack, stack } from '../kit/engines.ts'
import { eventually } from '../kit/eventually.ts'
import { borrowKeyspace, type Keyspace } from '../kit/keyspace.ts'
import { KafkaLogs, silentTelemetry } from '../kit/log-engines.ts'
import { ManualClock } from '../kit/manual-clock.ts'
import { countsByName, noted, readAll } from '../kit/noted.ts'
import { outboxDefaults, testIds } from '../kit/open-commit.ts'
import { PrivateKafka } from '../kit/private-kafka.ts'
import { shutter } from '../kit/shutter.ts'

const LEASE_MS = 3_000
const quick = { ...outboxDefaults, relayGraceMs: 100, relayPollMs: 50, leaseMs: LEASE_MS }
const countsTo = (count: number): number[] => Array.from({ length: count }, (_none, n) => n)

describe.skipIf(!stack)('the outbox', () => {
  const belongings = new Belongings()
  let keyspace: Keyspace
  let logs: KafkaLogs
  let log: Log
  beforeAll(async () => {
    logs = belongings.use(new KafkaLogs(requireStack().kafka.brokers))
    log = belongings.use(await logs.open())
  })
  afterAll(() => belongings[Symbol.asyncDispose]())

  /** Tables with an outbox nobody else looks at. */
  const freshTables = async (): Promise<Tables & AsyncDisposable> => {
    keyspace = belongings.use(await borrowKeyspace())
    return belongings.use(await keyspace.open())
  }

  const enginesOf = (
    tables: Tables,
    changes: Partial<OutboxEngines> & { readonly clock?: Clock } = {},
  ): OutboxEngines => ({
    tables,
    log,
    clock: new SystemClock(),
    telemetry: silentTelemetry(),
    settings: quick,
    ...changes,
  })

  const repairsOf = async ({ telemetry }: OutboxEngines): Promise<number> => {
    const metric = await telemetry.registry.getSingleMetric('tributary_outbox_repairs_total')?.get()
    return metric?.values[0]?.value ?? 0
  }

  const ids = testIds()
  /** Commits numbered events of a few keys, one after the other. */
  const commitSome = async (
    commit: ClusterCommit,
    topic: Topic,
    { from, to }: { readonly from: number; readonly to: number },
  ): Promise<void> => {
    for (let n = from; n < to; n += 1) {
      const event = noted({ topic, ids }, { name: `key-${n % 5}`, count: n })
      await commit.commit([put(byName, { scope: topic.name, name: `${n}`, value: 'v' })], [event])
    }
  }

  /** Every event is there, and those of a key are in order. */
  const expectAll = async (from: Log, topic: Topic, count: number): Promise<void> => {
    const byKey = countsByName(await readAll(from, topic))
    for (const key of countsTo(5)) {
      const expected = countsTo(count).filter((n) => n % 5 === key)
      expect(byKey.get(`key-${key}`)).toEqual(expected)
    }
  }

  test('in a quiet system the relay finds nothing to do', async () => {
    const tables = await freshTables()
    const topic = await logs.topic(4)
    await using commit = await ClusterCommit.open(enginesOf(tables))
    const engines = enginesOf(tables, { settings: { ...quick, relayGraceMs: 0 } })
    await using relay = new OutboxRelay({ ...engines, topics: [topic] })
    await commitSome(commit, topic, { from: 0, to: 60 })
    await commit.published()
    await relay.turn()
    expect(await repairsOf(engines)).toBe(0)
    expect(await readAll(log, topic)).toHaveLength(60)
  })

  test('what a killed process had acknowledged is published by a relay, in order', async () => {
    const tables = await freshTables()
    const topic = await logs.topic(4)
    const { cassandra } = requireStack()
    await using child = new Child('fault/outbox-child.ts', {
      args: [
        keyspace.options.keyspace,
        `${cassandra.host}:${cassandra.port}`,
        cassandra.dataCenter,
        topic.name,
      ],
    })
    await child.says('acknowledged 60', 60_000)
    await child.kill()
    const acknowledged = child.lines.filter((line) => line.startsWith('acknowledged')).length
    expect(await readAll(log, topic)).toEqual([])

    const engines = enginesOf(tables)
    await using commit = await ClusterCommit.open(engines)
    expect(await commit.oldestUnpublishedMs()).toBeLessThanOrEqual(Date.now())
    await using relay = new OutboxRelay({ ...engines, topics: [topic] })
    relay.start()
    const gone = async () => (await commit.oldestUnpublishedMs()) === undefined
    await eventually(gone, { withinMs: 60_000, everyMs: 200 })
    // One more may have been stored and not acknowledged when the kill came.
    const stored = (await readAll(log, topic)).length
    expect(stored - acknowledged === 0 || stored - acknowledged === 1).toBe(true)
    await expectAll(log, topic, stored)
    expect(await repairsOf(engines)).toBe(stored)
  })

  test('what does not fit into the queue is left to the relay, and nothing overtakes it', async () => {
    const tables = await freshTables()
    const topic = await logs.topic(4)
    const gated = shutter(log)
    const settings = { ...quick, queuedMax: 10, relayGraceMs: 1_000 }
    const engines = enginesOf(tables, { log: gated.log, settings })
    await using commit = await ClusterCommit.open(engines)
    await using relay = new OutboxRelay({ ...engines, topics: [topic] })
    gated.shut = true
    await commitSome(commit, topic, { from: 0, to: 11 })
    expect(await readAll(log, topic)).toEqual([])
    gated.shut = false
    await eventually(async () => (await readAll(log, topic)).length === 10)
    // The eleventh, of key-0, waits for the relay: later ones of its key wait behind it.
    await commitSome(commit, topic, { from: 11, to: 50 })
    const others = () => readAll(log, topic).then(countsByName)
    await eventually(async () => (await others()).get('key-1')?.length === 10)
    expect((await others()).get('key-0')).toEqual([0, 5])
    relay.start()
    await commit.published()
    await expectAll(log, topic, 50)
    expect(await repairsOf(engines)).toBeGreaterThanOrEqual(8)
    // Later ones go the short way again.
    await relay[Symbol.asyncDispose]()
    await commitSome(commit, topic, { from: 50, to: 55 })
    await commit.published()
    await expectAll(log, topic, 55)
  })

  test('relays share the shards evenly, and take over those of one that left or died', async () => {
    const tables = await freshTables()
    const clock = new ManualClock()
    const engines = enginesOf(tables, { clock })
    const relays = Array.from({ length: 3 }, () => new ShardTurns(engines))
    /** A few rounds of all: each sees who else is there. */
    const settle = async (present: readonly ShardTurns[]): Promise<number[][]> => {
      for (const _round of [1, 2, 3]) {
        await clock.advance(LEASE_MS / 3)
        for (const relay of present) await relay.take()
      }
      const shares = await Promise.all(present.map((relay) => relay.take()))
      return shares.map((share) => [...share])
    }
    const expectEven = (shares: readonly number[][]): void => {
      const all = shares.flat()
      expect(all).toHaveLength(OUTBOX_SHARDS)
      expect(new Set(all).size).toBe(OUTBOX_SHARDS)
      const sizes = shares.map((share) => share.length)
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
    }
    const [first, second, third] = relays as [ShardTurns, ShardTurns, ShardTurns]
    expectEven(await settle([first]))
    expectEven(await settle([first, second, third]))
    await second[Symbol.asyncDispose]()
    expectEven(await settle([first, third]))
    // The third falls silent: what it held is free when its time is over, and not before.
    const [alone] = await settle([first])
    expect(alone?.length).toBeLessThan(OUTBOX_SHARDS)
    for (let ms = 0; ms < LEASE_MS + LEASE_SKEW_MS; ms += LEASE_MS / 3) await settle([first])
    expectEven(await settle([first]))
    await first[Symbol.asyncDispose]()
  }, 120_000)
})

describe.skipIf(!stack)('a Kafka that is killed while commits go on', () => {
  test('commits are acknowledged, and their events come in order when it is back', async () => {
    await using kafka = await PrivateKafka.open(6200)
    await using keyspace = await borrowKeyspace()
    await using tables = await keyspace.open()
    const logs = new KafkaLogs(kafka.brokers, { appendTimeoutMs: 2_000 })
    const topic = await logs.topic(4)
    await using log = await logs.open()
    await using commit = await ClusterCommit.open({
      tables,
      log,
      clock: new SystemClock(),
      telemetry: silentTelemetry(),
      settings: outboxDefaults,
    })
    const ids = testIds()
    const commitOne = (count: number): Promise<void> =>
      commit.commit([], [noted({ topic, ids }, { name: `key-${count % 5}`, count })])
    for (const count of countsTo(100)) {
      if (count === 30) await kafka.kill()
      await commitOne(count)
    }
    expect(await commit.oldestUnpublishedMs()).toBeLessThanOrEqual(Date.now())
    await kafka.start()
    await commit.published()
    const byKey = countsByName(await readAll(log, topic))
    for (const key of countsTo(5)) {
      expect(byKey.get(`key-${key}`)).toEqual(countsTo(100).filter((n) => n % 5 === key))
    }
    expect(await commit.oldestUnpublishedMs()).toBeUndefined()
  }, 240_000)
})
