import { describe, expect, test } from 'vitest'
import { SizedLru } from '../../../gateway/graphql/sized-lru.ts'

describe('what is kept by last use', () => {
  test('loses the longest unused when there are too many', () => {
    const kept = new SizedLru<number>(() => ({ entriesMax: 2, bytesMax: 100 }))
    kept.set('a', 1, 1)
    kept.set('b', 2, 1)
    expect(kept.get('a')).toBe(1)
    kept.set('c', 3, 1)
    expect([kept.get('a'), kept.get('b'), kept.get('c')]).toEqual([1, undefined, 3])
  })

  test('loses as many as it takes when they are too large', () => {
    const kept = new SizedLru<string>(() => ({ entriesMax: 10, bytesMax: 100 }))
    for (const key of ['a', 'b', 'c']) kept.set(key, key, 30)
    kept.set('d', 'd', 60)
    expect([...'abcd'].filter((key) => kept.get(key))).toEqual(['c', 'd'])
    expect([kept.size, kept.bytes]).toEqual([2, 90])
  })

  test('does not keep what is larger than all of it, and counts a replacement once', () => {
    const kept = new SizedLru<string>(() => ({ entriesMax: 10, bytesMax: 100 }))
    kept.set('a', 'small', 10)
    kept.set('a', 'larger', 20)
    kept.set('b', 'huge', 101)
    expect([kept.get('a'), kept.get('b'), kept.bytes]).toEqual(['larger', undefined, 20])
  })
})
