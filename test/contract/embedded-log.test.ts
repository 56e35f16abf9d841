/** What only the embedded log has: claims, retention by our own clock, metrics, the seam to tables. */
import { describe, expect, test } from 'vitest'
import type { LogBatch } from '../../services/platform/log.ts'
import { eventually } from '../kit/eventually.ts'
import { gate } from '../kit/gate.ts'
import { EmbeddedLogs, freshTopic } from '../kit/log-engines.ts'
import { event, finish, joinGroup, keysByPartition, series } from '../kit/log-readers.ts'
import { ManualClock } from '../kit/manual-clock.ts'

const MINUTE = 60_000
const open = (options: { clock?: ManualClock; settings?: object } = {}) => {
  const logs = new EmbeddedLogs()
  const clock = options.clock ?? new ManualClock()
  const opened = logs.open({ clock, settings: options.settings ?? {} })
  return {
    ...opened,
    log: opened.log,
    store: opened.store,
    clock,
    logs,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]()
      await logs[Symbol.asyncDispose]()
    },
  }
}

describe('claims', () => {
  test('PLT-2: a claimed run is given to nobody else until it is completed', async () => {
    await using world = open()
    const { log } = world
    const topic = freshTopic(1)
    await log.append(topic, series('a', 5))
    const claim = log.claim('g', topic, 3)
    expect(claim?.records.map(({ value }) => value)).toEqual(['0', '1', '2'])
    expect(log.claim('g', topic, 3)).toBeUndefined()
    expect(log.claim('another', topic, 3)?.records).toHaveLength(3)
    expect(await log.complete(claim?.receipt ?? '')).toBe(true)
    expect(log.claim('g', topic, 3)?.records.map(({ value }) => value)).toEqual(['3', '4'])
  })

  test('PLT-2: a foreign, used or made-up receipt completes nothing', async () => {
    await using world = open()
    const { log } = world
    const topic = freshTopic(1)
    await log.append(topic, series('a', 4))
    const first = log.claim('g', topic, 2)
    expect(await log.complete('made up')).toBe(false)
    expect((await log.lag('g', [topic]))[0]?.lag).toBe(4)
    expect(await log.complete(first?.receipt ?? '')).toBe(true)
    const second = log.claim('g', topic, 2)
    expect(await log.complete(first?.receipt ?? '')).toBe(false)
    expect(log.release(first?.receipt ?? '')).toBe(false)
    expect((await log.lag('g', [topic]))[0]?.lag).toBe(2)
    expect(await log.complete(second?.receipt ?? '')).toBe(true)
  })

  test('PLT-2: after the visibility time-out a run is given out again and the old receipt is void', async () => {
    await using world = open({ settings: { visibilityMs: 10 * MINUTE } })
    const { log, clock } = world
    const topic = freshTopic(1)
    await log.append(topic, series('a', 2))
    const silent = log.claim('g', topic, 10)
    clock.step(clock.now() + 10 * MINUTE - 1)
    expect(log.claim('g', topic, 10)).toBeUndefined()
    clock.step(clock.now() + 1)
    expect(await log.complete(silent?.receipt ?? '')).toBe(false)
    const next = log.claim('g', topic, 10)
    expect(next?.records).toEqual(silent?.records)
    expect(await log.complete(silent?.receipt ?? '')).toBe(false)
    expect(await log.complete(next?.receipt ?? '')).toBe(true)
  })

  test('a renewed claim stays', async () => {
    await using world = open({ settings: { visibilityMs: 10 * MINUTE } })
    const { log, clock } = world
    const topic = freshTopic(1)
    await log.append(topic, series('a', 2))
    const claim = log.claim('g', topic, 10)
    clock.step(clock.now() + 9 * MINUTE)
    expect(log.renew(claim?.receipt ?? '')).toBe(true)
    clock.step(clock.now() + 9 * MINUTE)
    expect(await log.complete(claim?.receipt ?? '')).toBe(true)
  })

  test('a released run is given out again at once', async () => {
    await using world = open()
    const { log } = world
    const topic = freshTopic(1)
    await log.append(topic, series('a', 2))
    const claim = log.claim('g', topic, 10)
    expect(log.release(claim?.receipt ?? '')).toBe(true)
    expect(log.claim('g', topic, 10)?.records).toEqual(claim?.records)
  })

  test('pullers get the partition whose events wait longest', async () => {
    await using world = open()
    const { log, clock } = world
    const topic = freshTopic(2)
    const [first = '', second = ''] = keysByPartition(2)
    await log.append(topic, [event(second, 'old')])
    clock.step(clock.now() + 1_000)
    await log.append(topic, [event(first, 'new')])
    expect(log.claim('g', topic, 10)?.records[0]?.value).toBe('old')
    expect(log.claim('g', topic, 10)?.records[0]?.value).toBe('new')
    expect(() => log.claim('g', topic, 0)).toThrow('claim 1 to 1000')
  })

  test('a handler that falls silent loses its run to the next sweep, one that makes progress does not', async () => {
    await using world = open({ settings: { visibilityMs: 5 * MINUTE, sweepMs: MINUTE } })
    const { log, clock } = world
    const topic = freshTopic(1)
    await log.append(topic, series('a', 3))
    const hold = gate()
    let isFirst = true
    const handle = async (batch: LogBatch) => {
      if (!isFirst) return finish(batch)
      isFirst = false
      const [first] = batch.records
      await clock.sleep(4 * MINUTE)
      if (first) batch.done(first.offset)
      await hold.opened
      for (const { offset } of batch.records) batch.done(offset)
    }
    await using reader = await joinGroup(log, { group: 'g', topics: [topic], handle })
    await eventually(() => clock.sleeping === 2)
    await clock.advance(4 * MINUTE)
    await clock.advance(4 * MINUTE)
    expect(reader.batches[0]?.signal.aborted).toBe(false)
    await clock.advance(2 * MINUTE)
    expect(reader.batches[0]?.signal.aborted).toBe(true)
    await eventually(async () => {
      await clock.advance(1_000)
      return reader.batches.length === 2
    })
    await log.settled('g', [topic])
    hold.open()
    expect((await log.lag('g', [topic]))[0]?.lag).toBe(0)
  })
})

