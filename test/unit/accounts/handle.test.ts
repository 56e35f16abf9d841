import { describe, expect, test } from 'vitest'
import { checkHandle, parseHandle } from '../../../services/accounts/handle.ts'
import { BadInputError } from '../../../services/kernel/errors.ts'

describe('ACC-1: a handle', () => {
  test.each([
    ['Ada', 'ada'],
    ['  @ada ', 'ada'],
    ['ＡＤＡ', 'ada'],
    ['𝓐𝓭𝓪', 'ada'],
    ['ﬁn_1.x', 'fin_1.x'],
    ['\u212Aate', 'kate'],
  ])('has one spelling: %s is %s', (typed, handle) => {
    expect(checkHandle(typed)).toBe(handle)
    expect(parseHandle(typed)).toBe(handle)
  })

  test.each([
    ['a', '2 to 30'],
    ['', '2 to 30'],
    ['a'.repeat(31), '2 to 30'],
    ['a'.repeat(100_000), '2 to 30'],
    ['аda with a Cyrillic а'.slice(0, 3), 'only the letters'],
    ['ada lovelace', 'only the letters'],
    ['İstanbul', 'only the letters'],
    ['ada\u200b', 'only the letters'],
    ['.ada', 'no .'],
    ['ada.', 'no .'],
    ['a..da', 'no .'],
  ])('is not %j', (typed, reason) => {
    expect(parseHandle(typed)).toBeUndefined()
    expect(() => checkHandle(typed)).toThrow(reason)
    expect(() => checkHandle(typed)).toThrow(BadInputError)
  })

  test('names the field that was wrong', () => {
    expect(() => checkHandle('!')).toThrow(expect.objectContaining({ field: 'handle' }))
  })
})
