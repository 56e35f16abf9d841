/** Cache, feeds and pubsub on either engine, in a namespace nobody else has. */
import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { Settings } from '../../services/kernel/settings.ts'
import type { Cache } from '../../services/platform/cache.ts'
import { RedisCache } from '../../services/platform/cluster/cache.ts'
import { RedisFeeds } from '../../services/platform/cluster/feeds.ts'
import { RedisPubSub } from '../../services/platform/cluster/pubsub.ts'
import { RedisLink, type RedisValues } from '../../services/platform/cluster/redis.ts'
import { EmbeddedCache } from '../../services/platform/embedded/cache.ts'
import { EmbeddedFeeds } from '../../services/platform/embedded/feeds.ts'
import { MemoryBudget } from '../../services/platform/embedded/memory-budget.ts'
import { EmbeddedPubSub } from '../../services/platform/embedded/pubsub.ts'
import type { Feeds } from '../../services/platform/feeds.ts'
import type { PubSub } from '../../services/platform/pubsub.ts'
import { redisSettings } from '../../services/platform/settings.ts'
import { Telemetry } from '../../services/platform/telemetry.ts'
import { type Address, type EngineName, requireStack, stack } from './engines.ts'

export interface Caches extends AsyncDisposable {
  readonly cache: Cache
  readonly feeds: Feeds
  readonly pubsub: PubSub
}

export type CacheEngine = EngineName | 'ring'

/** The engines at hand: embedded, a single Redis, a Redis Cluster of three masters. */
export const cacheEngines: readonly CacheEngine[] = [
  'embedded',
  ...(stack ? (['cluster'] as const) : []),
  ...(stack?.ring ? (['ring'] as const) : []),
]

export const openCaches = (engine: CacheEngine): Promise<Caches> => {
  if (engine === 'embedded') return Promise.resolve(embeddedCaches(64 * 1024 ** 2))
  const { redis, ring = [] } = requireStack()
  return engine === 'ring' ? redisCaches(ring, { cluster: true }) : redisCaches([redis])
}

export const quietTelemetry = (): Telemetry => new Telemetry({ level: 'silent', version: 'test' })

export const embeddedCaches = (bytes: number): Caches => {
  const telemetry = quietTelemetry()
  const budget = new MemoryBudget(bytes)
  const cache = new EmbeddedCache(budget, telemetry)
  const feeds = new EmbeddedFeeds(budget, telemetry)
  const pubsub = new EmbeddedPubSub(telemetry)
  const dispose = async () => {
    await pubsub[Symbol.asyncDispose]()
    await feeds[Symbol.asyncDispose]()
    await cache[Symbol.asyncDispose]()
  }
  return { cache, feeds, pubsub, [Symbol.asyncDispose]: dispose }
}

export const redisValues = (
  addresses: readonly Address[],
  overrides: Partial<RedisValues> = {},
): RedisValues => ({
  ...new Settings([redisSettings]).view(redisSettings),
  // Tests share a busy machine.
  commandTimeoutMs: 10_000,
  nodes: addresses.map(({ host, port }) => `${host}:${port}`),
  ...overrides,
})

export const randomNamespace = (): string => `test_${randomBytes(6).toString('hex')}`

export const redisCaches = async (
  addresses: readonly Address[],
  overrides: Partial<RedisValues> = {},
  namespace = randomNamespace(),
  startWaitMs = 10_000,
): Promise<Caches> => {
  const telemetry = quietTelemetry()
  const settings = redisValues(addresses, overrides)
  const link = await RedisLink.open({ settings, namespace, telemetry, startWaitMs })
  const cache = await RedisCache.open(link, telemetry)
  const feeds = await RedisFeeds.open(link, telemetry)
  const pubsub = await RedisPubSub.open({ link, settings, telemetry })
  const dispose = async () => {
    await pubsub[Symbol.asyncDispose]()
    await link[Symbol.asyncDispose]()
    await removeNamespace(addresses, namespace)
  }
  return { cache, feeds, pubsub, [Symbol.asyncDispose]: dispose }
}

/** Takes a test's keys away again; a server that a test has killed has none. */
export const removeNamespace = async (
  addresses: readonly Address[],
  namespace: string,
): Promise<void> => {
  for (const { host, port } of addresses) {
    const client = new Redis(port, host, { lazyConnect: true, retryStrategy: null })
    client.on('error', () => undefined)
    try {
      await client.connect()
      for await (const keys of client.scanStream({ match: `${namespace}:*`, count: 1000 })) {
        for (const key of keys as string[]) await client.unlink(key)
      }
    } catch (error) {
      if (client.status === 'ready') throw error
    } finally {
      client.disconnect()
    }
  }
}
