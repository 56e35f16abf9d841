/** Which minutes of the outbox a relay reads, when writers and servers were late, died or rested. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { firstIdAt, IdGenerator } from '../../services/kernel/ids.ts'
import { ClusterCommit } from '../../services/platform/cluster/commit.ts'
import {
  MINUTE_MS,
  minuteOf,
  readLowMinutes,
  shardOf,
} from '../../services/platform/cluster/outbox.ts'
import { listedMinutes, MinuteList } from '../../services/platform/cluster/outbox-minutes.ts'
import type { OutboxEngines } from '../../services/platform/cluster/publisher.ts'
import { OutboxRelay } from '../../services/platform/cluster/relay.ts'
import { OUTBOX_SHARDS, outboxPut } from '../../services/platform/commit.ts'
import { outbox, outboxMinutes } from '../../services/platform/generated/tables.ts'
import type { Log } from '../../services/platform/log.ts'
import { type Tables, TablesUnavailableError } from '../../services/platform/tables.ts'
import { Belongings } from '../kit/belongings.ts'
import { stack } from '../kit/engines.ts'
import { borrowKeyspace } from '../kit/keyspace.ts'
import { EmbeddedLogs, freshTopic, silentTelemetry } from '../kit/log-engines.ts'
import { ManualClock } from '../kit/manual-clock.ts'
import { noted, readAll } from '../kit/noted.ts'
import { outboxDefaults } from '../kit/open-commit.ts'
import { shutter } from '../kit/shutter.ts'
import { changedTables, slicedTables } from '../kit/watched-tables.ts'

const LEASE_MS = 3_000
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS
const settings = { ...outboxDefaults, relayGraceMs: 100, relayPollMs: 50, leaseMs: LEASE_MS }

describe.skipIf(!stack)('the minutes of the outbox', () => {
  let belongings: Belongings
  let tables: Tables
  let log: Log
  let clock: ManualClock
  let ids: IdGenerator
  const topic = freshTopic(4)
  beforeEach(async () => {
    belongings = new Belongings()
    const keyspace = belongings.use(await borrowKeyspace())
    tables = belongings.use(await keyspace.open())
    log = belongings.use(belongings.use(new EmbeddedLogs()).open()).log
    clock = new ManualClock()
    const lease = { node: 1, afterMs: 0, untilMs: Number.MAX_SAFE_INTEGER }
    ids = new IdGenerator(() => clock.now(), lease)
  }, 60_000)
  afterEach(() => belongings[Symbol.asyncDispose]())

  const enginesOf = (changes: Partial<OutboxEngines> = {}): OutboxEngines => ({
    ...{ tables, log, clock, settings, telemetry: silentTelemetry() },
    ...changes,
  })
  const openCommit = async (changes: Partial<OutboxEngines> = {}): Promise<ClusterCommit> =>
    belongings.use(await ClusterCommit.open(enginesOf(changes)))
  const openRelay = (changes: Partial<OutboxEngines> = {}): OutboxRelay =>
    belongings.use(new OutboxRelay({ ...enginesOf(changes), topics: [topic] }))
  const note = (name: string) => noted({ topic, ids }, { name, count: 1 })

  /** Commits while the log takes nothing, and is gone. */
  const leaveBehind = async (name: string): Promise<void> => {
    const gated = shutter(log)
    gated.shut = true
    await using commit = await ClusterCommit.open(enginesOf({ log: gated.log }))
    await commit.commit([], [note(name)])
  }
  const turnAfter = async (relay: OutboxRelay, ms: number): Promise<void> => {
    await clock.advance(ms)
    await relay.turn()
  }
  const listed = async (key: string): Promise<number[]> => {
    const minutes: number[] = []
    const list = { shard: shardOf(key), from: 0 }
    for await (const minute of listedMinutes(tables, list)) minutes.push(minute)
    return minutes
  }
  const lowOf = async (key: string) => (await readLowMinutes(tables))[shardOf(key)]
  const published = async () => (await readAll(log, topic)).map(({ key }) => key)

  test('a mark weeks behind costs a read for each shard and each minute with events', async () => {
    await leaveBehind('early')
    await clock.advance(WEEK_MS)
    await leaveBehind('middle')
    await clock.advance(2 * WEEK_MS)
    const counted = slicedTables(tables)
    const relay = openRelay({ tables: counted.tables })
    await relay.turn()
    expect(await published()).toEqual(expect.arrayContaining(['early', 'middle']))
    expect(counted.slices()).toBe(OUTBOX_SHARDS + 2)
    // What was found empty on the way is passed: a week later it is not looked at again.
    await turnAfter(relay, MINUTE_MS)
    await turnAfter(relay, MINUTE_MS)
    expect(await lowOf('early')).toBe(minuteOf(clock.now() - settings.lateMs))
    const before = counted.slices()
    await turnAfter(relay, WEEK_MS)
    expect(counted.slices() - before).toBe(OUTBOX_SHARDS)
  }, 60_000)

  test('a row that comes to light late is found; list and low mark wait for such', async () => {
    await openCommit()
    const relay = openRelay()
    await relay.turn()
    const minute = minuteOf(clock.now())
    const late = {
      id: firstIdAt(clock.now()),
      topic: topic.name,
      event: { key: 'late', value: '{"id":"1","data":{"name":"late","count":1}}', headers: {} },
    }
    await new MinuteList(enginesOf()).list([shardOf('late')], minute)
    for (let passed = 0; passed < 30; passed += 1) await turnAfter(relay, MINUTE_MS)
    await tables.write([outboxPut(late, minute)])
    await turnAfter(relay, MINUTE_MS)
    expect(await published()).toEqual(['late'])
    expect(await lowOf('late')).toBeLessThanOrEqual(minute)
    await turnAfter(relay, settings.lateMs)
    await turnAfter(relay, MINUTE_MS)
    expect(await lowOf('late')).toBe(minuteOf(clock.now() - settings.lateMs))
    expect(await listed('late')).toEqual([])
  }, 120_000)

  test('a minute whose writer died before its event is struck off when it is old', async () => {
    await openCommit()
    await new MinuteList(enginesOf()).list([shardOf('never')], minuteOf(clock.now()))
    const relay = openRelay()
    await turnAfter(relay, settings.lateMs - MINUTE_MS)
    expect(await listed('never')).toHaveLength(1)
    await turnAfter(relay, 3 * MINUTE_MS)
    expect(await listed('never')).toEqual([])
  }, 60_000)

  test('while the log takes nothing, the mark stays before the first event', async () => {
    await leaveBehind('held')
    const [minute] = await listed('held')
    const gated = shutter(log)
    gated.shut = true
    const relay = openRelay({ log: gated.log })
    await turnAfter(relay, WEEK_MS)
    await turnAfter(relay, MINUTE_MS)
    expect(await listed('held')).toEqual([minute])
    expect(await lowOf('held')).toBe(minute)
    gated.shut = false
    await turnAfter(relay, MINUTE_MS)
    await turnAfter(relay, MINUTE_MS)
    expect(await published()).toEqual(['held'])
    expect(await listed('held')).toEqual([])
    expect(await lowOf('held')).toBeGreaterThan(minute ?? 0)
  }, 60_000)

  test('processes that commit in one minute list it once each, and every event is found', async () => {
    const lists: number[] = []
    const write: Tables['write'] = (writes) => {
      lists.push(...writes.filter(({ table }) => table === outboxMinutes).map(() => 1))
      return tables.write(writes)
    }
    const gated = shutter(log)
    gated.shut = true
    const shut = { log: gated.log, tables: changedTables(tables, { write }) }
    const commits = [await openCommit(shut), await openCommit(shut)]
    const all = commits.flatMap((commit) =>
      ['a', 'b', 'c'].map(() => commit.commit([], [note('same')])),
    )
    await Promise.all(all)
    expect(lists).toHaveLength(2)
    expect(await listed('same')).toHaveLength(1)
    await turnAfter(openRelay(), MINUTE_MS)
    expect(await published()).toEqual(Array(6).fill('same'))
  }, 60_000)

  test('a minute that could not be listed fails its commit and is listed by the next', async () => {
    let failures = 1
    const write: Tables['write'] = (writes) => {
      if (writes.every(({ table }) => table !== outboxMinutes)) return tables.write(writes)
      failures -= 1
      return failures < 0 ? tables.write(writes) : Promise.reject(new TablesUnavailableError('no'))
    }
    const commit = await openCommit({ tables: changedTables(tables, { write }) })
    await expect(commit.commit([], [note('twice')])).rejects.toBeInstanceOf(TablesUnavailableError)
    expect(await commit.oldestUnpublishedMs()).toBeUndefined()
    await commit.commit([], [note('twice')])
    expect(await listed('twice')).toHaveLength(1)
    await commit.published()
    expect(await published()).toEqual(['twice'])
  }, 60_000)

  test('a process that slept through its commit stores the event where relays look', async () => {
    const relay = openRelay()
    let sleepMs = 2 * settings.lateMs
    /** Falls asleep with the row on its way; the relay goes on meanwhile. */
    const write: Tables['write'] = async (writes) => {
      if (sleepMs > 0 && writes.some(({ table }) => table === outbox)) {
        await turnAfter(relay, sleepMs)
        await turnAfter(relay, MINUTE_MS)
        sleepMs = 0
      }
      await tables.write(writes)
    }
    const gated = shutter(log)
    gated.shut = true
    const commit = await openCommit({ log: gated.log, tables: changedTables(tables, { write }) })
    const begun = minuteOf(clock.now())
    await commit.commit([], [note('slept')])
    expect(await lowOf('slept')).toBeGreaterThan(begun)
    await turnAfter(relay, MINUTE_MS)
    expect(await published()).toEqual(['slept'])
  }, 60_000)
})
