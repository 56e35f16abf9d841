/** Feeds, the hot part of the cache: pushes with their trims, and the top of a feed. */
import { fork } from 'node:child_process'
import { Redis } from 'ioredis'
import type { Pair } from '../services/kernel/pair.ts'
import { RedisFeeds } from '../services/platform/cluster/feeds.ts'
import { RedisLink } from '../services/platform/cluster/redis.ts'
import { EmbeddedFeeds } from '../services/platform/embedded/feeds.ts'
import { MemoryBudget } from '../services/platform/embedded/memory-budget.ts'
import type { FeedKey, Feeds } from '../services/platform/feeds.ts'
import { Telemetry } from '../services/platform/telemetry.ts'
import { randomNamespace, redisValues, removeNamespace } from '../test/kit/caches.ts'
import { type Address, requireStack } from '../test/kit/engines.ts'
import type { Bench, BenchKit, Figure } from './kit.ts'

const CAP = 1000
/** Readers a post is pushed to at once. */
const BATCH = 500
/** Every tenth feed is absent and must refuse. */
const ABSENT_EVERY = 10
const BATCHES = 4
const KEEP_MS = 3_600_000
const BYTES_PER_ENTRY_MAX = 25
const MILLION_BYTES_MAX = 40e6

const telemetry = (): Telemetry => new Telemetry({ level: 'error', version: 'bench' })

const keys: readonly FeedKey[] = Array.from({ length: BATCH * BATCHES }, (_, at) => ({
  kind: 'feed',
  owner: (1n << 62n) + BigInt(at) * 2_097_153n,
}))

const isAbsent = (at: number): boolean => at % ABSENT_EVERY === ABSENT_EVERY - 1

const batches: readonly (readonly FeedKey[])[] = Array.from({ length: BATCHES }, (_, at) =>
  keys.slice(at * BATCH, (at + 1) * BATCH),
)

/** Posts in the order of time, as fan-out meets them. */
class Posts {
  #count = 0

