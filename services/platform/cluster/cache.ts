/** The cache on Redis. What must be atomic within a key is a function of lua/cache-library.ts. */
import {
  bucketTtlMs,
  type Cache,
  CacheUnavailableError,
  type CappedAdd,
  checkBucket,
  checkKeys,
  checkOffsets,
  checkScore,
  checkTtl,
  checkValue,
  type Scored,
  type SortedSlice,
  type TokenBucket,
  type TokenGrant,
} from '../cache.ts'
import type { Telemetry } from '../telemetry.ts'
import { cacheLibrary } from './lua/cache-library.ts'
import type { RedisArgument, RedisCall, RedisLink, RedisReply } from './redis.ts'
import { translate } from './redis-errors.ts'

/** Members read, and removed, at a time by `removeWhere`. */
const SCAN_COUNT = 500

const unavailable = (message: string, details: { readonly cause: unknown }): Error =>
  new CacheUnavailableError(message, details)

export class RedisCache implements Cache {
  readonly #link: RedisLink
  readonly #seconds

  private constructor(link: RedisLink, telemetry: Telemetry) {
    this.#link = link
    this.#seconds = telemetry.duration('tributary_cache_call_seconds', 'time of a call to Redis', [
      'operation',
    ])
  }

  static async open(link: RedisLink, telemetry: Telemetry): Promise<RedisCache> {
    try {
      await link.use(cacheLibrary)
    } catch (error) {
      throw translate(error, unavailable)
    }
    return new RedisCache(link, telemetry)
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.getBytes(key))?.toString()
  }

  async getMany(keys: readonly string[]): Promise<(string | undefined)[]> {
    checkKeys(keys.length)
    const replies = await this.#run(
      'getMany',
      keys.map((key) => this.#call('GET', key)),
    )
    return replies.map((reply) => (Buffer.isBuffer(reply) ? reply.toString() : undefined))
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    checkValue(key, value)
    checkTtl(ttlMs)
    await this.#run('set', [this.#call('SET', key, value, 'PX', ttlMs)])
  }

  async setMany(values: ReadonlyMap<string, string>, ttlMs: number): Promise<void> {
    checkKeys(values.size)
    checkTtl(ttlMs)
    for (const [key, value] of values) checkValue(key, value)
    await this.#run(
      'setMany',
      [...values].map(([key, value]) => this.#call('SET', key, value, 'PX', ttlMs)),
    )
  }

  async getBytes(key: string): Promise<Buffer | undefined> {
    const [reply] = await this.#run('get', [this.#call('GET', key)])
    return Buffer.isBuffer(reply) ? reply : undefined
  }

  async setBytes(key: string, value: Uint8Array, ttlMs: number): Promise<void> {
    checkValue(key, value)
    checkTtl(ttlMs)
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    await this.#run('set', [this.#call('SET', key, bytes, 'PX', ttlMs)])
  }

  async swap(key: string, change: Parameters<Cache['swap']>[1]): Promise<boolean> {
    const { expected, next, ttlMs } = change
    checkValue(key, next)
    checkTtl(ttlMs)
    const kind = expected === undefined ? 'absent' : 'value'
    return (await this.#function('swap', key, [kind, expected ?? '', next, ttlMs])) === 1
  }

  async remove(keys: readonly string[]): Promise<number> {
    checkKeys(keys.length)
    const replies = await this.#run(
      'remove',
      keys.map((key) => this.#call('UNLINK', key)),
    )
    return replies.reduce<number>((sum, reply) => sum + Number(reply), 0)
  }

  async setFields(
    key: string,
    fields: Readonly<Record<string, string>>,
    ttlMs: number,
  ): Promise<void> {
    checkTtl(ttlMs)
    const entries = Object.entries(fields)
    checkKeys(entries.length)
    for (const [, value] of entries) checkValue(key, value)
    if (entries.length > 0) await this.#function('set_fields', key, [ttlMs, ...entries.flat()])
  }

  async getFields(key: string): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries(pairsOf(await this.#function('get_fields', key, [])))
  }

  async removeFields(key: string, fields: readonly string[]): Promise<number> {
    checkKeys(fields.length)
    if (fields.length === 0) return 0
    const [reply] = await this.#run('removeFields', [this.#call('HDEL', key, ...fields)])
    return Number(reply)
  }

  async addCapped(adds: readonly CappedAdd[]): Promise<void> {
    checkKeys(adds.length)
    const calls = adds.map(({ key, members, cap, ttlMs }) => {
      checkTtl(ttlMs)
      for (const { score } of members) checkScore(score)
      const pairs = members.flatMap(({ score, member }) => [score, member])
      return this.#functionCall('add_capped', key, [cap, ttlMs, members.length, ...pairs])
    })
    await this.#run('addCapped', calls)
  }

  async sliceSorted(key: string, slice: SortedSlice): Promise<Scored[]> {
    const { limit, direction = 'falling', after, until } = slice
    if (limit <= 0) return []
    const start = after ? [after.score, after.member] : ['', '']
    const reply = await this.#function('slice', key, [direction, limit, ...start, until ?? ''])
    return pairsOf(reply).map(([member, score]) => ({ member, score: Number(score) }))
  }

  async removeMembers(key: string, members: readonly string[]): Promise<number> {
    checkKeys(members.length)
    if (members.length === 0) return 0
    const [reply] = await this.#run('removeMembers', [this.#call('ZREM', key, ...members)])
    return Number(reply)
  }

  async removeWhere(key: string, matches: (entry: Scored) => boolean): Promise<number> {
    let cursor = '0'
    let removed = 0
    do {
      const [reply] = await this.#run('scan', [
        this.#call('ZSCAN', key, cursor, 'COUNT', SCAN_COUNT),
      ])
      const [next = null, found = null] = Array.isArray(reply) ? reply : []
      cursor = String(next)
      const members = pairsOf(found)
        .filter(([member, score]) => matches({ member, score: Number(score) }))
        .map(([member]) => member)
      for (let from = 0; from < members.length; from += SCAN_COUNT) {
        removed += await this.removeMembers(key, members.slice(from, from + SCAN_COUNT))
      }
    } while (cursor !== '0')
    return removed
  }

  async countSorted(key: string): Promise<number> {
    const [reply] = await this.#run('count', [this.#call('ZCARD', key)])
    return Number(reply)
  }

  async takeTokens(key: string, bucket: TokenBucket): Promise<TokenGrant> {
    checkBucket(bucket)
    const { capacity, refillPerSecond, cost, nowMs } = bucket
    const args = [capacity, refillPerSecond, cost, nowMs, bucketTtlMs(bucket)]
    const [granted, left, wait] = listOf(await this.#function('take_tokens', key, args))
    return {
      granted: granted === 1,
      remaining: Math.floor(Number(left) / 1000),
      retryAfterMs: Number(wait),
    }
  }

  async setBits(key: string, offsets: readonly number[], ttlMs: number): Promise<void> {
    checkOffsets(offsets)
    checkKeys(offsets.length)
    checkTtl(ttlMs)
    if (offsets.length > 0) await this.#function('set_bits', key, [ttlMs, ...offsets])
  }

  async getBits(key: string, offsets: readonly number[]): Promise<boolean[]> {
    checkOffsets(offsets)
    checkKeys(offsets.length)
    if (offsets.length === 0) return []
    return [...String(await this.#function('get_bits', key, offsets))].map((bit) => bit === '1')
  }

  /** The connection is shared and closed by who opened it. */
  async [Symbol.asyncDispose](): Promise<void> {}

  async #function(
    name: keyof typeof cacheLibrary.functions,
    key: string,
    args: readonly RedisArgument[],
  ): Promise<RedisReply> {
    const [reply] = await this.#run(name, [this.#functionCall(name, key, args)])
    return reply ?? null
  }

  #functionCall(
    name: keyof typeof cacheLibrary.functions,
    key: string,
    args: readonly RedisArgument[],
  ): RedisCall {
    const full = this.#link.key(key)
    return { command: 'FCALL', args: [cacheLibrary.functions[name], 1, full, ...args], key: full }
  }

  #call(command: string, key: string, ...args: RedisArgument[]): RedisCall {
    const full = this.#link.key(key)
    return { command, args: [full, ...args], key: full }
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
}

const listOf = (reply: RedisReply): readonly RedisReply[] => (Array.isArray(reply) ? reply : [])

/** `[a, 1, b, 2]` or `[[a, 1], [b, 2]]` as pairs of text. */
const pairsOf = (reply: RedisReply): [string, string][] => {
  const flat = listOf(reply).flat()
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < flat.length; at += 2)
    pairs.push([String(flat[at]), String(flat[at + 1])])
  return pairs
}
