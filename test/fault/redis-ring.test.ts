/** A Redis Cluster whose slots move and whose masters die. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keySlot } from '../../services/platform/cluster/key-slot.ts'
import { type FeedKey, feedBucket } from '../../services/platform/feeds.ts'
import { held, pair, run } from '../contract/feeds.contract.ts'
import { type Caches, randomNamespace, redisCaches } from '../kit/caches.ts'
import { holds } from '../kit/holds.ts'
import { formPrivateRing, RedisServer } from '../kit/private-redis.ts'

const ringNode = (): Promise<RedisServer> =>
  RedisServer.start(
    '--cluster-enabled',
    'yes',
    '--cluster-node-timeout',
    '1500',
    '--cluster-require-full-coverage',
    'no',
  )

const idOf = async (server: RedisServer): Promise<string> =>
  String(await server.command('CLUSTER', 'MYID'))

const key: FeedKey = { kind: 'feed', owner: (1n << 62n) + 4_711n }
const bucketTag = `{b${String(feedBucket(key)).padStart(4, '0')}}`
const slot = keySlot(bucketTag)

describe('a Redis Cluster', () => {
  const namespace = randomNamespace()
  let masters: RedisServer[]
  let caches: Caches

  /** The server that has the slot of `key`, and another. */
  const ownerAndOther = async (): Promise<{ owner: RedisServer; other: RedisServer }> => {
    const counts = await Promise.all(
      masters.map(async (server) => {
        const nodes = String(await server.command('CLUSTER', 'NODES'))
        const own = nodes.split('\n').find((line) => line.includes('myself')) ?? ''
        const ranges = own
          .split(' ')
          .slice(8)
          .map((range) => range.split('-').map(Number))
        return ranges.some(([low = -1, high = low]) => slot >= low && slot <= high)
      }),
    )
    const owner = masters[counts.indexOf(true)]
    const other = masters[counts.indexOf(false)]
    if (!(owner && other)) throw new Error('no master has the slot')
    return { owner, other }
  }

  beforeAll(async () => {
    masters = await Promise.all([ringNode(), ringNode(), ringNode()])
    await formPrivateRing(masters)
    caches = await redisCaches(
      masters.map(({ address }) => address),
      { cluster: true },
      namespace,
    )
  })
  afterAll(async () => {
    await caches[Symbol.asyncDispose]()
    for (const master of masters) await master[Symbol.asyncDispose]()
  })

  const fill = async (): Promise<string> => {
    const state = await caches.feeds.open({
      key,
      graphVersion: 1,
      pulledVersion: 1,
      keepMs: 600_000,
    })
    await caches.feeds.add([{ key, entries: run(1, 10) }], 100)
    return state.epoch
  }

  test('puts keys into the slots we compute', async () => {
    const names = ['', 'a', 'foo{bar}baz', '{}x', '{a}{b}', 'x{', 'ключ{🦜}', bucketTag]
    for (const name of names) {
      expect(await masters[0]?.command('CLUSTER', 'KEYSLOT', name)).toBe(keySlot(name))
    }
  })

  test('is followed through ASK and MOVED while a slot moves', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `${bucketTag}:${at}`)
    const elsewhere = Array.from({ length: 20 }, (_, at) => `elsewhere ${at}`)
    await caches.cache.setMany(
      new Map([...names, ...elsewhere].map((name) => [name, name])),
      600_000,
    )
    const epoch = await fill()
    const { owner, other } = await ownerAndOther()
    await other.command('CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', await idOf(owner))
    await owner.command('CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', await idOf(other))
    const moving = (await owner.command('CLUSTER', 'GETKEYSINSLOT', `${slot}`, '100')) as string[]
    expect(moving.length).toBeGreaterThanOrEqual(22)
    const { host, port } = other.address
    await owner.command('MIGRATE', host, `${port}`, '', '0', '5000', 'KEYS', ...moving)
    expect(await caches.cache.getMany([...names, ...elsewhere])).toEqual([...names, ...elsewhere])
    for (const server of [other, owner]) {
      await server.command('CLUSTER', 'SETSLOT', `${slot}`, 'NODE', await idOf(other))
    }
    expect(await caches.cache.getMany([...elsewhere, ...names])).toEqual([...elsewhere, ...names])
    // The feed came along, but under a server that cannot know what it missed.
    expect(await caches.feeds.read(key, { limit: 1 })).toEqual({ resident: false })
    expect(await caches.feeds.epoch(key)).not.toBe(epoch)
  })

  test('loses the feeds of a master whose replica takes over, and no others', async () => {
    const { owner } = await ownerAndOther()
    await using replica = await ringNode()
    await replica.command('CLUSTER', 'MEET', owner.address.host, `${owner.address.port}`)
    const ownerId = await idOf(owner)
    await holds(async () => {
      await replica.command('CLUSTER', 'REPLICATE', ownerId)
      expect(await replica.command('INFO', 'replication')).toContain('master_link_status:up')
    }, 30_000)
    // Whoever has not heard of the replica when the master dies never will.
    const replicaId = await idOf(replica)
    await holds(async () => {
      for (const server of [...masters, replica]) {
        const nodes = String(await server.command('CLUSTER', 'NODES'))
        const connected = nodes.split('\n').filter((line) => line.includes(' connected'))
        expect(connected).toHaveLength(4)
        expect(nodes).toMatch(new RegExp(`${replicaId} .*slave ${ownerId}`))
      }
    }, 30_000)
    const epoch = await fill()
    const others = Array.from(
      { length: 40 },
      (_, at): FeedKey => ({ kind: 'celeb', owner: BigInt(at) << 30n }),
    )
    for (const other of others)
      await caches.feeds.open({ key: other, graphVersion: 1, pulledVersion: 1, keepMs: 600_000 })
    await holds(async () =>
      expect(await replica.command('CLUSTER', 'COUNTKEYSINSLOT', `${slot}`)).toBeGreaterThanOrEqual(
        2,
      ),
    )
    await owner.kill()
    await replica.command('CLUSTER', 'FAILOVER', 'TAKEOVER')
    await holds(async () => {
      expect(await caches.feeds.read(key, { limit: 1 })).toEqual({ resident: false })
    }, 30_000)
    expect(await caches.feeds.epoch(key)).not.toBe(epoch)
    await holds(async () => {
      const flags = await caches.feeds.push(others, pair(5), 10)
      expect(flags).toContain(true)
      expect(flags).toContain(false)
    }, 30_000)
    await fill()
    expect((await held(caches.feeds, key)).entries).toEqual(run(1, 10).reverse())
  })
})
