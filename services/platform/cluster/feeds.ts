/**
 * Feeds on Redis: every operation is one function of lua/feed-library.ts, for up to a hundred feeds
 * in a call. On a single server a call mixes buckets and there is one epoch; on a Redis Cluster a
 * call stays within a bucket, which is one slot, and each bucket has an epoch of its own, so that it
 * moves with its slot. Each operation is idempotent: a caller may repeat what it got no answer to.
 */
import { randomBytes } from 'node:crypto'
import type { Pair } from '../../kernel/pair.ts'
import {
  checkCap,
  checkFeeds,
  checkLimit,
  FEEDS_PER_CALL,
  type FeedAdd,
  type FeedKey,
  type FeedOpening,
  type FeedRange,
  type FeedRead,
  type FeedState,
  type Feeds,
  FeedsUnavailableError,
  feedBucket,
  inOrder,
} from '../feeds.ts'
import type { Telemetry } from '../telemetry.ts'
import { packPair, packPairs, packVersions, unpackRead } from './feed-codec.ts'
import { FeedMemory } from './feed-memory.ts'
import { feedLibrary } from './lua/feed-library.ts'
import type { RedisArgument, RedisCall, RedisLink, RedisReply } from './redis.ts'
import { translate } from './redis-errors.ts'

/** Most entries in one call, so that no call holds the server up for long. */
const ENTRIES_PER_CALL = 4096

type Operation = keyof typeof feedLibrary.functions

/** Feeds that go into one call, by their place in the caller's list. */
interface Group {
  readonly epochKey: string
  readonly indices: number[]
  entries: number
}

const newToken = (): string => randomBytes(8).toString('hex')

const unavailable = (message: string, details: { readonly cause: unknown }): Error =>
  new FeedsUnavailableError(message, details)

export class RedisFeeds implements Feeds {
  readonly #link: RedisLink
  readonly #memory: FeedMemory
  readonly #seconds

