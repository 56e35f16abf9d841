/** What every cache promises (services/platform/cache.ts). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CACHE_KEYS_MAX,
  CACHE_VALUE_BYTES_MAX,
  type Cache,
  type Scored,
  WrongKindError,
} from '../../services/platform/cache.ts'
import { holds } from '../kit/holds.ts'

const MINUTE = 60_000

export const cacheContract = (
  open: () => Promise<AsyncDisposable & { readonly cache: Cache }>,
): void => {
  let opened: AsyncDisposable & { readonly cache: Cache }
  let cache: Cache
  let keys = 0
  const newKey = (): string => `key:${keys++}`

  beforeAll(async () => {
    opened = await open()
    cache = opened.cache
  })
  afterAll(async () => {
    await opened[Symbol.asyncDispose]()
  })

  describe('values', () => {
    test('a value comes back until it is removed', async () => {
      const key = newKey()
      await cache.set(key, 'kept', MINUTE)
      expect(await cache.get(key)).toBe('kept')
      expect(await cache.remove([key, newKey()])).toBe(1)
      expect(await cache.get(key)).toBeUndefined()
    })

    test('an empty value is not an absent one', async () => {
      const key = newKey()
      await cache.set(key, '', MINUTE)
      expect(await cache.get(key)).toBe('')
      expect(await cache.getBytes(key)).toHaveLength(0)
    })

    test('keys and values are any text', async () => {
      const key = `ключ:${newKey()}:日本 🦜 \u0000 %`
      await cache.set(key, 'värde 🦜\r\n', MINUTE)
      expect(await cache.get(key)).toBe('värde 🦜\r\n')
    })

    test('a value holds 1 MiB and no more', async () => {
      const key = newKey()
      const bytes = new Uint8Array(CACHE_VALUE_BYTES_MAX).map((_, at) => at % 251)
      await cache.setBytes(key, bytes, MINUTE)
      const stored = await cache.getBytes(key)
      expect(Buffer.compare(stored ?? new Uint8Array(), bytes)).toBe(0)
      await expect(cache.set(key, 'x'.repeat(CACHE_VALUE_BYTES_MAX + 1), MINUTE)).rejects.toThrow(
        expect.objectContaining({ code: 'TOO_LARGE' }),
      )
    })

    test('many values are set and read in one call, absent ones in their place', async () => {
      const names = Array.from({ length: CACHE_KEYS_MAX - 1 }, newKey)
      await cache.setMany(new Map(names.map((name, at) => [name, `${at}`])), MINUTE)
      const values = await cache.getMany(['never set', ...names])
      expect(values).toEqual([undefined, ...names.map((_, at) => `${at}`)])
      await expect(cache.getMany([...names, 'a', 'b'])).rejects.toThrow(
        expect.objectContaining({ code: 'BAD_INPUT' }),
      )
    })

    test('a value lives for its time and not longer', async () => {
      const key = newKey()
      await cache.set(key, 'brief', 150)
      expect(await cache.get(key)).toBe('brief')
      await holds(async () => expect(await cache.get(key)).toBeUndefined(), 2_000)
    })

    test('setting again renews the time', async () => {
      const key = newKey()
      await cache.set(key, 'first', 40)
      await cache.set(key, 'second', MINUTE)
      const other = newKey()
      await cache.set(other, 'clock', 80)
      await holds(async () => expect(await cache.get(other)).toBeUndefined(), 2_000)
      expect(await cache.get(key)).toBe('second')
    })

    test('bytes that a caller changes afterwards do not change', async () => {
      const key = newKey()
      const bytes = Uint8Array.of(1, 2, 3)
      await cache.setBytes(key, bytes, MINUTE)
      bytes[0] = 9
      const stored = await cache.getBytes(key)
      expect([...(stored ?? [])]).toEqual([1, 2, 3])
    })
  })

  describe('swap', () => {
    test('it sets only over what is expected', async () => {
      const key = newKey()
      const ttlMs = MINUTE
      expect(await cache.swap(key, { expected: 'a', next: 'b', ttlMs })).toBe(false)
      expect(await cache.swap(key, { expected: undefined, next: '', ttlMs })).toBe(true)
      expect(await cache.swap(key, { expected: undefined, next: 'b', ttlMs })).toBe(false)
      expect(await cache.swap(key, { expected: '', next: 'b', ttlMs })).toBe(true)
      expect(await cache.get(key)).toBe('b')
    })

    test('of racing swaps exactly one wins', async () => {
      const key = newKey()
      const racers = Array.from({ length: 50 }, (_, at) =>
        cache.swap(key, { expected: undefined, next: `${at}`, ttlMs: MINUTE }),
      )
      const wins = await Promise.all(racers)
      expect(wins.filter(Boolean)).toHaveLength(1)
      expect(await cache.get(key)).toBe(`${wins.indexOf(true)}`)
    })
  })

  describe('fields', () => {
    test('fields are set beside those that are there', async () => {
      const key = newKey()
      expect(await cache.getFields(key)).toEqual({})
      await cache.setFields(key, { a: '1', b: '2' }, MINUTE)
      await cache.setFields(key, { b: '', 'ç 🦜': '3' }, MINUTE)
      expect(await cache.getFields(key)).toEqual({ a: '1', b: '', 'ç 🦜': '3' })
    })

    test('a key without fields is gone', async () => {
      const key = newKey()
      await cache.setFields(key, { a: '1' }, MINUTE)
      expect(await cache.removeFields(key, ['a', 'never'])).toBe(1)
      expect(await cache.remove([key])).toBe(0)
    })
  })

  describe('sorted sets', () => {
    const add = (key: string, members: readonly Scored[], cap = 100): Promise<void> =>
      cache.addCapped([{ key, members, cap, ttlMs: MINUTE }])

    test('a cap keeps the highest by score, then by the bytes of the member', async () => {
      const key = newKey()
      const members = ['a', 'B', 'é', 'z', '~'].map((member) => ({ score: 5, member }))
      await add(key, [{ score: 1, member: 'lowest' }, ...members], 4)
      const held = await cache.sliceSorted(key, { limit: 10 })
      expect(held.map(({ member }) => member)).toEqual(['é', '~', 'z', 'a'])
      expect(await cache.countSorted(key)).toBe(4)
    })

    test('a member added again takes its new score', async () => {
      const key = newKey()
      await add(key, [
        { score: 1, member: 'm' },
        { score: 2, member: 'n' },
      ])
      await add(key, [{ score: 3, member: 'm' }])
      expect(await cache.sliceSorted(key, { limit: 10 })).toEqual([
        { score: 3, member: 'm' },
        { score: 2, member: 'n' },
      ])
    })

    test('scores hold 53 bits, also below zero', async () => {
      const key = newKey()
      const scores = [
        Number.MIN_SAFE_INTEGER,
        -1,
        0,
        Number.MAX_SAFE_INTEGER - 1,
        Number.MAX_SAFE_INTEGER,
      ]
      await add(
        key,
        scores.map((score) => ({ score, member: `${score}` })),
      )
      const held = await cache.sliceSorted(key, { limit: 10, direction: 'rising' })
      expect(held.map(({ score }) => score)).toEqual(scores)
    })

    for (const direction of ['falling', 'rising'] as const) {
      test(`pages ${direction} over equal scores neither skip nor repeat`, async () => {
        const key = newKey()
        // More ties than a page holds, around a digit boundary of the members.
        const members = Array.from({ length: 30 }, (_, at) => ({
          score: at < 3 ? 1 : at < 27 ? 2 : 3,
          member: `${90 + at}`,
        }))
        await add(key, members)
        const all = await cache.sliceSorted(key, { limit: 100, direction })
        expect(all).toHaveLength(30)
        const paged: Scored[] = []
        for (;;) {
          const after = paged.at(-1)
          const page = await cache.sliceSorted(key, {
            limit: 7,
            direction,
            ...(after ? { after } : {}),
          })
          if (page.length === 0) break
          paged.push(...page)
        }
        expect(paged).toEqual(all)
      })

      test(`a page ${direction} may start after a member that is gone`, async () => {
        const key = newKey()
        const names = ['b', 'd', 'f', 'h', 'j']
        await add(
          key,
          names.map((member) => ({ score: 7, member })),
        )
        const after = { score: 7, member: 'e' }
        const page = await cache.sliceSorted(key, { limit: 10, direction, after })
        const expected = direction === 'falling' ? ['d', 'b'] : ['f', 'h', 'j']
        expect(page.map(({ member }) => member)).toEqual(expected)
      })

      test(`a slice ${direction} ends with the score it is told`, async () => {
        const key = newKey()
        await add(
          key,
          [1, 2, 2, 3].map((score, at) => ({ score, member: `${at}` })),
        )
        const page = await cache.sliceSorted(key, { limit: 10, direction, until: 2 })
        const scores = page.map(({ score }) => score)
        expect(scores).toEqual(direction === 'falling' ? [3, 2, 2] : [1, 2, 2])
      })
    }

    test('a slice of nothing is empty', async () => {
      const key = newKey()
      expect(await cache.sliceSorted(key, { limit: 10 })).toEqual([])
      await add(key, [{ score: 1, member: 'm' }])
      expect(await cache.sliceSorted(key, { limit: 0 })).toEqual([])
      expect(await cache.sliceSorted(key, { limit: 5, after: { score: 1, member: 'm' } })).toEqual(
        [],
      )
      expect(await cache.sliceSorted(key, { limit: 5, until: 2 })).toEqual([])
    })

    test('many sets are added to and trimmed in one call', async () => {
      const names = Array.from({ length: 300 }, newKey)
      const members = Array.from({ length: 12 }, (_, score) => ({ score, member: `m${score}` }))
      await cache.addCapped(names.map((key) => ({ key, members, cap: 10, ttlMs: MINUTE })))
      const counts = await Promise.all(names.map((key) => cache.countSorted(key)))
      expect(new Set(counts)).toEqual(new Set([10]))
    })

    test('members are removed by name and by predicate', async () => {
      const key = newKey()
      await add(
        key,
        Array.from({ length: 900 }, (_, at) => ({ score: at, member: `m${at}` })),
        1000,
      )
      expect(await cache.removeMembers(key, ['m1', 'm2', 'never'])).toBe(2)
      expect(await cache.removeWhere(key, ({ score }) => score % 2 === 0)).toBe(449)
      expect(await cache.countSorted(key)).toBe(449)
      expect(await cache.removeWhere(key, () => true)).toBe(449)
      expect(await cache.remove([key])).toBe(0)
    })
  })

  describe('token buckets', () => {
    const bucket = { capacity: 10, refillPerSecond: 2, cost: 1, nowMs: 1_000_000 }

    test('a bucket begins full and refills with the time it is told', async () => {
      const key = newKey()
      const all = await cache.takeTokens(key, { ...bucket, cost: 10 })
      expect(all).toEqual({ granted: true, remaining: 0, retryAfterMs: 0 })
      const none = await cache.takeTokens(key, { ...bucket, cost: 3 })
      expect(none).toEqual({ granted: false, remaining: 0, retryAfterMs: 1500 })
      const early = await cache.takeTokens(key, { ...bucket, cost: 3, nowMs: 1_001_499 })
      expect(early).toEqual({ granted: false, remaining: 2, retryAfterMs: 1 })
      const later = await cache.takeTokens(key, { ...bucket, cost: 3, nowMs: 1_001_500 })
      expect(later).toEqual({ granted: true, remaining: 0, retryAfterMs: 0 })
    })

    test('it never holds more than its capacity', async () => {
      const key = newKey()
      await cache.takeTokens(key, bucket)
      const later = await cache.takeTokens(key, { ...bucket, nowMs: bucket.nowMs + 3_600_000 })
      expect(later.remaining).toBe(9)
    })

    test('it never goes back in time', async () => {
      const key = newKey()
      await cache.takeTokens(key, { ...bucket, cost: 10 })
      await cache.takeTokens(key, { ...bucket, nowMs: bucket.nowMs - 60_000 })
      const again = await cache.takeTokens(key, bucket)
      expect(again).toMatchObject({ granted: false, remaining: 0 })
    })

    test('racing callers get exactly what is there', async () => {
      const key = newKey()
      const racers = Array.from({ length: 200 }, () =>
        cache.takeTokens(key, { ...bucket, capacity: 75 }),
      )
      const grants = await Promise.all(racers)
      expect(grants.filter(({ granted }) => granted)).toHaveLength(75)
    })

    test('refills of a part of a token add up without loss', async () => {
      const key = newKey()
      await cache.takeTokens(key, { ...bucket, cost: 10, refillPerSecond: 3 })
      let nowMs = bucket.nowMs
      for (let step = 0; step < 100; step += 1) {
        nowMs += 10
        await cache.takeTokens(key, { ...bucket, cost: 10, refillPerSecond: 3, nowMs })
      }
      const grant = await cache.takeTokens(key, { ...bucket, cost: 3, refillPerSecond: 3, nowMs })
      expect(grant).toEqual({ granted: true, remaining: 0, retryAfterMs: 0 })
    })
  })

  describe('bits', () => {
    test('bits that were set are 1, all others 0', async () => {
      const key = newKey()
      expect(await cache.getBits(key, [0, 2 ** 23 - 1])).toEqual([false, false])
      await cache.setBits(key, [0, 7, 8, 2 ** 20], MINUTE)
      await cache.setBits(key, [9], MINUTE)
      expect(await cache.getBits(key, [0, 1, 7, 8, 9, 10, 2 ** 20, 2 ** 23 - 1])).toEqual([
        true,
        false,
        true,
        true,
        true,
        false,
        true,
        false,
      ])
    })
  })

  test('a key used as another kind throws', async () => {
    const key = newKey()
    await cache.setFields(key, { a: '1' }, MINUTE)
    await expect(cache.get(key)).rejects.toThrow(WrongKindError)
    await expect(cache.countSorted(key)).rejects.toThrow(WrongKindError)
    await expect(cache.swap(key, { expected: '1', next: '2', ttlMs: 1 })).rejects.toThrow(
      WrongKindError,
    )
    await cache.set(key, 'a value replaces any kind', MINUTE)
    await expect(cache.getFields(key)).rejects.toThrow(WrongKindError)
  })
}
