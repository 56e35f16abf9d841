import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  arrivalMs,
  firstIdAt,
  formatId,
  ID_EPOCH_MS,
  IdGenerator,
  nodeOf,
  parseId,
} from '../../services/kernel/ids.ts'

const start = Date.UTC(2026, 0, 1)

const generator = (options: { now?: () => number; node?: number; untilMs?: number } = {}) =>
  new IdGenerator(options.now ?? (() => start), {
    node: options.node ?? 7,
    afterMs: start - 1,
    untilMs: options.untilMs ?? start + 10_000,
  })

describe('an id', () => {
  test('carries its time and its node', () => {
    const id = generator({ node: 1023 }).next()
    expect(arrivalMs(id)).toBe(start)
    expect(nodeOf(id)).toBe(1023)
  })

  test('has 19 digits at both ends of its range, in the order of its bytes', () => {
    const first = firstIdAt(ID_EPOCH_MS)
    const last = firstIdAt(ID_EPOCH_MS + 2 ** 41 - 1, 1023) + 2047n
    expect(formatId(first)).toHaveLength(19)
    expect(formatId(last)).toBe('9223372036854775807')
    fc.assert(
      fc.property(fc.bigInt(first, last), fc.bigInt(first, last), (a, b) => {
        expect(formatId(a) < formatId(b)).toBe(a < b)
      }),
    )
  })

  test('comes back from its decimal form unchanged', () => {
    const id = generator().next()
    expect(parseId(formatId(id))).toBe(id)
  })

  test.each([
    '',
    '1',
    '4611686018427387903',
    '9223372036854775808',
    '46116860184273879040',
    '4e18',
    ' 4611686018427387904',
  ])('is not read from %j', (text) => {
    expect(() => parseId(text, 'postId')).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', field: 'postId' }),
    )
  })

  test('cannot carry a time before its epoch or past its range', () => {
    expect(() => firstIdAt(ID_EPOCH_MS - 1)).toThrow('outside 2020 to 2089')
    expect(() => firstIdAt(ID_EPOCH_MS + 2 ** 41)).toThrow('outside 2020 to 2089')
  })
})

describe('a generator', () => {
  test('issues rising ids, more than a ms holds, while the clock stands still', () => {
    const ids = generator()
    let previous = 0n
    for (let count = 0; count < 5_000; count += 1) {
      const id = ids.next()
      expect(id > previous).toBe(true)
      previous = id
    }
    expect(ids.lastMs).toBe(start + 2)
  })

  test('issues nothing twice when the clock steps back', () => {
    let now = start + 500
    const ids = generator({ now: () => now })
    const seen = new Set<bigint>()
    for (const step of [0, 10, -400, 5, -300, 1]) {
      now += step
      for (let count = 0; count < 3_000; count += 1) seen.add(ids.next())
    }
    expect(seen.size).toBe(18_000)
  })

  test('stops when its lease has expired, and goes on when it is renewed', () => {
    let now = start
    const ids = generator({ now: () => now, untilMs: start + 100 })
    ids.next()
    now = start + 101
    expect(() => ids.next()).toThrow(
      expect.objectContaining({ code: 'UNAVAILABLE', retriable: true }),
    )
    ids.extend(start + 200)
    expect(arrivalMs(ids.next())).toBe(start + 101)
  })

  test('never runs ahead of its lease when a ms is used up', () => {
    const ids = generator({ untilMs: start })
    for (let count = 0; count < 2_048; count += 1) ids.next()
    expect(() => ids.next()).toThrow('lease')
  })

  test('issues nothing at or before the ms it begins after', () => {
    const ids = new IdGenerator(() => start, { node: 1, afterMs: start + 50, untilMs: start + 100 })
    expect(arrivalMs(ids.next())).toBe(start + 51)
  })

  test('issues nothing once it was stopped', () => {
    const ids = generator()
    ids.stop()
    expect(() => ids.next()).toThrow('lease')
  })
})
