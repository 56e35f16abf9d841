/**
 * What Redis does to us when it dies, is flushed, promoted or restored. The keys of a feed may well
 * be there afterwards; none of these may make it look complete.
 */
import { describe, expect, test } from 'vitest'
import { CacheUnavailableError } from '../../services/platform/cache.ts'
import { type FeedKey, type Feeds, FeedsUnavailableError } from '../../services/platform/feeds.ts'
import { pair, run } from '../contract/feeds.contract.ts'
import { Recorder } from '../contract/pubsub.contract.ts'
import { type Caches, randomNamespace, redisCaches } from '../kit/caches.ts'
import { holds } from '../kit/holds.ts'
import { RedisServer } from '../kit/private-redis.ts'

const key: FeedKey = { kind: 'feed', owner: (1n << 62n) + 12_345n }
const versions = { graphVersion: 1, pulledVersion: 1 }
const durable = ['--appendonly', 'yes', '--appendfsync', 'always']

/** A complete feed of ten entries; gives its epoch. */
const fill = async (feeds: Feeds): Promise<string> => {
  const expected = await feeds.open({ key, ...versions, keepMs: 600_000 })
  const entries = run(1, 10)
  await feeds.complete(key, { expected, entries, floor: pair(0), ...versions })
  return expected.epoch
}

/** The key is still on the server, and yet the feed is absent, refuses, and can be opened anew. */
const expectAbsent = async (feeds: Feeds, oldEpoch: string): Promise<void> => {
  expect(await feeds.read(key, { limit: 5 })).toEqual({ resident: false })
  expect(await feeds.push([key], pair(99), 100)).toEqual([false])
  expect(await feeds.epoch(key)).not.toBe(oldEpoch)
  const epoch = await fill(feeds)
  expect(epoch).toBe(await feeds.epoch(key))
  expect(await feeds.read(key, { limit: 5 })).toMatchObject({ resident: true })
}

const storedFeeds = async (server: RedisServer, namespace: string): Promise<number> => {
  const keys = await server.command('KEYS', `${namespace}:feed:*`)
  return Array.isArray(keys) ? keys.length : 0
}

const answersAgain = (caches: Caches): Promise<void> =>
  holds(async () => {
    await caches.cache.set('probe', '1', 1_000)
  }, 20_000)

describe('a Redis killed and started again', () => {
  test('fails calls at once while away and serves again by itself', async () => {
    await using server = await RedisServer.start()
    await using caches = await redisCaches([server.address])
    await caches.cache.set('before', '1', 60_000)
    await server.kill()
    const started = performance.now()
    await expect(caches.cache.get('before')).rejects.toThrow(CacheUnavailableError)
    await expect(caches.feeds.read(key, { limit: 1 })).rejects.toThrow(FeedsUnavailableError)
    expect(performance.now() - started).toBeLessThan(3_000)
    await server.restart()
    await answersAgain(caches)
    // It keeps nothing, functions included: they are loaded again when they are missed.
    expect(await caches.cache.get('before')).toBeUndefined()
    expect(await caches.cache.swap('after', { expected: undefined, next: '1', ttlMs: 1000 })).toBe(
      true,
    )
    await fill(caches.feeds)
  })

  test('has another epoch, though every key came back', async () => {
    const namespace = randomNamespace()
    await using server = await RedisServer.start(...durable)
    await using caches = await redisCaches([server.address], {}, namespace)
    const epoch = await fill(caches.feeds)
    await server.kill()
    await server.restart()
    await answersAgain(caches)
    expect(await storedFeeds(server, namespace)).toBe(1)
    await expectAbsent(caches.feeds, epoch)
  })

  test('in the middle of a run takes no token twice', async () => {
    await using server = await RedisServer.start(...durable)
    await using caches = await redisCaches([server.address])
    const bucket = { capacity: 1_000_000, refillPerSecond: 1e-9, cost: 1, nowMs: 1 }
    let [attempted, acknowledged] = [0, 0]
    const takers = Array.from({ length: 20 }, async () => {
      for (let at = 0; at < 200; at += 1) {
        attempted += 1
        const taken = await caches.cache.takeTokens('bucket', bucket).catch((error: unknown) => {
          expect(error).toBeInstanceOf(CacheUnavailableError)
        })
        if (taken) acknowledged += 1
        else await new Promise((resolve) => setTimeout(resolve, 5))
        if (attempted === 1_000) await server.kill()
      }
    })
    const restarted = holds(() => expect(attempted).toBeGreaterThan(1_100)).then(() =>
      server.restart(),
    )
    await Promise.all([...takers, restarted])
    await answersAgain(caches)
    const { remaining } = await caches.cache.takeTokens('bucket', { ...bucket, cost: 0 })
    const used = bucket.capacity - remaining
    expect(acknowledged).toBeLessThan(attempted)
    expect(used).toBeGreaterThanOrEqual(acknowledged)
    expect(used).toBeLessThanOrEqual(attempted)
  })

  test('takes subscribers back and tells each to resync once', async () => {
    await using server = await RedisServer.start()
    await using caches = await redisCaches([server.address])
    const [first, second] = [new Recorder(), new Recorder()]
    await using _first = await caches.pubsub.subscribe('one', first)
    await using _second = await caches.pubsub.subscribe('two', second)
    await server.kill()
    await server.restart()
    await holds(() => expect([first.resyncs, second.resyncs]).toEqual([1, 1]))
    await answersAgain(caches)
    await caches.pubsub.publish('two', 'still here')
    await holds(() => expect(second.messages).toEqual(['still here']))
    expect([first.resyncs, second.resyncs]).toEqual([1, 1])
  })
})

