import { describe, expect, test } from 'vitest'
import { connect } from '../../../gateway/relay/connection.ts'
import { Cursors, cursorKey, openCursor, sealCursor } from '../../../gateway/relay/cursor.ts'
import { parseGlobalId, parseIdOf, toGlobalId } from '../../../gateway/relay/global-id.ts'
import type { PageRequest } from '../../../services/kernel/page.ts'

const ID = (1n << 62n) + 12_345n

describe('global ids', () => {
  test('come back as they were', () => {
    const text = toGlobalId('Account', ID)
    expect(parseGlobalId(text)).toEqual({ type: 'Account', id: ID })
    expect(parseIdOf('Account', text)).toBe(ID)
    expect(text).toMatch(/^[\w-]+$/)
  })

  const encode = (text: string) => Buffer.from(text).toString('base64url')
  test.each([
    ['nothing', ''],
    ['no base64', '!!!'],
    ['a plain id', ID.toString()],
    ['no type', encode(`:${ID}`)],
    ['a type that is no name', encode(`account:${ID}`)],
    ['an id that is too short', encode('Account:123')],
    ['an id outside 63 bits', encode('Account:9999999999999999999')],
    ['padding', `${toGlobalId('Account', ID)}==`],
    ['the other alphabet', encode(`Account:${ID}`).replace(/.$/, '+')],
    ['a lot', 'A'.repeat(10_000)],
    ['a byte too many', encode(`Account:${ID}\0`)],
  ])('%s is refused as input', (_case, text) => {
    expect(() => parseGlobalId(text, 'postId')).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', field: 'postId' }),
    )
  })

  test("another type's id is refused", () => {
    expect(() => parseIdOf('Post', toGlobalId('Account', ID))).toThrow('not of Post')
  })
})

describe('cursors', () => {
  const [key, other] = [cursorKey('a'.repeat(32)), cursorKey('b'.repeat(32))]
  const scope = { list: 'followers:1', reader: 7n }
  const sealed = sealCursor(key, scope, 'position ✓')
  const changed = (at: number) => {
    const bytes = Buffer.from(sealed, 'base64url')
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    return bytes.toString('base64url')
  }

  test('open with the key they were sealed with, also when a newer one seals', () => {
    expect(openCursor([key], scope, sealed)).toBe('position ✓')
    expect(openCursor([other, key], scope, sealed)).toBe('position ✓')
    expect(sealed).toMatch(/^[\w-]+$/)
  })

  test.each([
    ['nothing', '', scope, 'CURSOR_INVALID'],
    ['no base64', '%%%', scope, 'CURSOR_INVALID'],
    ['too short', 'AQID', scope, 'CURSOR_INVALID'],
    ['too long', 'A'.repeat(4_000), scope, 'CURSOR_INVALID'],
    ['padded', `${sealed}=`, scope, 'CURSOR_INVALID'],
    ['cut off', sealed.slice(0, -4), scope, 'CURSOR_INVALID'],
    ['with another position', changed(4), scope, 'CURSOR_INVALID'],
    [
      'with another signature',
      changed(Buffer.from(sealed, 'base64url').length - 1),
      scope,
      'CURSOR_INVALID',
    ],
    ["of another reader's list", sealed, { ...scope, reader: 8n }, 'CURSOR_INVALID'],
    ["of everybody's list", sealed, { list: scope.list }, 'CURSOR_INVALID'],
    ['of another list', sealed, { ...scope, list: 'followers:2' }, 'CURSOR_INVALID'],
    ['of a list that only looks the same', sealed, { list: 'followers:1","7' }, 'CURSOR_INVALID'],
    ['of another version', changed(0), scope, 'CURSOR_OUTDATED'],
    ['of a key that is gone', changed(1), scope, 'CURSOR_OUTDATED'],
  ])('a cursor that is %s is refused', (_case, text, where, code) => {
    expect(() => openCursor([key], where, text)).toThrow(
      expect.objectContaining({ code, field: 'after' }),
    )
  })
})

describe('connections', () => {
  const cursors = new Cursors([cursorKey('a'.repeat(32))])
  const all = Array.from({ length: 7 }, (_, index) => `item ${index}`)
  const asked: PageRequest[] = []
  const list = {
    list: 'items',
    pageMax: 5,
    positionOf: (item: string) => item.slice(5),
    read: async (request: PageRequest) => {
      asked.push(request)
      const from = request.after === undefined ? 0 : Number(request.after) + 1
      const items = all.slice(from, from + request.first)
      const last = from + items.length - 1
      return { items, ...(last < all.length - 1 ? { next: String(last) } : {}) }
    },
  }

  test('are walked to their end by endCursor', async () => {
    const seen: string[] = []
    let after: string | null | undefined
    for (;;) {
      const { edges, pageInfo } = await connect(cursors, list, { first: 3, after: after ?? null })
      seen.push(...edges.map(({ node }) => node))
      expect(pageInfo.startCursor).toBe(edges.at(0)?.cursor)
      expect(pageInfo.hasPreviousPage).toBe(after !== undefined)
      after = pageInfo.endCursor
      if (!pageInfo.hasNextPage) break
    }
    expect(seen).toEqual(all)
    expect(asked).toHaveLength(3)
  })

  test('go on from any edge', async () => {
    const { edges } = await connect(cursors, list, { first: 3 })
    const next = await connect(cursors, list, { first: 1, after: edges[1]?.cursor ?? null })
    expect(next.edges.map(({ node }) => node)).toEqual(['item 2'])
  })

  test.each([0, -1, 6, 1.5, 1e9])('first: %d is refused', async (first) => {
    await expect(connect(cursors, list, { first })).rejects.toMatchObject({
      code: 'BAD_INPUT',
      field: 'first',
    })
  })
})
