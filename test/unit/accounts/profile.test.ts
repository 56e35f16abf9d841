import { describe, expect, test } from 'vitest'
import { checkProfile, differing } from '../../../services/accounts/profile.ts'
import { countGraphemes } from '../../../services/kernel/graphemes.ts'

const limits = { displayNameMax: 5, bioMax: 8 }
const FAMILY = '👩‍👩‍👧‍👦'

describe('characters as people count them', () => {
  test.each([
    ['', 0],
    ['plain', 5],
    ['e\u0301te\u0301', 3],
    [FAMILY, 1],
    ['🇫🇷🇩🇪', 2],
    ['a\r\nb', 3],
  ])('%j has %i', (text, count) => {
    expect(countGraphemes(text)).toBe(count)
  })

  test('are counted no further than asked', () => {
    expect(countGraphemes('é'.repeat(1_000_000), 3)).toBe(4)
  })
})

describe('a profile', () => {
  test('keeps what is named, trimmed and composed, and nothing else', () => {
    expect(checkProfile({ displayName: ' Ade\u0301 ' }, limits)).toEqual({ displayName: 'Adé' })
    expect(checkProfile({ bio: 'a\r\nb', isPrivate: true }, limits)).toEqual({
      ...{ bio: 'a\nb', isPrivate: true },
    })
    expect(checkProfile({ displayName: undefined }, limits)).toEqual({})
  })

  test('is measured in characters, not in code units', () => {
    expect(checkProfile({ displayName: FAMILY.repeat(5) }, limits).displayName).toHaveLength(55)
    expect(() => checkProfile({ displayName: FAMILY.repeat(6) }, limits)).toThrow('at most 5')
    expect(() => checkProfile({ bio: 'a'.repeat(9) }, limits)).toThrow('bio has at most 8')
  })

  test.each([
    ['displayName', '', 'not empty'],
    ['displayName', ' \n ', 'not empty'],
    ['displayName', 'a\nb', 'one line'],
    ['displayName', 'a\u202eb', 'can be seen'],
    ['displayName', 'a\ud800', 'can be seen'],
    ['displayName', `a${'\u0301'.repeat(100)}`, 'at most 5'],
    ['bio', 'a\u0000b', 'can be seen'],
    ['bio', 'a\u2066b', 'can be seen'],
  ])('refuses %s %j and names the field', (field, value, reason) => {
    const check = () => checkProfile({ [field]: value }, limits)
    expect(check).toThrow(reason)
    expect(check).toThrow(expect.objectContaining({ field, code: 'BAD_INPUT' }))
  })

  test('knows what of it is new', () => {
    const current = { displayName: 'Ada', bio: '', isPrivate: false }
    expect(differing(current, { displayName: 'Ada', bio: 'x', isPrivate: false })).toEqual({
      bio: 'x',
    })
  })
})
