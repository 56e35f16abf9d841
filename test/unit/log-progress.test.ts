import { describe, expect, test } from 'vitest'
import type { Cursor } from '../../services/platform/embedded/log-claims.ts'
import { type Member, share } from '../../services/platform/embedded/log-group.ts'
import { backOffMs, Progress } from '../../services/platform/progress.ts'

describe('progress', () => {
  const handOut = (...offsets: bigint[]): Progress => {
    const progress = new Progress(offsets[0] ?? 0n)
    for (const offset of offsets) progress.expect(offset)
    return progress
  }

  test('moves to the first offset that is not done', () => {
    const progress = handOut(5n, 6n, 9n, 10n)
    expect(progress.done(9n)).toBe(false)
    expect(progress.next).toBe(5n)
    expect(progress.done(5n)).toBe(true)
    expect(progress.next).toBe(6n)
    expect(progress.done(6n)).toBe(true)
    expect(progress.next).toBe(10n)
    expect(progress.complete).toBe(false)
    progress.done(10n)
    expect([progress.next, progress.complete]).toEqual([11n, true])
  })

  test('done twice changes nothing, an offset never handed out is a bug', () => {
    const progress = handOut(1n, 2n)
    progress.done(1n)
    expect(progress.done(1n)).toBe(false)
    expect(() => progress.done(7n)).toThrow('assertion failed')
  })

  test('the back-off doubles up to its bound and is never below half', () => {
    const bounds = { minMs: 100, maxMs: 1_000 }
    for (const [attempt, full] of [
      [1, 100],
      [2, 200],
      [4, 800],
      [5, 1_000],
      [60, 1_000],
    ] as const) {
      const waitMs = backOffMs(attempt, bounds)
      expect(waitMs).toBeGreaterThanOrEqual(full / 2)
      expect(waitMs).toBeLessThanOrEqual(full)
    }
  })
})

describe('sharing partitions', () => {
  const cursorsOf = (topic: string, count: number): Cursor[] =>
    Array.from({ length: count }, () => ({
      group: 'g',
      committed: 0,
      partition: { topic } as Cursor['partition'],
    }))
  const member = (...topics: string[]): Member => ({
    topics: new Set(topics),
    assign: () => undefined,
    wake: () => undefined,
  })

  test('is even, and moves no more than it must', () => {
    const cursors = cursorsOf('t', 4)
    const [one, two, three] = [member('t'), member('t'), member('t')]
    const alone = share(cursors, new Map([[one, new Set<Cursor>()]]))
    expect(alone.get(one)?.size).toBe(4)
    const both = share(cursors, new Map([...alone, [two, new Set<Cursor>()]]))
    expect([both.get(one)?.size, both.get(two)?.size]).toEqual([2, 2])
    const all = share(cursors, new Map([...both, [three, new Set<Cursor>()]]))
    expect([...all.values()].map(({ size }) => size).toSorted((a, b) => a - b)).toEqual([1, 1, 2])
    const kept = cursors.filter((cursor) =>
      [one, two].some((who) => both.get(who)?.has(cursor) && all.get(who)?.has(cursor)),
    )
    expect(kept).toHaveLength(3)
  })

  test('gives a partition only to who reads its topic', () => {
    const [posts, likes] = [cursorsOf('posts', 3), cursorsOf('likes', 3)]
    const [one, two] = [member('posts'), member('posts', 'likes')]
    const shares = share(
      [...posts, ...likes],
      new Map([
        [one, new Set<Cursor>()],
        [two, new Set<Cursor>()],
      ]),
    )
    for (const cursor of likes) expect(shares.get(two)?.has(cursor)).toBe(true)
    expect((shares.get(one)?.size ?? 0) + (shares.get(two)?.size ?? 0)).toBe(6)
  })
})
