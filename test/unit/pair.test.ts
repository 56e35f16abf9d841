import { expect, test } from 'vitest'
import {
  comparePairs,
  HIGHEST,
  isNewer,
  LOWEST,
  newest,
  newestFirst,
} from '../../services/kernel/pair.ts'

const pair = (ms: number, id: bigint) => ({ ms, id })

test('pairs are ordered by time, then by id', () => {
  const pairs = [pair(2, 1n), pair(1, 9n), pair(2, 10n), pair(2, 9n)]
  expect(pairs.sort(comparePairs)).toEqual([pair(1, 9n), pair(2, 1n), pair(2, 9n), pair(2, 10n)])
  expect(pairs.sort(newestFirst)[0]).toEqual(pair(2, 10n))
})

test('equal pairs are neither newer than the other', () => {
  expect(comparePairs(pair(5, 5n), pair(5, 5n))).toBe(0)
  expect(isNewer(pair(5, 5n), pair(5, 5n))).toBe(false)
  expect(newest(pair(5, 5n), pair(5, 6n))).toEqual(pair(5, 6n))
})

test('every entry lies between the lowest and the highest pair', () => {
  const entry = pair(Date.now(), 4_611_686_018_427_387_904n)
  expect(isNewer(entry, LOWEST)).toBe(true)
  expect(isNewer(HIGHEST, entry)).toBe(true)
})