  next(): { readonly post: Pair; readonly turn: number } {
    this.#count += 1
    const ms = 1_767_225_600_000 + this.#count
    const id = (1n << 62n) + BigInt(this.#count) * 2_097_152n
    return { post: { ms, id }, turn: this.#count % BATCHES }
  }
}

/** Opens every feed but the absent ones and fills it to the cap. */
const fill = async (feeds: Feeds, posts: Posts): Promise<void> => {
  const open = keys.filter((_, at) => !isAbsent(at))
  for (const key of open) {
    await feeds.open({ key, graphVersion: 1, pulledVersion: 1, keepMs: KEEP_MS })
  }
  const entries = Array.from({ length: CAP }, () => posts.next().post)
  for (let from = 0; from < open.length; from += 100) {
    await feeds.add(
      open.slice(from, from + 100).map((key) => ({ key, entries })),
      CAP,
    )
  }
}

const pushing = (feeds: Feeds, posts: Posts) => async (): Promise<number> => {
  const { post, turn } = posts.next()
  const batch = batches[turn] ?? []
  const flags = await feeds.push(batch, post, CAP)
  const added = flags.filter(Boolean).length
  if (added !== BATCH - BATCH / ABSENT_EVERY) throw new Error('feeds were lost')
  // Refusals are work, but no adds.
  return added
}

const cluster = async (kit: BenchKit): Promise<Figure[]> => {
  const { redis } = requireStack()
  const namespace = randomNamespace()
  const settings = redisValues([redis])
  await using link = await RedisLink.open({ settings, namespace, telemetry: telemetry() })
  await using feeds = await RedisFeeds.open(link, telemetry())
  const posts = new Posts()
  kit.say('filling feeds')
  await fill(feeds, posts)
  const bytes = await bytesPerEntry(redis, namespace, feeds)
  const raw = new RawPipeline(redis, `${namespace}:raw:`)
  try {
    await raw.fill(posts)
    const contest = await kit.contest({
      name: `feed add + trim at ${CAP}, ${BATCH} readers a batch, a tenth absent and refused`,
      ours: pushing(feeds, posts),
      reference: () => raw.push(posts),
      referenceName: 'raw ioredis pipeline of ZADD + ZREMRANGEBYRANK',
      goal: 1.3,
    })
    const memory = kit.atMost({
      name: `memory of an entry, in feeds of ${CAP}`,
      ours: bytes,
      limit: BYTES_PER_ENTRY_MAX,
      limitName: 'the target',
      unit: 'B',
    })
    return [contest, memory]
  } finally {
    raw.close()
    await removeNamespace([redis], namespace)
  }
}

/** As the server counts it, key and all, of a feed of exactly `CAP` entries that is pushed to. */
const bytesPerEntry = async (
  { host, port }: Address,
  namespace: string,
  feeds: Feeds,
): Promise<number> => {
  const [first] = keys
  if (!first) throw new Error('there are no feeds')
  const read = await feeds.read(first, { limit: CAP + 1 })
  if (!read.resident || read.entries.length !== CAP) throw new Error(`not ${CAP} entries`)
  const client = new Redis(port, host)
  try {
    const [name = ''] = await client.keys(`${namespace}:feed:*:${first.owner}`)
    return Number(await client.memory('USAGE', name, 'SAMPLES', 0)) / CAP
  } finally {
    client.disconnect()
  }
}

/** What one would write without thinking further; it refuses nothing and pushes to every feed. */
class RawPipeline {
  readonly #client: Redis
  readonly #names: readonly (readonly string[])[]

  constructor({ host, port }: Address, prefix: string) {
    this.#client = new Redis(port, host)
    this.#names = batches.map((batch) => batch.map(({ owner }) => `${prefix}${owner}`))
  }

  async fill(posts: Posts): Promise<void> {
    const members = Array.from({ length: CAP }, () => {
      const { ms, id } = posts.next().post
      return [ms, String(id)]
    }).flat()
    for (const names of this.#names) {
      for (const name of names) await this.#client.zadd(name, ...members)
    }
  }

  async push(posts: Posts): Promise<number> {
    const { post, turn } = posts.next()
    const pipeline = this.#client.pipeline()
    for (const name of this.#names[turn] ?? []) {
      pipeline.zadd(name, post.ms, String(post.id))
      pipeline.zremrangebyrank(name, 0, -CAP - 1)
    }
    const replies = (await pipeline.exec()) ?? []
    if (replies.some(([error]) => error)) throw new Error('the reference failed')
    return BATCH
  }

  close(): void {
    this.#client.disconnect()
  }
}

/** The plain thing at its best: arrays of objects all feeds share, newest last, capped. */
class PlainArrays {
  readonly #feeds = new Map<bigint, Pair[]>()

  constructor(posts: Posts) {
    const entries = Array.from({ length: CAP }, () => posts.next().post)
    for (const { owner } of keys) this.#feeds.set(owner, [...entries])
  }

  push(posts: Posts): number {
    const { post, turn } = posts.next()
    for (const { owner } of batches[turn] ?? []) {
      const feed = this.#feeds.get(owner)
      if (!feed) continue
      const at = positionOf(feed, post)
      if (at === feed.length) feed.push(post)
      else feed.splice(at, 0, post)
      if (feed.length > CAP) feed.shift()
    }
    return BATCH
  }

  /** The top twenty of each reader of a batch, and one look at each so that none is for nothing. */
  read(turn: number): number {
    let sum = 0
    for (const { owner } of batches[turn] ?? []) {
      const top = this.#feeds.get(owner)?.slice(-20) ?? []
      sum += top[0]?.ms ?? 0
    }
    return sum > 0 ? BATCH : 0
  }
}

const positionOf = (feed: readonly Pair[], { ms, id }: Pair): number => {
  let at = feed.length
  for (; at > 0; at -= 1) {
    const before = feed[at - 1]
    if (!before || before.ms < ms || (before.ms === ms && before.id < id)) break
  }
  return at
}

const topTwenty = (feeds: Feeds) => {
  const requests = batches.map((batch) => batch.map((key) => ({ key, range: { limit: 20 } })))
  let turn = 0
  return async (): Promise<number> => {
    turn = (turn + 1) % BATCHES
    let sum = 0
    for (const read of await feeds.readMany(requests[turn] ?? [])) {
      if (read.resident) sum += read.entries.msAt(0)
    }
    return sum > 0 ? BATCH : 0
  }
}

const embedded = async (kit: BenchKit): Promise<Figure[]> => {
  await using feeds = new EmbeddedFeeds(new MemoryBudget(512 * 1024 ** 2), telemetry())
  const posts = new Posts()
  await fill(feeds, posts)
  const plain = new PlainArrays(posts)
  let turn = 0
  const reference = async () => {
    turn = (turn + 1) % BATCHES
    return plain.read(turn)
  }
  const referenceName = 'plain capped sorted arrays of { ms, id } in a map'
  const add = await kit.contest({
    name: `feed add + trim at ${CAP}, ${BATCH} readers a batch`,
    ours: pushing(feeds, posts),
    reference: async () => plain.push(posts),
    referenceName,
    goal: 0.5,
  })
  const slice = await kit.contest({
    name: 'top-20 slice with the state of the feed',
    ours: topTwenty(feeds),
    reference,
    referenceName,
    goal: 0.5,
  })
  kit.say('measuring the memory of a million entries')
  const memory = kit.atMost({
    name: 'a million feed entries above idle',
    ours: await bytesOfAMillion(),
    limit: MILLION_BYTES_MAX,
    limitName: 'the target',
    unit: 'B',
  })
  return [add, slice, memory]
}

/** In a process of its own, where nothing else moves: bench/feed-memory.child.ts reports the difference. */
const bytesOfAMillion = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = fork(new URL('./feed-memory.child.ts', import.meta.url), {
      execArgv: ['--expose-gc', '--import', 'tsx'],
    })
    child.once('message', (bytes) => resolve(Number(bytes)))
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`feed-memory ended with ${code}`)))
  })

export const bench: Bench = {
  name: 'cache',
  engines: ['embedded', 'cluster'],
  about: 'pushes into feeds with trims, top-20 slices, and what an entry costs in memory',
  run: (engine, kit) => (engine === 'embedded' ? embedded(kit) : cluster(kit)),
}
