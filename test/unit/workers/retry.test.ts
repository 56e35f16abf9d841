import { describe, expect, test } from 'vitest'
import {
  BadInputError,
  OutcomeUnknownError,
  OverloadedError,
  UnavailableError,
} from '../../../services/kernel/errors.ts'
import { backOffMs, isOutage } from '../../../workers/retry.ts'

const range = { minMs: 100, maxMs: 10_000 }

describe('backOffMs', () => {
  test('the wait doubles with each failure up to the longest', () => {
    const waits = [1, 2, 3, 7, 8, 1000].map((failures) => backOffMs(failures, range, () => 1))
    expect(waits).toEqual([100, 200, 400, 6400, 10_000, 10_000])
  })

  test('half of the wait is chance', () => {
    expect(backOffMs(3, range, () => 0)).toBe(200)
    expect(backOffMs(3, range, () => 0.5)).toBe(300)
  })

  test('a longest wait below the shortest is the shortest', () => {
    expect(backOffMs(5, { minMs: 100, maxMs: 10 }, () => 1)).toBe(100)
  })
})

describe('isOutage', () => {
  test('an engine that does not answer is an outage, a refusal or a bug is not', () => {
    const outages = [
      new UnavailableError('x'),
      new OverloadedError('x'),
      new OutcomeUnknownError('x'),
    ]
    expect(outages.map(isOutage)).toEqual([true, true, true])
    expect([new BadInputError('x'), new TypeError('x'), 'x'].map(isOutage)).toEqual([
      false,
      false,
      false,
    ])
  })
})
