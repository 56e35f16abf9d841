import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { versionAfter } from '../../../services/engagement/version.ts'

const ids = fc.bigInt(2n ** 62n, 2n ** 63n - 10n)

describe('the version of a change', () => {
  test('is above the one it was made upon, and no lower than its id', () => {
    fc.assert(
      fc.property(ids, fc.option(ids, { nil: undefined }), fc.boolean(), (id, current, isOn) => {
        const version = versionAfter(id, { current, isOn })
        expect(version).toBeGreaterThanOrEqual(id)
        if (current !== undefined) expect(version).toBeGreaterThan(current)
      }),
    )
  })

  test('says by itself whether it turns on: equal versions say the same', () => {
    fc.assert(
      fc.property(ids, ids, ids, fc.boolean(), fc.boolean(), (current, one, other, a, b) => {
        const first = versionAfter(one, { current, isOn: a })
        const second = versionAfter(other, { current, isOn: b })
        if (first === second) expect(a).toBe(b)
        expect(first % 2n === 1n).toBe(a)
      }),
    )
  })

  test('stays close to its id: a clock that is right is not left behind', () => {
    fc.assert(
      fc.property(ids, fc.boolean(), (id, isOn) => {
        expect(versionAfter(id, { current: id - 1n, isOn }) - id).toBeLessThanOrEqual(1n)
      }),
    )
  })
})
