import { describe, expect, test } from 'vitest'
import { BadInputError } from '../../../services/kernel/errors.ts'
import type { AccountId } from '../../../services/kernel/ids.ts'
import { Settings } from '../../../services/kernel/settings.ts'
import {
  type Content,
  decodeContent,
  encodeContent,
  hashesOf,
} from '../../../services/post/content.ts'
import { checkDraft, checkKey, draftHash } from '../../../services/post/draft.ts'
import { canonicalLink, checkLink } from '../../../services/post/link.ts'
import { postSettings } from '../../../services/post/settings.ts'
import { checkText, findPointers } from '../../../services/post/text.ts'

const limits = new Settings([postSettings]).view(postSettings)

describe('the text of a post', () => {
  test.each([
    ['  hello\r\nworld \n', 'hello\nworld'],
    ['e\u0301', '\u00e9'],
    ['a\u202eb\u2066c\ufeff', 'abc'],
    ['\u200b\u00a0\u200d', ''],
    ['\tcode\tblock', 'code\tblock'],
    ['…', '…'],
    ['🏳️‍🌈', '🏳️‍🌈'],
  ])('%j is kept as %j', (typed, kept) => {
    expect(checkText(typed, 500)).toBe(kept)
  })

  test.each(['a\u0000b', 'a\u001bb', 'a\ud800', '\u0085x'])('%j is refused', (typed) => {
    expect(() => checkText(typed, 500)).toThrow(BadInputError)
  })

  test('POS-1: is as long as people count', () => {
    const family = '👩‍👩‍👧‍👦'
    expect(checkText(family.repeat(500), 500)).toBe(family.repeat(500))
    expect(() => checkText(`${family.repeat(500)}!`, 500)).toThrow(/500 characters/)
    expect(checkText(`${'a'.repeat(500)}    `, 500)).toHaveLength(500)
    expect(() => checkText('a\u0301\u0302'.repeat(10_000), 500)).toThrow(/500 characters/)
  })

  test.each([
    ['hi @ada, @Bo_1 and (@c.d).', ['ada', 'bo_1', 'c.d']],
    ['@ａｄａ @ADA ＠ada', ['ada']],
    ['mail me@here.org, see https://x.org/@eve or a/@eve', []],
    ['@one@two.org is elsewhere', []],
    ['.@ada @@ada', []],
    ['@名前さん @ada', ['名前さん', 'ada']],
  ])('the mentions of %j are %j', (text, handles) => {
    expect(findPointers(text).handles).toEqual(handles)
  })

  test.each([
    ['#Cats and #cats, #CATS!', ['cats']],
    ['＃猫 #größe #Ёж #हिन्दी', ['猫', 'größe', 'ёж', 'हिन्दी']],
    ['#1 #2026 #covid19 #_x', ['covid19', '_x']],
    ['a#b &#39; https://x.org/#frag x/#y ##z', []],
    ['(#a)#b', ['a', 'b']],
  ])('the hashtags of %j are %j', (text, hashtags) => {
    expect(findPointers(text).hashtags).toEqual(hashtags)
  })

  test('is searched in a time that grows with its length', () => {
    const started = performance.now()
    for (const piece of ['@a.', '#a', '@', '#', '@a_', 'https://']) {
      findPointers(piece.repeat(8_000))
    }
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})

describe('the link of a post', () => {
  test.each([
    ['HTTPS://Example.ORG:443/a', 'example.org/a'],
    ['http://example.org/a#part', 'example.org/a'],
    ['https://example.org./a?utm_source=x&b=2&a=1&fbclid=z', 'example.org/a?a=1&b=2'],
    ['https://example.org/%7Eada/%c3%a9', 'example.org/~ada/%C3%A9'],
    ['https://example.org/a/../b', 'example.org/b'],
    ['https://example.org/?', 'example.org/'],
    ['https://example.org/#!/route', 'example.org/#!/route'],
    ['https://example.org/?x=2&x=1', 'example.org/?x=2&x=1'],
    ['https://bücher.example/', 'xn--bcher-kva.example/'],
  ])('%s is told by %s', (typed, canonical) => {
    expect(canonicalLink(checkLink(typed, 2_048))).toBe(canonical)
  })

  test('is not mistaken for another page', () => {
    const pages = [
      'https://example.org/a',
      'https://www.example.org/a',
      'https://example.org/a/',
      'https://example.org/A',
      'https://example.org/a?x=1&x=2',
      'https://example.org/a?x=2&x=1',
      'https://example.org/a?ref=1',
      'https://example.org:8443/a',
      'https://example.org/%61%2Fb',
      'https://example.org/a/b',
    ]
    const keys = pages.map((page) => canonicalLink(checkLink(page, 2_048)))
    expect(new Set(keys).size).toBe(pages.length)
  })

  test.each([
    'javascript:alert(1)',
    'ftp://example.org/',
    'example.org',
    'https://user:secret@example.org/',
    'https://',
    `https://example.org/${'a'.repeat(2_048)}`,
    `https://example.org/${'é'.repeat(1_000)}`,
  ])('%s is refused', (typed) => {
    expect(() => checkLink(typed, 2_048)).toThrow(BadInputError)
  })
})

describe('the content of a post', () => {
  const content: Content = {
    ...{ text: 'Hello  World', link: 'https://example.org/a?utm_source=x', hashtags: ['a'] },
    mentions: [{ accountId: 7n as AccountId, handle: 'ada' }],
  }

  test('is read as it was written', () => {
    expect(decodeContent(encodeContent(content))).toEqual(content)
    const bare = { text: 'x', mentions: [], hashtags: [] }
    expect(decodeContent(encodeContent(bare))).toEqual(bare)
    expect(decodeContent(null)).toEqual({ text: '', mentions: [], hashtags: [] })
  })

  test('FEE-4: has equal hashes where it reads the same, in the same place', () => {
    const hash = (changes: Partial<Content>, context = {}) =>
      hashesOf({ ...content, ...changes }, context)
    expect(hash({ text: 'hello world' })).toEqual(hash({}))
    expect(hash({ link: 'http://example.org/a' })).toEqual(hash({}))
    expect(hash({ text: 'hello, world' }).contentHash).not.toBe(hash({}).contentHash)
    expect(hash({}, { replyToId: 1n }).contentHash).not.toBe(hash({}).contentHash)
    expect(hash({}, { originalId: 1n })).not.toEqual(hash({}, { replyToId: 1n }))
    expect(hashesOf({ text: '', mentions: [], hashtags: [] }, {})).toEqual({})
  })
})

describe('the draft of a post', () => {
  test.each([
    [{}, 'text'],
    [{ text: ' \u200b ' }, 'text'],
    [{ text: null, link: ' ' }, 'text'],
    [{ replyToId: 5n, reshareOfId: 6n }, 'text'],
    [{ text: 'x', link: 'nowhere' }, 'link'],
    [{ text: Array.from({ length: 21 }, (_none, index) => `@name${index}`).join(' ') }, 'text'],
    [{ text: Array.from({ length: 31 }, (_none, index) => `#tag${index}`).join(' ') }, 'text'],
  ])('%o is refused with its field', (input, field) => {
    const check = () => checkDraft(input as never, limits)
    expect(check).toThrow(BadInputError)
    expect(check).toThrow(expect.objectContaining({ field }))
  })

  test('has one hash for what is the same and another for anything else', () => {
    const hash = (input: object) => draftHash(checkDraft(input, limits))
    const plain = hash({ text: 'x' })
    expect(hash({ text: ' x ', link: null, visibility: 'PUBLIC' })).toBe(plain)
    const others = [
      { text: 'y' },
      { text: 'x', visibility: 'PRIVATE' },
      { text: 'x', link: 'https://example.org/' },
      { text: 'x', replyToId: 5n },
      { text: 'x', reshareOfId: 5n },
      { text: 'x', clientTs: 5 },
    ]
    expect(new Set([plain, ...others.map(hash)]).size).toBe(7)
  })

  test.each(['', ' ', 'a b', 'ä', 'x'.repeat(129), 'a\n'])('takes no key like %j', (key) => {
    expect(() => checkKey(key)).toThrow(BadInputError)
  })
})