describe('a Redis that lost data', () => {
  test('by a flush has another epoch', async () => {
    await using server = await RedisServer.start()
    await using caches = await redisCaches([server.address])
    const epoch = await fill(caches.feeds)
    await server.command('FLUSHALL')
    await expectAbsent(caches.feeds, epoch)
  })

  test('and its functions loads them again by itself', async () => {
    await using server = await RedisServer.start()
    await using caches = await redisCaches([server.address])
    const epoch = await fill(caches.feeds)
    await server.command('FUNCTION', 'FLUSH')
    // Nothing of a feed was lost, so the epoch stays.
    expect(await caches.feeds.push([key], pair(11), 100)).toEqual([true])
    expect(await caches.feeds.epoch(key)).toBe(epoch)
  })

  test('by starting from an old dump has another epoch', async () => {
    const namespace = randomNamespace()
    await using server = await RedisServer.start()
    await using caches = await redisCaches([server.address], {}, namespace)
    const epoch = await fill(caches.feeds)
    await server.command('SAVE')
    expect(await caches.feeds.push([key], pair(11), 100)).toEqual([true])
    await server.kill()
    await server.restart()
    await answersAgain(caches)
    expect(await storedFeeds(server, namespace)).toBe(1)
    await expectAbsent(caches.feeds, epoch)
  })
})

describe('a replica promoted', () => {
  test('without the last second has another epoch', async () => {
    const namespace = randomNamespace()
    await using master = await RedisServer.start()
    await using replica = await RedisServer.start()
    await using before = await redisCaches([master.address], {}, namespace)
    await replica.follow(master)
    const epoch = await fill(before.feeds)
    await holds(async () => expect(await storedFeeds(replica, namespace)).toBe(1))
    await replica.loseMaster()
    expect(await before.feeds.push([key], pair(11), 100)).toEqual([true])
    await master.kill()
    await replica.promote()
    await using after = await redisCaches([replica.address], {}, namespace)
    expect(await storedFeeds(replica, namespace)).toBe(1)
    await expectAbsent(after.feeds, epoch)
  })

  test('and back again, never called in between, has another epoch', async () => {
    const namespace = randomNamespace()
    await using first = await RedisServer.start()
    await using second = await RedisServer.start()
    await using caches = await redisCaches([first.address], {}, namespace)
    await second.follow(first)
    const epoch = await fill(caches.feeds)
    await holds(async () => expect(await storedFeeds(second, namespace)).toBe(1))
    await second.loseMaster()
    expect(await caches.feeds.push([key], pair(11), 100)).toEqual([true])
    await second.promote()
    await first.follow(second)
    await first.promote()
    await answersAgain(caches)
    expect(await storedFeeds(first, namespace)).toBe(1)
    await expectAbsent(caches.feeds, epoch)
  })

  test('and back again after calls in between has another epoch each time', async () => {
    const namespace = randomNamespace()
    await using first = await RedisServer.start()
    await using second = await RedisServer.start()
    await using onFirst = await redisCaches([first.address], {}, namespace)
    const epoch = await fill(onFirst.feeds)
    await second.follow(first)
    await second.promote()
    await using onSecond = await redisCaches([second.address], {}, namespace)
    await expectAbsent(onSecond.feeds, epoch)
    const secondEpoch = await onSecond.feeds.epoch(key)
    await first.follow(second)
    await first.promote()
    await answersAgain(onFirst)
    await expectAbsent(onFirst.feeds, secondEpoch)
    expect(await onFirst.feeds.epoch(key)).not.toBe(epoch)
  })

  test('a master that was demoted refuses, and serves again once promoted', async () => {
    await using server = await RedisServer.start()
    await using other = await RedisServer.start()
    await using caches = await redisCaches([server.address])
    await server.follow(other)
    await expect(caches.cache.set('a', '1', 1_000)).rejects.toThrow(CacheUnavailableError)
    await server.promote()
    await answersAgain(caches)
  })
})

test('everything closes while the server is away, and while it comes back', async () => {
  await using server = await RedisServer.start()
  for (let round = 0; round < 10; round += 1) {
    const caches = await redisCaches([server.address])
    await server.kill()
    const started = round % 2 === 0 ? server.restart() : undefined
    await caches[Symbol.asyncDispose]()
    await (started ?? server.restart())
  }
})

test('calls beyond the bound in flight are refused, and the others served', async () => {
  await using server = await RedisServer.start()
  await using caches = await redisCaches([server.address], { inFlightMax: 8 })
  const calls = Array.from({ length: 50 }, () => caches.cache.get('any'))
  const outcomes = await Promise.allSettled(calls)
  const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  expect(refused).toHaveLength(42)
  expect(refused[0]).toMatchObject({ code: 'OVERLOADED', retriable: true })
})

test('a call that hangs ends after its time', async () => {
  await using server = await RedisServer.start()
  await using caches = await redisCaches([server.address], { commandTimeoutMs: 200 })
  server.stall()
  const started = performance.now()
  await expect(caches.cache.get('any')).rejects.toThrow(CacheUnavailableError)
  expect(performance.now() - started).toBeLessThan(2_000)
  server.resume()
  await answersAgain(caches)
})

test('a server that is away at the start is named', async () => {
  const server = await RedisServer.start()
  const { address } = server
  await server[Symbol.asyncDispose]()
  await expect(redisCaches([address], {}, 'away', 300)).rejects.toThrow(
    `Redis at ${address.host}:${address.port} did not answer within 300 ms`,
  )
})
