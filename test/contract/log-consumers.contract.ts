/** What every engine of the event log promises to consumers. */
import { describe, expect, test } from 'vitest'
import { type LogBatch, partitionOf, type TopicPartition } from '../../services/platform/log.ts'
import { eventually } from '../kit/eventually.ts'
import { gate } from '../kit/gate.ts'
import { event, finish, joinGroup, keysByPartition, series } from '../kit/log-readers.ts'
import type { LogWorld } from './log.contract.ts'

export const consumerContract = (world: LogWorld): void => {
  describe('consume', () => {
    test('a new group begins at the oldest event and gets each key in order', async () => {
      const topic = await world.topic(4)
      await using log = await world.open()
      await log.append(topic, [...series('a', 50), ...series('b', 50)])
      await using reader = await joinGroup(log, { group: 'new', topics: [topic] })
      await log.append(topic, [...series('a', 50, 50), ...series('b', 50, 50)])
      await log.settled('new', [topic])
      const numbers = Array.from({ length: 100 }, (_, n) => String(n))
      expect(reader.values('a')).toEqual(numbers)
      expect(reader.values('b')).toEqual(numbers)
    })

    test('groups are independent of each other', async () => {
      const topic = await world.topic(2)
      await using log = await world.open()
      await log.append(topic, series('a', 10))
      await using one = await joinGroup(log, { group: 'one', topics: [topic] })
      await log.settled('one', [topic])
      await using two = await joinGroup(log, { group: 'two', topics: [topic] })
      await log.settled('two', [topic])
      expect(one.values('a')).toEqual(two.values('a'))
    })

    test('a group goes on after its last commit when the log is opened again', async () => {
      const topic = await world.topic(2)
      await using first = await world.open()
      await first.append(topic, series('a', 10))
      await using before = await joinGroup(first, { group: 'g', topics: [topic] })
      await first.settled('g', [topic])
      await before[Symbol.asyncDispose]()
      await first.append(topic, series('a', 5, 10))
      await first[Symbol.asyncDispose]()
      await using second = await world.open()
      await using after = await joinGroup(second, { group: 'g', topics: [topic] })
      await second.settled('g', [topic])
      expect(after.values('a')).toEqual(['10', '11', '12', '13', '14'])
    })

    test('one consumer reads several topics', async () => {
      const [posts, likes] = [await world.topic(2), await world.topic(3)]
      await using log = await world.open()
      await using reader = await joinGroup(log, { group: 'g', topics: [posts, likes] })
      await log.append(posts, series('p', 5))
      await log.append(likes, series('l', 5))
      await log.settled('g', [posts, likes])
      expect([reader.values('p').length, reader.values('l').length]).toEqual([5, 5])
      for (const batch of reader.batches) {
        const topic = batch.records[0]?.key === 'p' ? posts : likes
        expect(batch.topic).toBe(topic.name)
        expect(batch.partition).toBe(partitionOf(batch.records[0]?.key ?? '', topic.partitions))
      }
    })

    test('a batch holds at most batchMax records of one partition', async () => {
      const topic = await world.topic(3)
      await using log = await world.open()
      await log.append(
        topic,
        ['a', 'b', 'c', 'd'].flatMap((key) => series(key, 25)),
      )
      await using reader = await joinGroup(log, { group: 'g', topics: [topic], batchMax: 7 })
      await log.settled('g', [topic])
      expect(reader.records).toHaveLength(100)
      for (const { records, partition } of reader.batches) {
        expect(records.length).toBeGreaterThan(0)
        expect(records.length).toBeLessThanOrEqual(7)
        for (const { key } of records) expect(partitionOf(key, 3)).toBe(partition)
      }
    })

    test('at most partitionsAtOnce partitions are handled at the same time, and that many are', async () => {
      const topic = await world.topic(4)
      await using log = await world.open()
      const keys = keysByPartition(4)
      await log.append(
        topic,
        keys.flatMap((key) => series(key, 3)),
      )
      const hold = gate()
      let [running, most] = [0, 0]
      const handle = async (batch: LogBatch) => {
        running += 1
        most = Math.max(most, running)
        await hold.opened
        running -= 1
        await finish(batch)
      }
      const subscription = { group: 'g', topics: [topic], partitionsAtOnce: 2, handle }
      await using reader = await joinGroup(log, subscription)
      await eventually(() => expect(running).toBe(2))
      hold.open()
      await log.settled('g', [topic])
      expect(most).toBe(2)
      expect(reader.records).toHaveLength(12)
    })

    test('a slow partition does not hold up the others', async () => {
      const topic = await world.topic(2)
      await using log = await world.open()
      const [slow = '', quick = ''] = keysByPartition(2)
      const hold = gate()
      const handle = async (batch: LogBatch) => {
        if (batch.records[0]?.key === slow) await hold.opened
        await finish(batch)
      }
      await using reader = await joinGroup(log, { group: 'g', topics: [topic], handle })
      await log.append(topic, [event(slow, '0')])
      await eventually(() => expect(reader.batches).toHaveLength(1))
      for (let n = 0; n < 5; n += 1) {
        await log.append(topic, [event(quick, String(n))])
        await eventually(() => expect(reader.values(quick)).toHaveLength(n + 1))
      }
      hold.open()
      await log.settled('g', [topic])
    })
  })

  describe('members of a group', () => {
    test('two consumers share the partitions, and no partition is handled by both at once', async () => {
      const topic = await world.topic(6)
      await using log = await world.open()
      const keys = keysByPartition(6)
      const running = new Map<number, number>()
      let overlaps = 0
      const handle = async (batch: LogBatch) => {
        const here = (running.get(batch.partition) ?? 0) + 1
        running.set(batch.partition, here)
        if (here > 1) overlaps += 1
        await new Promise((resolve) => setImmediate(resolve))
        running.set(batch.partition, here - 1)
        await finish(batch)
      }
      const options = { group: 'g', topics: [topic], handle, batchMax: 5 }
      await using one = await joinGroup(log, options)
      await log.append(
        topic,
        keys.flatMap((key) => series(key, 40)),
      )
      await using two = await joinGroup(log, options)
      for (let round = 1; round < 6; round += 1) {
        await log.append(
          topic,
          keys.flatMap((key) => series(key, 40, round * 40)),
        )
      }
      await log.settled('g', [topic])
      await eventually(async () => {
        // The second may still be joining: go on until both have had something.
        await log.append(
          topic,
          keys.map((key) => event(key, 'more')),
        )
        await log.settled('g', [topic])
        return one.records.length > 0 && two.records.length > 0
      })
      expect(overlaps).toBe(0)
      const expected = Array.from({ length: 240 }, (_, n) => String(n))
      for (const key of keys) {
        const seen = new Set([...one.values(key), ...two.values(key)])
        expect(expected.filter((value) => !seen.has(value))).toEqual([])
      }
    })

    test('a consumer that joins is told its partitions before their first batch', async () => {
      const topic = await world.topic(4)
      await using log = await world.open()
      const told: { one: TopicPartition[]; two: TopicPartition[] } = { one: [], two: [] }
      const unannounced: number[] = []
      const member = (name: 'one' | 'two') => ({
        group: 'g',
        topics: [topic],
        assigned: (partitions: readonly TopicPartition[]) => {
          told[name].push(...partitions)
          return Promise.resolve()
        },
        handle: (batch: LogBatch) => {
          const isTold = told[name].some(({ partition }) => partition === batch.partition)
          if (!isTold) unannounced.push(batch.partition)
          return finish(batch)
        },
      })
      await using _one = await joinGroup(log, member('one'))
      await log.append(
        topic,
        keysByPartition(4).flatMap((key) => series(key, 5)),
      )
      await log.settled('g', [topic])
      expect(new Set(told.one.map(({ partition }) => partition))).toEqual(new Set([0, 1, 2, 3]))
      await using _two = await joinGroup(log, member('two'))
      await eventually(() => expect(told.two).toHaveLength(2))
      expect(told.two.map((given) => given.topic)).toEqual([topic.name, topic.name])
      await log.append(
        topic,
        keysByPartition(4).flatMap((key) => series(key, 5)),
      )
      await log.settled('g', [topic])
      expect(unannounced).toEqual([])
    })

    test('a batch waits until assigned has resolved, which is asked again when it rejects', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      await log.append(topic, series('a', 3))
      const hold = gate()
      let asked = 0
      const assigned = async () => {
        asked += 1
        if (asked === 1) throw new Error('not yet')
        await hold.opened
      }
      await using reader = await joinGroup(log, { group: 'g', topics: [topic], assigned })
      await eventually(() => expect(asked).toBe(2))
      expect(reader.records).toEqual([])
      hold.open()
      await log.settled('g', [topic])
      expect(reader.values('a')).toEqual(['0', '1', '2'])
    })

    test('the partitions of a consumer that leaves go to the others', async () => {
      const topic = await world.topic(4)
      await using log = await world.open()
      await using stays = await joinGroup(log, { group: 'g', topics: [topic] })
      await using leaves = await joinGroup(log, { group: 'g', topics: [topic] })
      await leaves[Symbol.asyncDispose]()
      await log.append(
        topic,
        keysByPartition(4).flatMap((key) => series(key, 5)),
      )
      await log.settled('g', [topic])
      expect(stays.records).toHaveLength(20)
    })
  })

  describe('progress', () => {
    test('a consumer stopped between effect and commit leaves its events to the next', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      await log.append(topic, series('a', 10))
      const handle = (batch: LogBatch) =>
        new Promise<void>((resolve) => {
          for (const { offset, value } of batch.records) if (Number(value) < 4) batch.done(offset)
          batch.signal.addEventListener('abort', () => resolve())
        })
      await using stopped = await joinGroup(log, { group: 'g', topics: [topic], handle })
      await eventually(() => expect(stopped.records).toHaveLength(10))
      await stopped[Symbol.asyncDispose]()
      await using next = await joinGroup(log, { group: 'g', topics: [topic] })
      await log.settled('g', [topic])
      expect(next.values('a')).toEqual(['4', '5', '6', '7', '8', '9'])
    })

    test('done in any order commits only up to the first hole', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      await log.append(topic, series('a', 6))
      const handle = async (batch: LogBatch) => {
        const chosen = ['5', '1', '0', '3']
        for (const value of chosen) {
          const record = batch.records.find((candidate) => candidate.value === value)
          if (record) batch.done(record.offset)
        }
        await new Promise<void>((resolve) =>
          batch.signal.addEventListener('abort', () => resolve()),
        )
      }
      await using reader = await joinGroup(log, { group: 'g', topics: [topic], handle })
      await eventually(() => expect(reader.records).toHaveLength(6))
      await reader[Symbol.asyncDispose]()
      const [lag] = await log.lag('g', [topic])
      expect(lag?.lag).toBe(4)
    })

    test('what a handler rejects comes again, what it has done before does not', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      await log.append(topic, series('a', 6))
      let failures = 0
      const handle = async (batch: LogBatch) => {
        for (const { offset, value } of batch.records) {
          if (value === '3' && failures < 3) {
            failures += 1
            throw new Error('not now')
          }
          batch.done(offset)
        }
        await Promise.resolve()
      }
      await using reader = await joinGroup(log, { group: 'g', topics: [topic], handle })
      await log.settled('g', [topic])
      expect(failures).toBe(3)
      const values = reader.values('a')
      for (const early of ['0', '1', '2']) {
        expect(values.filter((value) => value === early)).toHaveLength(1)
      }
      expect(values.filter((value) => value === '3')).toHaveLength(4)
    })

    test('what a handler leaves undone comes again', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      await log.append(topic, series('a', 3))
      let calls = 0
      const handle = async (batch: LogBatch) => {
        calls += 1
        if (calls > 1) await finish(batch)
      }
      await using reader = await joinGroup(log, { group: 'g', topics: [topic], handle })
      await log.settled('g', [topic])
      expect(reader.values('a')).toEqual(['0', '1', '2', '0', '1', '2'])
    })

    test('a failing partition does not hold up the others', async () => {
      const topic = await world.topic(2)
      await using log = await world.open()
      const [bad = '', good = ''] = keysByPartition(2)
      const handle = async (batch: LogBatch) => {
        if (batch.records[0]?.key === bad) throw new Error('never')
        await finish(batch)
      }
      await using reader = await joinGroup(log, { group: 'g', topics: [topic], handle })
      await log.append(topic, [event(bad, '0'), event(good, '0')])
      await eventually(() => expect(reader.values(good)).toEqual(['0']))
      await log.append(topic, [event(good, '1')])
      await eventually(() => expect(reader.values(good)).toEqual(['0', '1']))
    })

    test('the signal aborts when the consumer stops, and what was done by then is committed', async () => {
      const topic = await world.topic(1)
      await using log = await world.open()
      await log.append(topic, series('a', 3))
      let isAborted = false
      const handle = (batch: LogBatch) =>
        new Promise<void>((resolve) => {
          batch.signal.addEventListener('abort', () => {
            isAborted = true
            const [first] = batch.records
            if (first) batch.done(first.offset)
            resolve()
          })
        })
      await using reader = await joinGroup(log, { group: 'g', topics: [topic], handle })
      await eventually(() => expect(reader.batches).toHaveLength(1))
      await reader[Symbol.asyncDispose]()
      expect(isAborted).toBe(true)
      const [lag] = await log.lag('g', [topic])
      expect(lag?.lag).toBe(2)
    })

    test('a paused consumer takes nothing until it is resumed', async () => {
      const topic = await world.topic(2)
      await using log = await world.open()
      await using reader = await joinGroup(log, { group: 'g', topics: [topic] })
      await using watcher = await joinGroup(log, { group: 'watch', topics: [topic] })
      reader.consumer.pause()
      await log.append(topic, [...series('a', 3), ...series('b', 3)])
      await log.settled('watch', [topic])
      await log.append(topic, series('a', 1, 3))
      await log.settled('watch', [topic])
      expect(reader.records).toEqual([])
      reader.consumer.resume()
      await log.settled('g', [topic])
      expect(reader.values('a')).toEqual(watcher.values('a'))
    })
  })
}