describe('the seam to the tables', () => {
  test('events of a transaction that failed are never seen, and later ones are', async () => {
    await using world = open()
    const { log, store } = world
    const topic = freshTopic(1)
    await using reader = await joinGroup(log, { group: 'g', topics: [topic] })
    const doomed = log.prepare(topic, series('a', 2))
    const failing = store.batch(() => {
      doomed.put()
      throw new Error('a row is wrong')
    })
    const failed = expect(failing).rejects.toThrow('a row is wrong')
    await log.append(topic, [event('a', 'later')])
    await failed
    doomed.withdraw()
    await log.settled('g', [topic])
    expect(reader.values('a')).toEqual(['later'])
    expect((await log.lag('g', [topic]))[0]?.lag).toBe(0)
  })

  test('a hole at the end neither counts as lag for ever nor hides what follows', async () => {
    await using world = open()
    const { log, store } = world
    const topic = freshTopic(1)
    await using reader = await joinGroup(log, { group: 'g', topics: [topic] })
    await log.append(topic, [event('a', '0')])
    const doomed = log.prepare(topic, series('a', 3))
    await expect(
      store.batch(() => {
        doomed.put()
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    doomed.withdraw()
    await log.settled('g', [topic])
    await log.append(topic, [event('a', '1')])
    await log.settled('g', [topic])
    expect(reader.values('a')).toEqual(['0', '1'])
  })

  test('a consumer does not step over events whose transaction is still under way', async () => {
    await using world = open()
    const { log, store } = world
    const topic = freshTopic(1)
    await using reader = await joinGroup(log, { group: 'g', topics: [topic] })
    const early = log.prepare(topic, [event('a', 'early')])
    const late = log.prepare(topic, [event('a', 'late')])
    await Promise.all([store.batch(early.put), store.batch(late.put)])
    late.announce()
    expect(await log.read(topic, { partition: 0, offset: 0n, limit: 10 })).toEqual([])
    early.announce()
    await log.settled('g', [topic])
    expect(reader.values('a')).toEqual(['early', 'late'])
  })
})

describe('retention', () => {
  test('who waits for a group to handle events that are then removed waits no longer', async () => {
    await using world = open({ settings: { sweepMs: MINUTE } })
    const { log, clock } = world
    const topic = freshTopic(1, 60 * MINUTE)
    await log.append(topic, series('key', 3))
    const settled = log.settled('nobody', [topic])
    await clock.advance(62 * MINUTE)
    await expect(settled).resolves.toBeUndefined()
  })

  test('PLT-2: events older than the topic keeps are removed in small batches, offsets go on', async () => {
    await using world = open({ settings: { sweepMs: MINUTE, purgeMax: 7 } })
    const { log, clock, logs, store } = world
    const topic = freshTopic(2, 60 * MINUTE)
    const [key = ''] = keysByPartition(2)
    await log.append(topic, series(key, 50))
    await clock.advance(30 * MINUTE)
    await log.append(topic, series(key, 10, 50))
    const ends = async () => (await log.lag('g', [topic])).map(({ end }) => end)
    const before = await ends()
    await clock.advance(31 * MINUTE)
    await eventually(async () => {
      const records = await log.read(topic, { partition: 0, offset: 0n, limit: 100 })
      return records[0]?.value === '50' && records.length === 10
    })
    expect((await log.lag('g', [topic]))[0]?.lag).toBe(10)
    await clock.advance(31 * MINUTE)
    await eventually(async () => {
      const [first] = await log.lag('g', [topic])
      return first?.lag === 0
    })
    expect(await ends()).toEqual(before)
    await log[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
    await using again = logs.open({ clock })
    await again.log.append(topic, [event(key, 'next')])
    const [next] = await again.log.read(topic, { partition: 0, offset: 0n, limit: 10 })
    expect(next?.offset).toBe(before[0])
  })

  test('a group behind the oldest event goes on from there', async () => {
    await using world = open({ settings: { sweepMs: MINUTE } })
    const { log, clock } = world
    const topic = freshTopic(1, 10 * MINUTE)
    await log.append(topic, series('a', 5))
    await clock.advance(9 * MINUTE)
    await log.append(topic, series('a', 5, 5))
    await clock.advance(3 * MINUTE)
    await eventually(async () => (await log.lag('g', [topic]))[0]?.lag === 5)
    await using reader = await joinGroup(log, { group: 'g', topics: [topic] })
    await log.settled('g', [topic])
    expect(reader.values('a')).toEqual(['5', '6', '7', '8', '9'])
  })

  test('times of appends never fall, though the clock steps back', async () => {
    await using world = open()
    const { log, clock } = world
    const topic = freshTopic(1)
    const start = clock.now()
    await log.append(topic, [event('a', '0')])
    clock.step(start - MINUTE)
    await log.append(topic, [event('a', '1')])
    clock.step(start + MINUTE)
    await log.append(topic, [event('a', '2')])
    const records = await log.read(topic, { partition: 0, offset: 0n, limit: 10 })
    expect(records.map(({ appendedAt }) => appendedAt)).toEqual([start, start, start + MINUTE])
    await log.seek('g', topic, { timeMs: start + 1 })
    expect((await log.lag('g', [topic]))[0]?.lag).toBe(1)
  })
})

describe('metrics', () => {
  test('PLT-2: depth, pending, stuck and age are exported', async () => {
    const logs = new EmbeddedLogs()
    await using _logs = logs
    const clock = new ManualClock()
    await using opened = logs.open({ clock })
    const { log, telemetry } = opened
    const topic = freshTopic(1)
    await log.append(topic, series('a', 3))
    clock.step(clock.now() + 6 * MINUTE)
    await log.append(topic, series('a', 2, 3))
    await log.complete(log.claim('g', topic, 1)?.receipt ?? '')
    const metrics = await telemetry.registry.metrics()
    const labels = `{group="g",topic="${topic.name}"}`
    expect(metrics).toContain(`tributary_log_depth_events{topic="${topic.name}"} 5`)
    expect(metrics).toContain(`tributary_log_pending_events${labels} 4`)
    expect(metrics).toContain(`tributary_log_stuck_events${labels} 2`)
    expect(metrics).toContain(`tributary_log_oldest_pending_seconds${labels} 360`)
    expect(metrics).toContain(`tributary_log_append_seconds_count{topic="${topic.name}"} 2`)
  })
})
