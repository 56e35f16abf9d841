import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines } from '../kit/engines.ts'
import { Person, postsOf, type ShownPost, see, textsOf } from '../kit/people.ts'
import { accountIdOf, postIdOf } from '../kit/posts.ts'
import { World } from '../kit/world.ts'

describe.each(engines)('who sees posts on %s', (engine) => {
  let world: World
  let ada: Person
  let friend: Person
  let stranger: Person
  beforeAll(async () => {
    world = await World.open({ engine })
    ada = await Person.signUp(world, 'ada')
    friend = await Person.signUp(world, 'friend')
    stranger = await Person.signUp(world, 'stranger')
    await world.services.graph.follow(accountIdOf(friend), accountIdOf(ada))
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const graph = () => world.services.graph
  const seenBy = async (who: Person | undefined, post: ShownPost) =>
    (await see(world, who, post.id)) !== null
  /** Whether it would come in somebody's feed. */
  const fedTo = async (who: Person, post: ShownPost) => {
    const [seen] = await world.services.posts.visible(accountIdOf(who), [postIdOf(post)], 'feed')
    return seen !== undefined
  }

  test('POS-1: each visibility is for whom it says', async () => {
    const expected = {
      PUBLIC: [true, true, true, true],
      FOLLOWERS: [true, true, false, false],
      PRIVATE: [true, false, false, false],
    } as const
    for (const [visibility, seen] of Object.entries(expected)) {
      const post = await ada.posts(visibility, { visibility })
      const who = [ada, friend, stranger, undefined]
      expect(await Promise.all(who.map((each) => seenBy(each, post))), visibility).toEqual(seen)
    }
    const listed = (who: Person | undefined) => postsOf(world, who, 'ada')
    expect(textsOf(await listed(ada))).toEqual(['PRIVATE', 'FOLLOWERS', 'PUBLIC'])
    expect(textsOf(await listed(friend))).toEqual(['FOLLOWERS', 'PUBLIC'])
    expect(textsOf(await listed(stranger))).toEqual(['PUBLIC'])
    expect(textsOf(await listed(undefined))).toEqual(['PUBLIC'])
  })

  test('GRA-2: the posts of a private account are for followers, from when it is private', async () => {
    const bo = await Person.signUp(world, 'bo')
    const post = await bo.posts('before')
    const reshare = await stranger.does('reshare', { postId: post.id })
    await world.services.graph.follow(accountIdOf(friend), accountIdOf(bo))
    const close = (isPrivate: boolean) =>
      world.services.accounts.updateProfile(accountIdOf(bo), { isPrivate })
    await close(true)
    expect(await seenBy(friend, post)).toBe(true)
    for (const who of [stranger, undefined]) {
      expect(await seenBy(who, post)).toBe(false)
      expect(textsOf(await postsOf(world, who, 'bo'))).toEqual([])
    }
    expect(await seenBy(stranger, reshare)).toBe(false)
    expect(await seenBy(friend, reshare)).toBe(true)
    const { userErrors } = await friend.tries('reshare', { postId: post.id })
    expect(userErrors).toMatchObject([{ code: 'FORBIDDEN' }])
    await close(false)
    expect(await seenBy(stranger, reshare)).toBe(true)
  })

  test('GRA-3: a block hides posts both ways, at once, and so does what passes them on', async () => {
    const cy = await Person.signUp(world, 'cy')
    const dee = await Person.signUp(world, 'dee')
    const ofCy = await cy.posts('of cy')
    const ofDee = await dee.posts('of dee')
    const reply = await dee.posts('answer', { replyToId: ofCy.id })
    const reshare = await friend.does('reshare', { postId: ofCy.id })
    const quote = await friend.posts('words', { reshareOfId: ofCy.id })
    await graph().block(accountIdOf(cy), accountIdOf(dee))
    expect(await seenBy(dee, ofCy)).toBe(false)
    expect(await seenBy(cy, ofDee)).toBe(false)
    expect(await seenBy(dee, reshare)).toBe(false)
    expect(await dee.sees(quote.id)).toMatchObject({ text: 'words', quote: null })
    expect(await dee.sees(reply.id)).toMatchObject({ text: 'answer', replyTo: null })
    expect(textsOf(await cy.repliesTo(ofCy.id))).toEqual([])
    expect(textsOf(await stranger.repliesTo(ofCy.id))).toEqual(['answer'])
    const { userErrors } = await dee.tries('createPost', { text: 'x', replyToId: ofCy.id })
    expect(userErrors).toMatchObject([{ code: 'NOT_FOUND', field: 'replyToId' }])
    await graph().unblock(accountIdOf(cy), accountIdOf(dee))
    expect(await seenBy(dee, ofCy)).toBe(true)
    expect(await seenBy(dee, reshare)).toBe(true)
  })

  test('GRA-3: a mute keeps posts out of feeds only, reshares of them too, and only for the muter', async () => {
    const loud = await Person.signUp(world, 'loud')
    const post = await loud.posts('loud')
    const reshare = await ada.does('reshare', { postId: post.id })
    await graph().mute(accountIdOf(friend), accountIdOf(loud))
    expect(await seenBy(friend, post)).toBe(true)
    expect(await fedTo(friend, post)).toBe(false)
    expect(await fedTo(friend, reshare)).toBe(false)
    expect(await fedTo(stranger, post)).toBe(true)
    expect(await fedTo(stranger, reshare)).toBe(true)
    await graph().unmute(accountIdOf(friend), accountIdOf(loud))
    expect(await fedTo(friend, reshare)).toBe(true)
  })

  test('FEE-7b: a hidden post comes in no feed of who hid it, and is there when asked for', async () => {
    const post = await ada.posts('hide me')
    await world.services.engagement.mark(accountIdOf(friend), 'hide', postIdOf(post))
    expect(await fedTo(friend, post)).toBe(false)
    expect(await seenBy(friend, post)).toBe(true)
    expect(await fedTo(stranger, post)).toBe(true)
  })

  test('an unfollow closes what was for followers', async () => {
    const late = await Person.signUp(world, 'late')
    await graph().follow(accountIdOf(late), accountIdOf(ada))
    const post = await ada.posts('close', { visibility: 'FOLLOWERS' })
    expect(await seenBy(late, post)).toBe(true)
    await graph().unfollow(accountIdOf(late), accountIdOf(ada))
    expect(await seenBy(late, post)).toBe(false)
  })

  test('a page of posts is filled although most are not for the viewer, and never ends early', async () => {
    const mixed = await Person.signUp(world, 'mixed')
    const author = accountIdOf(mixed)
    for (let index = 0; index < 40; index += 1) {
      const visibility = index % 10 === 0 ? 'PUBLIC' : 'PRIVATE'
      await world.services.posts.create(author, { text: `${index}`, visibility })
    }
    const walked: string[] = []
    let after: string | null | undefined
    let pages = 0
    do {
      const page = await postsOf(world, undefined, 'mixed', {
        ...{ first: 2, ...(after ? { after } : {}) },
      })
      walked.push(...textsOf(page))
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : undefined
      pages += 1
    } while (after)
    expect(walked).toEqual(['30', '20', '10', '0'])
    expect(pages).toBeLessThan(8)
  })

  test('a cursor is good for its own list and reader alone', async () => {
    const [page, other] = await Promise.all([
      postsOf(world, friend, 'mixed', { first: 1 }),
      postsOf(world, friend, 'ada', { first: 1 }),
    ])
    const after = page.pageInfo.endCursor
    const document = `query ($handle: String!, $after: Cursor) {
      account(handle: $handle) { posts(after: $after) { pageInfo { hasNextPage } } }
    }`
    const tries = [
      [friend, { handle: 'ada', after }],
      [stranger, { handle: 'mixed', after }],
      [friend, { handle: 'mixed', after: other.pageInfo.endCursor }],
    ] as const
    for (const [who, variables] of tries) {
      const { codes } = await world.graphql(who, document, variables)
      expect(codes).toEqual(['CURSOR_INVALID'])
    }
  })
})
