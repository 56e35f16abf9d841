import { describe, expect, test } from 'vitest'
import { Evictable, MemoryBudget } from '../../services/platform/embedded/memory-budget.ts'
import type { FeedKey } from '../../services/platform/feeds.ts'
import { embeddedCaches } from '../kit/caches.ts'

class Item extends Evictable {
  readonly name: string
  readonly #gone: string[]

  constructor(name: string, gone: string[]) {
    super()
    this.name = name
    this.#gone = gone
  }

  evict(): void {
    this.#gone.push(this.name)
  }
}

describe('a memory budget', () => {
  const make = (maxBytes: number) => {
    const gone: string[] = []
    const budget = new MemoryBudget(maxBytes)
    const add = (name: string, bytes: number): Item => {
      const item = new Item(name, gone)
      budget.add(item, bytes)
      return item
    }
    return { budget, gone, add }
  }

  test('evicts the least recently used until all fits', () => {
    const { budget, gone, add } = make(100)
    const [a] = [add('a', 40), add('b', 30), add('c', 30)]
    budget.touch(a)
    add('d', 50)
    expect(gone).toEqual(['b', 'c'])
    expect(budget.bytes).toBe(90)
    expect(budget.evictions).toBe(2)
  })

  test('counts growth and shrinking of an item', () => {
    const { budget, gone, add } = make(100)
    const [a, b] = [add('a', 40), add('b', 40)]
    budget.resize(b, 10)
    expect(budget.bytes).toBe(50)
    budget.resize(a, 95)
    // The one that grew was also the least recently used.
    expect(gone).toEqual(['a'])
    expect(budget.bytes).toBe(10)
  })

  test('an item that is gone is neither counted nor evicted again', () => {
    const { budget, gone, add } = make(100)
    const large = add('large', 101)
    expect(gone).toEqual(['large'])
    budget.resize(large, 50)
    budget.touch(large)
    budget.remove(large)
    expect(budget.bytes).toBe(0)
    const small = add('small', 10)
    budget.remove(small)
    budget.remove(small)
    expect(budget.bytes).toBe(0)
    expect(gone).toEqual(['large'])
  })
})

describe('the embedded cache and feeds', () => {
  const MIB = 1024 ** 2

  test('share one budget and lose whole keys, the least recently used first', async () => {
    await using caches = embeddedCaches(MIB)
    const { cache, feeds } = caches
    const key: FeedKey = { kind: 'feed', owner: 1n }
    await feeds.open({ key, graphVersion: 1, pulledVersion: 1, keepMs: 60_000 })
    await cache.setFields('fields', { a: 'x'.repeat(1000), b: 'y' }, 60_000)
    for (let at = 0; at < 2_000; at += 1) {
      await cache.set(`filler ${at}`, 'z'.repeat(1000), 60_000)
      if (at % 100 === 0) await cache.getFields('fields')
    }
    expect(Object.keys(await cache.getFields('fields'))).toEqual(['a', 'b'])
    expect(await feeds.read(key, { limit: 1 })).toEqual({ resident: false })
    expect(await cache.get('filler 0')).toBeUndefined()
    expect(await cache.get('filler 1999')).toHaveLength(1000)
  })

  test('a feed that grows makes room for itself', async () => {
    await using caches = embeddedCaches(MIB)
    const keys = Array.from(
      { length: 200 },
      (_, at): FeedKey => ({ kind: 'feed', owner: BigInt(at) }),
    )
    for (const key of keys) {
      await caches.feeds.open({ key, graphVersion: 1, pulledVersion: 1, keepMs: 60_000 })
    }
    for (let ms = 1; ms <= 1_000; ms += 1)
      await caches.feeds.push(keys, { ms, id: BigInt(ms) }, 1000)
    const flags = await caches.feeds.push(keys, { ms: 2_000, id: 1n }, 1000)
    const resident = flags.filter(Boolean).length
    // 16 to 18 KiB and a little more each, in 1 MiB.
    expect(resident).toBeGreaterThan(50)
    expect(resident).toBeLessThan(64)
  })
})