  private constructor(link: RedisLink, telemetry: Telemetry) {
    this.#link = link
    this.#memory = new FeedMemory(link, telemetry)
    this.#seconds = telemetry.duration('tributary_feeds_call_seconds', 'time of a call to Redis', [
      'operation',
    ])
  }

  static async open(link: RedisLink, telemetry: Telemetry): Promise<RedisFeeds> {
    const feeds = new RedisFeeds(link, telemetry)
    try {
      await link.use(feedLibrary)
      await feeds.#checkEncoding(telemetry)
    } catch (error) {
      throw translate(error, unavailable)
    }
    return feeds
  }

  async open(opening: FeedOpening): Promise<FeedState> {
    const { key, graphVersion, pulledVersion, keepMs } = opening
    const revision = newToken()
    const versions = packVersions(graphVersion, pulledVersion)
    const epoch = text(await this.#one('open', key, [versions, keepMs, revision]))
    const floor = { ms: 0, id: 0n }
    return { building: true, floor, graphVersion, pulledVersion, revision, epoch }
  }

  complete(key: FeedKey, result: Parameters<Feeds['complete']>[1]): Promise<boolean> {
    return this.#settle(key, 'B', { ...result, floor: packPair(result.floor) })
  }

  cover(key: FeedKey, change: Parameters<Feeds['cover']>[1]): Promise<boolean> {
    return this.#settle(key, 'C', { ...change, floor: packPair(undefined) })
  }

  async add(adds: readonly FeedAdd[], cap: number): Promise<boolean[]> {
    checkCap(cap)
    const packed = adds.map(({ entries }) => packPairs(inOrder(entries)))
    const keys = adds.map(({ key }) => key)
    const sizes = adds.map(({ entries }) => entries.length)
    return this.#flags('add', { keys, sizes, shared: [cap] }, (index) => [packed[index] ?? ''])
  }

  async push(keys: readonly FeedKey[], { ms, id }: Pair, cap: number): Promise<boolean[]> {
    checkCap(cap)
    const shared = [cap, ms, Number(id >> 32n), Number(id & 0xffff_ffffn)]
    return this.#flags('push', { keys, shared }, () => [])
  }

  async remove(removals: readonly FeedAdd[]): Promise<boolean[]> {
    const packed = removals.map(({ entries }) => packPairs(inOrder(entries)))
    const keys = removals.map(({ key }) => key)
    const sizes = removals.map(({ entries }) => entries.length)
    return this.#flags('remove', { keys, sizes, shared: [] }, (index) => [packed[index] ?? ''])
  }

  async read(key: FeedKey, range: FeedRange): Promise<FeedRead> {
    const [read] = await this.readMany([{ key, range }])
    return read ?? { resident: false }
  }

  async readMany(
    reads: readonly { readonly key: FeedKey; readonly range: FeedRange }[],
  ): Promise<FeedRead[]> {
    for (const { range } of reads) checkLimit(range.limit)
    const keys = reads.map(({ key }) => key)
    const sizes = reads.map(({ range }) => range.limit)
    const groups = await this.#call('read', { keys, sizes, shared: [] }, (index) => {
      const range = reads[index]?.range
      return [range?.limit ?? 0, packPair(range?.below)]
    })
    const results: FeedRead[] = new Array(reads.length)
    for (const [{ indices }, reply] of groups) {
      const answers = reply as readonly Buffer[]
      for (const [at, index] of indices.entries()) {
        const { key, range } = reads[index] ?? {}
        const bytes = answers[at]
        if (!(key && range && bytes)) throw new Error('a feed of a call was not answered')
        results[index] = unpackRead(bytes, range)
        if (bytes.length > 0) this.#memory.sample(this.#key(key))
      }
    }
    return results
  }

  async drop(keys: readonly FeedKey[]): Promise<void> {
    checkFeeds(keys.length)
    const names = keys.map((key) => this.#key(key))
    await this.#run(
      'drop',
      names.map((key) => ({ command: 'UNLINK', args: [key], key })),
    )
  }

  async epoch(key: FeedKey): Promise<string> {
    const epochKey = this.#epochKey(key)
    const [reply] = await this.#run('epoch', [functionCall('epoch', [epochKey], [newToken()])])
    return text(reply)
  }

  /** The connection is shared and closed by who opened it. */
  async [Symbol.asyncDispose](): Promise<void> {}

  async #settle(
    key: FeedKey,
    phase: 'B' | 'C',
    change: Parameters<Feeds['cover']>[1] & { readonly floor: Buffer },
  ): Promise<boolean> {
    const { expected, entries, floor, graphVersion, pulledVersion } = change
    // A revision is random, so the one expected also means the opening, and epoch, expected.
    const reply = await this.#one('settle', key, [
      phase,
      expected.revision,
      packPairs(inOrder(entries)),
      floor,
      packVersions(graphVersion, pulledVersion),
      newToken(),
    ])
    return reply === 1
  }

  async #one(operation: Operation, key: FeedKey, args: RedisArgument[]): Promise<RedisReply> {
    const keys = [this.#epochKey(key), this.#key(key)]
    const [reply] = await this.#run(operation, [
      functionCall(operation, keys, [newToken(), ...args]),
    ])
    return reply ?? null
  }

  async #flags(
    operation: Operation,
    request: FeedsRequest,
    own: (index: number) => RedisArgument[],
  ): Promise<boolean[]> {
    const flags = new Array<boolean>(request.keys.length).fill(false)
    for (const [{ indices }, reply] of await this.#call(operation, request, own)) {
      const answers = text(reply)
      for (const [at, index] of indices.entries()) flags[index] = answers[at] === '1'
    }
    return flags
  }

  /** Calls a function over many feeds; `own` gives the arguments of each. */
  async #call(
    operation: Operation,
    request: FeedsRequest,
    own: (index: number) => RedisArgument[],
  ): Promise<[Group, RedisReply][]> {
    checkFeeds(request.keys.length)
    const groups = this.#groups(request)
    const calls = groups.map(({ epochKey, indices }) => {
      const keys = indices.flatMap((index) => {
        const key = request.keys[index]
        return key ? [this.#key(key)] : []
      })
      const args = [newToken(), ...request.shared, ...indices.flatMap(own)]
      return functionCall(operation, [epochKey, ...keys], args)
    })
    const replies = await this.#run(operation, calls)
    return groups.map((group, index) => [group, replies[index] ?? null])
  }

  #groups({ keys, sizes }: FeedsRequest): Group[] {
    const groups: Group[] = []
    const open = new Map<string, Group>()
    for (const [index, key] of keys.entries()) {
      const epochKey = this.#epochKey(key)
      const size = sizes?.[index] ?? 0
      let group = open.get(epochKey)
      if (
        !group ||
        group.indices.length === FEEDS_PER_CALL ||
        group.entries + size > ENTRIES_PER_CALL
      ) {
        group = { epochKey, indices: [], entries: 0 }
        groups.push(group)
        open.set(epochKey, group)
      }
      group.indices.push(index)
      group.entries += size
    }
    return groups
  }

  async #run(operation: string, calls: readonly RedisCall[]): Promise<RedisReply[]> {
    const done = this.#seconds.startTimer({ operation })
    try {
      return await this.#link.run(calls)
    } catch (error) {
      throw translate(error, unavailable)
    } finally {
      done()
    }
  }

  #key({ kind, owner }: FeedKey): string {
    return this.#link.key(`${kind}:{${bucketTag(owner)}}:${owner}`)
  }

  #epochKey({ owner }: FeedKey): string {
    return this.#link.key(this.#link.clustered ? `epoch:{${bucketTag(owner)}}` : 'epoch')
  }

  /** BEY-16: a full feed must take the memory we count on; else an operator has to know. */
  async #checkEncoding(telemetry: Telemetry): Promise<void> {
    const key: FeedKey = { kind: 'feed', owner: 0n }
    const entries = Array.from({ length: 1000 }, (_, at) => ({ ms: at + 1, id: BigInt(at) }))
    await this.open({ key, graphVersion: 0, pulledVersion: 0, keepMs: 10_000 })
    await this.add([{ key, entries }], entries.length)
    const bytes = await this.#memory.bytesOf(this.#key(key))
    await this.drop([key])
    if (bytes === undefined || bytes <= entries.length * 25) return
    telemetry.log.warn({ bytes, entries: entries.length }, 'feeds take more memory than planned')
  }
}

interface FeedsRequest {
  readonly keys: readonly FeedKey[]
  /** Entries that go with each feed, where that is more than one. */
  readonly sizes?: readonly number[]
  /** Arguments of every call. */
  readonly shared: readonly RedisArgument[]
}

const functionCall = (
  operation: Operation,
  keys: readonly string[],
  args: readonly RedisArgument[],
): RedisCall => ({
  command: 'FCALL',
  args: [feedLibrary.functions[operation], keys.length, ...keys, ...args],
  key: keys[0] ?? '',
})

const text = (reply: RedisReply | undefined): string => {
  if (Buffer.isBuffer(reply)) return reply.toString('latin1')
  throw new Error('a function of feeds gave no text')
}

const bucketTag = (owner: bigint): string =>
  `b${String(feedBucket({ kind: 'feed', owner })).padStart(4, '0')}`
