/** What every engine promises of feeds (services/platform/feeds.ts). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { comparePairs, LOWEST, newestFirst, type Pair } from '../../services/kernel/pair.ts'
import {
  FEED_ENTRIES_MAX,
  FEEDS_MAX,
  type FeedKey,
  type FeedRange,
  type FeedState,
  type Feeds,
} from '../../services/platform/feeds.ts'
import { holds } from '../kit/holds.ts'

const MINUTE = 60_000
const BASE_ID = 1n << 62n

export const pair = (ms: number, id: number | bigint = ms): Pair => ({
  ms,
  id: BASE_ID + BigInt(id),
})

export const run = (from: number, to: number): Pair[] =>
  Array.from({ length: to - from + 1 }, (_, at) => pair(from + at))

/** A resident feed as plain data. */
export interface Held {
  readonly state: FeedState
  readonly entries: Pair[]
  readonly more: boolean
}

export const held = async (
  feeds: Feeds,
  key: FeedKey,
  range: FeedRange = { limit: FEED_ENTRIES_MAX },
): Promise<Held> => {
  const read = await feeds.read(key, range)
  if (!read.resident) throw new Error('the feed is absent')
  return { state: read.state, entries: [...read.entries], more: read.more }
}

export const feedsContract = (
  open: () => Promise<AsyncDisposable & { readonly feeds: Feeds }>,
): void => {
  let opened: AsyncDisposable & { readonly feeds: Feeds }
  let feeds: Feeds
  let owners = 0
  const newKey = (kind: FeedKey['kind'] = 'feed'): FeedKey => ({
    kind,
    owner: BASE_ID + BigInt(owners++) * 2_097_152n,
  })
  const opening = { graphVersion: 3, pulledVersion: 5, keepMs: MINUTE }
  const opened1 = async (key = newKey()): Promise<FeedKey> => {
    await feeds.open({ key, ...opening })
    return key
  }
  const completed = async (entries: readonly Pair[], floor = LOWEST): Promise<FeedKey> => {
    const key = newKey()
    const expected = await feeds.open({ key, ...opening })
    const versions = { graphVersion: 3, pulledVersion: 5 }
    expect(await feeds.complete(key, { expected, entries, floor, ...versions })).toBe(true)
    return key
  }

  beforeAll(async () => {
    opened = await open()
    feeds = opened.feeds
  })
  afterAll(async () => {
    await opened[Symbol.asyncDispose]()
  })

  describe('resident or absent', () => {
    test('absent, empty and trimmed are three answers', async () => {
      expect(await feeds.read(newKey(), { limit: 10 })).toEqual({ resident: false })

      const empty = await held(feeds, await opened1())
      expect(empty.entries).toEqual([])
      expect(empty.state).toMatchObject({ building: true, floor: LOWEST, graphVersion: 3 })

      const trimmed = await opened1()
      await feeds.add([{ key: trimmed, entries: run(1, 20) }], 10)
      expect((await held(feeds, trimmed)).state.floor).toEqual(pair(10))
    })

    test('an add into an absent feed is refused and makes nothing', async () => {
      const [absent, resident] = [newKey(), await opened1()]
      const adds = [absent, resident].map((key) => ({ key, entries: [pair(1)] }))
      expect(await feeds.add(adds, 10)).toEqual([false, true])
      expect(await feeds.push([absent, resident], pair(2), 10)).toEqual([false, true])
      expect(await feeds.remove(adds)).toEqual([false, true])
      expect(await feeds.read(absent, { limit: 10 })).toEqual({ resident: false })
      expect((await held(feeds, resident)).entries).toEqual([pair(2)])
    })

    test('a reader and an author of one number have feeds of their own', async () => {
      const key = await opened1()
      await feeds.push([key], pair(1), 10)
      const celeb: FeedKey = { kind: 'celeb', owner: key.owner }
      expect(await feeds.read(celeb, { limit: 1 })).toEqual({ resident: false })
    })

    test('a dropped feed is absent', async () => {
      const key = await opened1()
      await feeds.drop([key, newKey()])
      expect(await feeds.read(key, { limit: 1 })).toEqual({ resident: false })
    })

    test('opening again empties it and changes the revision', async () => {
      const key = newKey()
      const first = await feeds.open({ key, ...opening })
      await feeds.push([key], pair(1), 10)
      const second = await feeds.open({ key, ...opening, graphVersion: 9 })
      expect(second.revision).not.toBe(first.revision)
      expect(await held(feeds, key)).toEqual({ state: second, entries: [], more: false })
    })

    test('a feed goes when it is neither read nor opened for its time', async () => {
      const [read, left] = [newKey(), newKey()]
      for (const key of [read, left]) await feeds.open({ key, ...opening, keepMs: 600 })
      await holds(async () => {
        expect(await feeds.read(read, { limit: 1 })).toMatchObject({ resident: true })
        // A push is no use of a feed.
        expect(await feeds.push([left], pair(1), 10)).toEqual([false])
      }, 5_000)
      expect(await feeds.read(read, { limit: 1 })).toMatchObject({ resident: true })
    })
  })

  describe('entries', () => {
    test('they come newest first whatever the order they were added in', async () => {
      const key = await opened1()
      const pairs = [5, 1, 9, 3, 7, 10, 2].map((ms) => pair(ms))
      for (const each of pairs) await feeds.push([key], each, 100)
      await feeds.add([{ key, entries: [pair(8), pair(4), pair(6)] }], 100)
      const expected = run(1, 10).sort(newestFirst)
      expect((await held(feeds, key)).entries).toEqual(expected)
    })

    test('equal times are ordered by id, as numbers', async () => {
      const key = await opened1()
      const low = 2n ** 32n
      const ids = [9n, 10n, 99n, 100n, low - 1n, low, low + 1n, low * 2n, 2n ** 61n]
      for (const id of [...ids].reverse()) await feeds.push([key], { ms: 7, id: BASE_ID + id }, 100)
      const entries = (await held(feeds, key)).entries
      expect(entries.map(({ id }) => id - BASE_ID)).toEqual([...ids].reverse())
    })

    test('adding what is there changes nothing', async () => {
      const key = await opened1()
      await feeds.add([{ key, entries: [...run(1, 5), ...run(3, 5)] }], 100)
      for (const each of [5, 3, 1]) await feeds.push([key], pair(each), 100)
      await feeds.add([{ key, entries: run(2, 4) }], 100)
      expect((await held(feeds, key)).entries).toEqual(run(1, 5).reverse())
    })

    test('the largest times and ids come back whole', async () => {
      const key = await opened1()
      const pairs = [
        { ms: 1, id: 1n },
        { ms: 2 ** 48 - 1, id: 2n ** 63n - 1n },
      ]
      await feeds.add([{ key, entries: pairs }], 10)
      expect((await held(feeds, key)).entries).toEqual([...pairs].reverse())
    })

    test('a removal takes out what is there and keeps the floor', async () => {
      const key = await opened1()
      await feeds.add([{ key, entries: run(1, 20) }], 10)
      const removals = [pair(20), pair(15), pair(11), pair(3), pair(99)]
      expect(await feeds.remove([{ key, entries: removals }])).toEqual([true])
      const { entries, state } = await held(feeds, key)
      expect(entries.map(({ ms }) => ms)).toEqual([19, 18, 17, 16, 14, 13, 12])
      expect(state.floor).toEqual(pair(10))
      await feeds.push([key], pair(20), 10)
      expect((await held(feeds, key)).entries[0]).toEqual(pair(20))
    })

    test('a feed emptied by removals stays resident with its floor', async () => {
      const key = await completed(run(6, 8), pair(5))
      await feeds.remove([{ key, entries: run(1, 10) }])
      await feeds.push([key], pair(5), 10)
      const { entries, state } = await held(feeds, key)
      expect(entries).toEqual([])
      expect(state.floor).toEqual(pair(5))
      await feeds.push([key], pair(6), 10)
      expect((await held(feeds, key)).entries).toEqual([pair(6)])
    })
  })

  describe('floor', () => {
    test('below 1,001 entries of 1,000 everything above the floor is there', async () => {
      const key = await opened1()
      for (let ms = 1; ms <= 2_300; ms += 1) await feeds.push([key], pair(ms), 1000)
      const { entries, state } = await held(feeds, key)
      expect(entries.length).toBeGreaterThanOrEqual(1000)
      expect(entries.length).toBeLessThanOrEqual(1126)
      expect(state.floor).toEqual(pair(2_300 - entries.length))
      expect(entries).toEqual(run(state.floor.ms + 1, 2_300).reverse())
    })

    test('an add of more than the cap trims exactly', async () => {
      const key = await opened1()
      await feeds.add([{ key, entries: run(1, 2_001) }], 1000)
      const { entries, state } = await held(feeds, key)
      expect(state.floor).toEqual(pair(1_001))
      expect(entries).toEqual(run(1_002, 2_001).reverse())
    })

    test('a cap of one keeps the newest', async () => {
      const key = await opened1()
      for (let ms = 1; ms <= 9; ms += 1) await feeds.push([key], pair(ms), 1)
      const { entries, state } = await held(feeds, key)
      expect(entries[0]).toEqual(pair(9))
      expect(entries.length).toBeLessThanOrEqual(2)
      expect(state.floor).toEqual(pair(9 - entries.length))
    })

    test('an add at or below the floor is ignored', async () => {
      const key = await completed(run(11, 15), pair(10))
      await feeds.push([key], pair(10), 100)
      await feeds.push([key], pair(10, 9), 100)
      await feeds.add([{ key, entries: run(8, 10) }], 100)
      await feeds.push([key], pair(10, 11), 100)
      const { entries } = await held(feeds, key)
      expect(entries).toEqual([...run(11, 15).reverse(), pair(10, 11)])
    })

    test('a smaller cap takes effect with the next add', async () => {
      const key = await completed(run(1, 200))
      await feeds.push([key], pair(201), 50)
      const { entries, state } = await held(feeds, key)
      expect(entries).toEqual(run(state.floor.ms + 1, 201).reverse())
      expect(entries.length).toBeLessThanOrEqual(57)
    })
  })

  describe('building', () => {
    test('pushes land while the tables are read, and both are joined', async () => {
      const key = newKey()
      const expected = await feeds.open({ key, ...opening })
      await feeds.push([key], pair(30), 100)
      await feeds.push([key], pair(12), 100)
      await feeds.push([key], pair(4), 100)
      const result = { entries: [...run(10, 20), pair(30)], floor: pair(9) }
      const versions = { graphVersion: 7, pulledVersion: 8 }
      expect(await feeds.complete(key, { expected, ...result, ...versions })).toBe(true)
      const { entries, state } = await held(feeds, key)
      expect(entries).toEqual([pair(30), ...run(10, 20).reverse()])
      expect(state).toMatchObject({ building: false, floor: pair(9), ...versions })
      expect(state.revision).not.toBe(expected.revision)
    })

    test('a floor that a trim has raised higher stays', async () => {
      const key = newKey()
      const expected = await feeds.open({ key, ...opening })
      await feeds.add([{ key, entries: run(100, 130) }], 10)
      const versions = { graphVersion: 3, pulledVersion: 5 }
      const result = { entries: run(90, 110), floor: pair(80) }
      expect(await feeds.complete(key, { expected, ...result, ...versions })).toBe(true)
      const { entries, state } = await held(feeds, key)
      expect(state.floor).toEqual(pair(120))
      expect(entries).toEqual(run(121, 130).reverse())
    })

    test('a completion of another revision is refused and changes nothing', async () => {
      const key = newKey()
      const versions = { graphVersion: 99, pulledVersion: 99 }
      const stale = await feeds.open({ key, ...opening })
      const current = await feeds.open({ key, ...opening })
      const result = { entries: run(1, 5), floor: LOWEST, ...versions }
      expect(await feeds.complete(key, { expected: stale, ...result })).toBe(false)
      expect(await held(feeds, key)).toEqual({ state: current, entries: [], more: false })
      expect(await feeds.complete(key, { expected: current, ...result })).toBe(true)
      expect(await feeds.complete(key, { expected: current, ...result })).toBe(false)
      expect(await feeds.complete(newKey(), { expected: current, ...result })).toBe(false)
    })

    test('of racing completions exactly one wins', async () => {
      const key = newKey()
      const expected = await feeds.open({ key, ...opening })
      const racers = Array.from({ length: 20 }, (_, at) =>
        feeds.complete(key, {
          expected,
          entries: [pair(at + 1)],
          floor: LOWEST,
          graphVersion: at,
          pulledVersion: 0,
        }),
      )
      const wins = await Promise.all(racers)
      const { state, entries } = await held(feeds, key)
      expect(wins.filter(Boolean)).toHaveLength(1)
      expect(state.graphVersion).toBe(wins.indexOf(true))
      expect(entries).toEqual([pair(wins.indexOf(true) + 1)])
    })

    test('a complete feed is covered anew, a building one is not', async () => {
      const key = newKey()
      const versions = { graphVersion: 10, pulledVersion: 11 }
      const building = await feeds.open({ key, ...opening })
      expect(await feeds.cover(key, { expected: building, entries: [], ...versions })).toBe(false)
      await feeds.complete(key, {
        expected: building,
        entries: run(5, 6),
        floor: pair(4),
        ...opening,
      })
      const { state } = await held(feeds, key)
      const entries = [pair(4), pair(5), pair(7)]
      expect(await feeds.cover(key, { expected: state, entries, ...versions })).toBe(true)
      expect(await feeds.cover(key, { expected: state, entries, ...versions })).toBe(false)
      const after = await held(feeds, key)
      expect(after.entries).toEqual(run(5, 7).reverse())
      expect(after.state).toMatchObject({ building: false, floor: pair(4), ...versions })
    })
  })

  describe('reading', () => {
    test('a range excludes both its ends, whether or not they are there', async () => {
      const key = await opened1()
      await feeds.add([{ key, entries: run(1, 9).filter(({ ms }) => ms !== 5) }], 100)
      const read = (range: FeedRange) => held(feeds, key, range)
      expect((await read({ limit: 9, below: pair(6) })).entries).toEqual(run(1, 4).reverse())
      expect((await read({ limit: 9, below: pair(5) })).entries).toEqual(run(1, 4).reverse())
      expect((await read({ limit: 9, above: pair(5) })).entries).toEqual(run(6, 9).reverse())
      expect((await read({ limit: 9, above: pair(6) })).entries).toEqual(run(7, 9).reverse())
      expect((await read({ limit: 9, below: pair(4), above: pair(2) })).entries).toEqual([pair(3)])
      expect((await read({ limit: 9, below: pair(2), above: pair(4) })).entries).toEqual([])
      expect((await read({ limit: 9, below: pair(1) })).entries).toEqual([])
    })

    test('it says whether the range holds more', async () => {
      const key = await opened1()
      await feeds.add([{ key, entries: run(1, 9) }], 100)
      const more = async (range: FeedRange) => (await held(feeds, key, range)).more
      expect(await more({ limit: 9 })).toBe(false)
      expect(await more({ limit: 8 })).toBe(true)
      expect(await more({ limit: 3, above: pair(6) })).toBe(false)
      expect(await more({ limit: 2, above: pair(6) })).toBe(true)
      expect(await more({ limit: 3, below: pair(4) })).toBe(false)
      expect(await more({ limit: 0 })).toBe(true)
      expect((await held(feeds, key, { limit: 0 })).entries).toEqual([])
    })

    test('pages by pair over equal times neither skip nor repeat', async () => {
      const key = await opened1()
      const all = Array.from({ length: 40 }, (_, at) => pair(Math.floor(at / 15), 95 + at))
      await feeds.add([{ key, entries: all }], 100)
      const paged: Pair[] = []
      for (;;) {
        const below = paged.at(-1)
        const { entries, more } = await held(feeds, key, { limit: 7, ...(below ? { below } : {}) })
        paged.push(...entries)
        if (!more) break
      }
      expect(paged).toEqual([...all].sort(newestFirst))
    })

    test('what was read stays as it was read', async () => {
      const key = await opened1()
      await feeds.add([{ key, entries: run(1, 30) }], 32)
      const read = await feeds.read(key, { limit: 40 })
      await feeds.push([key], pair(10, 11), 32)
      await feeds.remove([{ key, entries: [pair(30), pair(3)] }])
      for (let ms = 31; ms < 90; ms += 1) await feeds.push([key], pair(ms), 32)
      await feeds.open({ key, ...opening })
      expect(read.resident && [...read.entries]).toEqual(run(1, 30).reverse())
    })

    test('many feeds are read in one call, absent ones in their place', async () => {
      const keys = Array.from({ length: 250 }, () => newKey())
      for (const key of keys.filter((_, at) => at % 5 !== 0)) await opened1(key)
      for (const [at, key] of keys.entries()) await feeds.push([key], pair(at + 1), 10)
      const reads = await feeds.readMany(keys.map((key) => ({ key, range: { limit: 3 } })))
      for (const [at, read] of reads.entries()) {
        expect(read.resident).toBe(at % 5 !== 0)
        expect(read.resident ? [...read.entries] : [pair(at + 1)]).toEqual([pair(at + 1)])
      }
    })

    test('state and entries are of one moment', async () => {
      const key = await opened1()
      const pushing = (async () => {
        for (let ms = 1; ms <= 1_500; ms += 1) await feeds.push([key], pair(ms), 20)
      })()
      let reads = 0
      for (let newest = 0; newest < 1_500; reads += 1) {
        const { state, entries } = await held(feeds, key)
        newest = entries[0]?.ms ?? 0
        expect(entries).toEqual(newest === 0 ? [] : run(state.floor.ms + 1, newest).reverse())
        await new Promise((resolve) => setImmediate(resolve))
      }
      await pushing
      expect(reads).toBeGreaterThan(1)
    })
  })

  describe('many at once', () => {
    test('a post is pushed to 500 feeds, absent ones refused', async () => {
      const keys = Array.from({ length: 500 }, () => newKey())
      const absent = (at: number): boolean => at % 7 === 0
      for (const [at, key] of keys.entries()) if (!absent(at)) await opened1(key)
      const flags = await feeds.push(keys, pair(1), 100)
      expect(flags).toEqual(keys.map((_, at) => !absent(at)))
      const reads = await feeds.readMany(keys.map((key) => ({ key, range: { limit: 2 } })))
      expect(reads.map(({ resident }) => resident)).toEqual(flags)
    })

    test('each feed gets entries of its own, large and small', async () => {
      const keys = await Promise.all(Array.from({ length: 60 }, () => opened1()))
      const adds = keys.map((key, at) => ({ key, entries: run(1, 1 + at * 20) }))
      expect(await feeds.add(adds, 2000)).toEqual(keys.map(() => true))
      for (const { key, entries } of adds) {
        expect((await held(feeds, key)).entries).toEqual([...entries].reverse())
      }
    })

    test('pushes from many callers at once are all there', async () => {
      const key = await opened1()
      const pairs = run(1, 400).sort(
        (a, b) => Number(a.id % 7n) - Number(b.id % 7n) || comparePairs(a, b),
      )
      await Promise.all(pairs.map((each) => feeds.push([key], each, 1000)))
      expect((await held(feeds, key)).entries).toEqual(run(1, 400).reverse())
    })

    test('a call has bounds', async () => {
      const key = newKey()
      const refused = expect.objectContaining({ code: 'BAD_INPUT' })
      const keys = new Array<FeedKey>(FEEDS_MAX + 1).fill(key)
      await expect(feeds.push(keys, pair(1), 10)).rejects.toThrow(refused)
      await expect(feeds.push([key], pair(1), 0)).rejects.toThrow(refused)
      const entries = run(1, FEED_ENTRIES_MAX + 1)
      await expect(feeds.add([{ key, entries }], 10)).rejects.toThrow(refused)
      await expect(feeds.read(key, { limit: -1 })).rejects.toThrow(refused)
    })
  })

  test('the epoch of a key is stable and is that of its state', async () => {
    const key = newKey()
    const { epoch } = await feeds.open({ key, ...opening })
    expect(epoch).not.toBe('')
    expect(await feeds.epoch(key)).toBe(epoch)
    expect((await held(feeds, key)).state.epoch).toBe(epoch)
  })
}
