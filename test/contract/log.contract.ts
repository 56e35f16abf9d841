/** What every engine of the event log promises; the contract in prose is in services/platform/log.ts. */
import { describe, expect, test } from 'vitest'
import type { Topic } from '../../services/kernel/events.ts'
import {
  APPEND_EVENTS_MAX,
  EVENT_BYTES_MAX,
  EVENT_KEY_BYTES_MAX,
  type Log,
  type LogBatch,
  partitionOf,
} from '../../services/platform/log.ts'
import { eventually } from '../kit/eventually.ts'
import { gate } from '../kit/gate.ts'
import { event, joinGroup, keysByPartition, series } from '../kit/log-readers.ts'

export interface LogWorld {
  /** A log on the same data each time. */
  open(): Promise<Log>
  /** A topic nobody has used. */
  topic(partitions: number): Promise<Topic>
}

const readAll = async (log: Log, topic: Topic) => {
  const partitions = Array.from({ length: topic.partitions }, (_, partition) =>
    log.read(topic, { partition, offset: 0n, limit: 1_000 }),
  )
  return (await Promise.all(partitions)).flat()
}

export const logContract = (world: LogWorld): void => {
  describe('append', () => {
    test('PLT-1: appended events are there after the log is opened again', async () => {
      const topic = await world.topic(3)
      await using first = await world.open()
      await first.append(topic, [...series('a', 5), ...series('b', 5)])
      await first[Symbol.asyncDispose]()
      await using second = await world.open()
      const values = (await readAll(second, topic)).map(({ key, value }) => `${key}${value}`)
      expect(values.sort()).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'b0', 'b1', 'b2', 'b3', 'b4'])
    })

    test('offsets go on where they were after the log is opened again', async () => {
      const topic = await world.topic(1)
      await using first = await world.open()
      await first.append(topic, series('a', 3))
      await first[Symbol.asyncDispose]()
      await using second = await world.open()
      await second.append(topic, series('a', 2, 3))
      const records = await second.read(topic, { partition: 0, offset: 0n, limit: 10 })
      expect(records.map(({ value }) => value)).toEqual(['0', '1', '2', '3', '4'])
      expect(new Set(records.map(({ offset }) => offset)).size).toBe(5)
    })

    test('a key is in the same partition on every engine', async () => {
      const vectors = [
        ['a', 4, 0],
        ['ada', 4, 3],
        ['user:42', 12, 2],
        ['schlüssel', 12, 7],
        ['鍵', 7, 1],
        ['🗝️', 5, 2],
      ] as const
      await using log = await world.open()
      for (const [key, partitions, partition] of vectors) {
        expect([key, partitionOf(key, partitions)]).toEqual([key, partition])
        const topic = await world.topic(partitions)
        await log.append(topic, [event(key, 'x')])
        const records = await log.read(topic, { partition, offset: 0n, limit: 2 })
        expect(records.map((record) => record.key)).toEqual([key])
      }
    })

    test('headers, unicode, an empty value and 500 KB survive', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      const events = [
        {
          key: 'κλειδί 🗝️',
          value: 'naïve 漢字 🎉\n\u0000',
          headers: { traceparent: '00-ä', b: '' },
        },
        { key: 'empty', value: '', headers: {} },
        { key: 'long', value: 'x'.repeat(250_000) + 'é'.repeat(125_000), headers: { a: '1' } },
      ]
      const before = Date.now() - 60_000
      await log.append(topic, events)
      const records = await log.read(topic, { partition: 0, offset: 0n, limit: 10 })
      expect(records.map(({ key, value, headers }) => ({ key, value, headers }))).toEqual(events)
      for (const { appendedAt } of records) expect(appendedAt).toBeGreaterThan(before)
    })

    test('many concurrent appends all arrive, each key in its order', async () => {
      const topic = await world.topic(4)
      await using log = await world.open()
      const keys = ['a', 'b', 'c', 'd', 'e']
      const appends: Promise<void>[] = []
      for (let round = 0; round < 40; round += 1) {
        for (const key of keys) appends.push(log.append(topic, series(key, 3, round * 3)))
      }
      await Promise.all(appends)
      const records = await readAll(log, topic)
      for (const key of keys) {
        const values = records.filter((record) => record.key === key).map(({ value }) => value)
        expect(values).toEqual(Array.from({ length: 120 }, (_, n) => String(n)))
      }
    })

    test('an append larger than one request of the engine arrives whole and in order', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      const filler = 'x'.repeat(10_000)
      const events = Array.from({ length: 300 }, (_, n) => event('a', `${n} ${filler}`))
      await log.append(topic, events)
      const records = await log.read(topic, { partition: 0, offset: 0n, limit: 1_000 })
      expect(records.map(({ value }) => value)).toEqual(events.map(({ value }) => value))
    })

    test('what is too large or has no key is refused with a typed error and stores nothing', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      const refused = [
        { events: [event('', 'x')], code: 'BAD_INPUT' },
        { events: [event('a', 'x'.repeat(EVENT_BYTES_MAX + 1))], code: 'TOO_LARGE' },
        { events: [event('a', '漢'.repeat(EVENT_BYTES_MAX / 3 + 1))], code: 'TOO_LARGE' },
        { events: [event('漢'.repeat(EVENT_KEY_BYTES_MAX / 2), 'x')], code: 'TOO_LARGE' },
        { events: series('a', APPEND_EVENTS_MAX + 1), code: 'TOO_LARGE' },
        {
          events: series('a', 20).map((e) => ({ ...e, value: 'x'.repeat(890_000) })),
          code: 'TOO_LARGE',
        },
      ]
      for (const { events, code } of refused) {
        await expect(log.append(topic, events)).rejects.toMatchObject({ code })
      }
      expect(await readAll(log, topic)).toEqual([])
    })

    test('a topic with another count of partitions than stored is refused', async () => {
      const topic = await world.topic(3)
      await using log = await world.open()
      await log.append(topic, [event('a', '1')])
      await log[Symbol.asyncDispose]()
      await using again = await world.open()
      const changed = { ...topic, partitions: 4 }
      const append = again.append(changed, [event('a', '2')])
      await expect(append).rejects.toMatchObject({ name: 'TopicMismatchError', code: 'CONFLICT' })
      expect(await readAll(again, topic)).toHaveLength(1)
    })
  })

  describe('position', () => {
    test('lag counts what is not committed, per partition', async () => {
      const topic = await world.topic(2)
      await using log = await world.open()
      const [first = '', second = ''] = keysByPartition(2)
      await log.append(topic, [...series(first, 5), ...series(second, 3)])
      const before = await log.lag('g', [topic])
      expect(new Map(before.map(({ partition, lag }) => [partition, lag]))).toEqual(
        new Map([
          [0, 5],
          [1, 3],
        ]),
      )
      await using _reader = await joinGroup(log, { group: 'g', topics: [topic] })
      await log.settled('g', [topic])
      const after = await log.lag('g', [topic])
      expect(after.map(({ lag }) => lag)).toEqual([0, 0])
      for (const { committed, end } of after) expect(committed).toBe(end)
    })

    test('a group replays from the start, from an offset and from the end', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      await log.append(topic, series('a', 6))
      const offsets = (await log.read(topic, { partition: 0, offset: 0n, limit: 10 })).map(
        ({ offset }) => offset,
      )
      const replay = async () => {
        await using reader = await joinGroup(log, { group: 'g', topics: [topic] })
        await log.settled('g', [topic])
        return reader.values('a')
      }
      expect(await replay()).toEqual(['0', '1', '2', '3', '4', '5'])
      await log.seek('g', topic, { at: 'start' })
      expect(await replay()).toEqual(['0', '1', '2', '3', '4', '5'])
      await log.seek('g', topic, { partition: 0, offset: offsets[4] ?? 0n })
      expect(await replay()).toEqual(['4', '5'])
      await log.seek('g', topic, { at: 'start' })
      await log.seek('g', topic, { at: 'end' })
      await log.append(topic, series('a', 1, 6))
      expect(await replay()).toEqual(['6'])
    })

    test('a group replays from a time', async () => {
      const topic = await world.topic(2)
      await using log = await world.open()
      await log.append(topic, [...series('a', 3), ...series('b', 3)])
      const last = Math.max(...(await readAll(log, topic)).map(({ appendedAt }) => appendedAt))
      // The clock of the engine has to move on for "later" to mean something.
      const later = await eventually(async () => {
        await log.append(topic, series('a', 1, 3))
        const newest = (await readAll(log, topic)).find(({ appendedAt }) => appendedAt > last)
        expect(newest).toBeDefined()
        return newest
      })
      await log.seek('g', topic, { timeMs: later?.appendedAt ?? 0 })
      await using reader = await joinGroup(log, { group: 'g', topics: [topic] })
      await log.settled('g', [topic])
      expect(reader.records.length).toBeGreaterThan(0)
      for (const { appendedAt } of reader.records) expect(appendedAt).toBeGreaterThan(last)
      expect(reader.values('b')).toEqual([])
    })

    test('a group with running consumers cannot be moved', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      await log.append(topic, series('a', 1))
      await using _reader = await joinGroup(log, { group: 'g', topics: [topic] })
      await log.settled('g', [topic])
      const seek = log.seek('g', topic, { at: 'start' })
      await expect(seek).rejects.toMatchObject({ name: 'GroupBusyError', code: 'CONFLICT' })
    })

    test('settled waits for what was appended before it, not for what comes after', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      await log.append(topic, series('a', 1))
      const hold = gate()
      const handle = async (batch: LogBatch) => {
        for (const { offset, value } of batch.records) {
          if (value === 'late') await hold.opened
          batch.done(offset)
        }
      }
      let isSettled = false
      const settled = log.settled('g', [topic]).then(() => {
        isSettled = true
      })
      await log.lag('g', [topic])
      expect(isSettled).toBe(false)
      await using _reader = await joinGroup(log, {
        group: 'g',
        topics: [topic],
        handle,
        batchMax: 1,
      })
      await log.append(topic, [event('a', 'late')])
      await settled
      hold.open()
      await log.settled('g', [topic])
    })

    test('a topic nobody has written to is settled and empty', async () => {
      const topic = await world.topic(2)
      await using log = await world.open()
      await log.settled('g', [topic])
      expect((await log.lag('g', [topic])).map(({ lag }) => lag)).toEqual([0, 0])
      expect(await readAll(log, topic)).toEqual([])
    })

    test('read pages through a partition and refuses what is out of bounds', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      await log.append(topic, series('a', 10))
      const page = await log.read(topic, { partition: 0, offset: 0n, limit: 4 })
      const from = (page.at(-1)?.offset ?? 0n) + 1n
      const rest = await log.read(topic, { partition: 0, offset: from, limit: 1_000 })
      expect([...page, ...rest].map(({ value }) => Number(value))).toEqual([...Array(10).keys()])
      expect(await log.read(topic, { partition: 0, offset: 10n, limit: 4 })).toEqual([])
      for (const wrong of [
        { partition: 1, limit: 1 },
        { partition: 0, limit: 1_001 },
      ]) {
        const read = async () => log.read(topic, { offset: 0n, ...wrong })
        await expect(read()).rejects.toMatchObject({ code: 'BAD_INPUT' })
      }
    })
  })
}
