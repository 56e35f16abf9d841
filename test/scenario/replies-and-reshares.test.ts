import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Event, isA, PostCreated, PostDeleted, topics } from '../../services/kernel/events.ts'
import { replies } from '../../services/platform/generated/tables.ts'
import { put } from '../../services/platform/tables.ts'
import { counting } from '../../workers/count.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { CrashError, crashingCommit } from '../kit/accounts.ts'
import { engines } from '../kit/engines.ts'
import { Person, postsOf, type ShownPost, see, textsOf } from '../kit/people.ts'
import { accountIdOf, postIdOf, postSibling } from '../kit/posts.ts'
import { World } from '../kit/world.ts'

const MINUTE_MS = 60_000

const heard: Event[] = []
const hear = async (event: Event) => void heard.push(event)
const listener = defineWorker({
  name: 'listener',
  role: 'audit',
  topic: topics.posts,
  handlers: [on(PostCreated, hear), on(PostDeleted, hear)],
})

/** Parts of three replies, so that a list of ten has several. */
const SHORT_PARTS = {
  TRIBUTARY_LISTS_PART_ROWS: '3',
  TRIBUTARY_LISTS_MEASURE_EVERY: '1',
}

const ids = (posts: readonly { readonly id: string }[]): string[] => posts.map(({ id }) => id)

describe.each(engines)('replies and reshares on %s', (engine) => {
  let world: World
  let ada: Person
  let bo: Person
  let cy: Person
  beforeAll(async () => {
    heard.length = 0
    world = await World.open({
      ...{ engine, workers: [listener, ...counting], variables: SHORT_PARTS },
    })
    ada = await Person.signUp(world, 'ada')
    bo = await Person.signUp(world, 'bo')
    cy = await Person.signUp(world, 'cy', { isPrivate: true })
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const walk = async (who: Person, id: string, first: number): Promise<string[]> => {
    const walked: string[] = []
    let after: string | null | undefined
    do {
      const page = await who.repliesTo(id, { first, ...(after ? { after } : {}) })
      walked.push(...textsOf(page))
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : undefined
    } while (after)
    return walked
  }

  test('POS-3: a reply names what it answers and what began the thread', async () => {
    const root = await ada.posts('question')
    const answer = await bo.posts('answer', { replyToId: root.id })
    const thanks = await ada.posts('thanks', { replyToId: answer.id })
    expect(answer).toMatchObject({ replyTo: { id: root.id }, threadRoot: { id: root.id } })
    expect(thanks).toMatchObject({ replyTo: { id: answer.id }, threadRoot: { id: root.id } })
    expect(await bo.sees(root.id)).toMatchObject({ replyCount: 1, replyTo: null, threadRoot: null })
    expect(textsOf(await bo.repliesTo(root.id))).toEqual(['answer'])
    expect(textsOf(await bo.repliesTo(answer.id))).toEqual(['thanks'])
    await world.settle()
    const event = heard.find(({ id }) => id === (postIdOf(thanks) as bigint))
    expect(event?.data).toMatchObject({
      ...{ replyToId: postIdOf(answer), replyToAuthorId: accountIdOf(bo) },
    })
  })

  test('POS-3: replies page oldest first over any number of parts, none twice or left out', async () => {
    const root = await ada.posts('many')
    const made: string[] = []
    for (let index = 0; index < 11; index += 1) {
      const { text } = await bo.posts(`reply ${index}`, { replyToId: root.id })
      made.push(text)
    }
    const last = await world.services.posts.facts([
      postIdOf(await bo.posts('x', { replyToId: root.id })),
    ])
    expect(last[0]?.replyTo?.part).toBeGreaterThanOrEqual(2)
    for (const first of [1, 4, 100]) expect(await walk(ada, root.id, first)).toEqual([...made, 'x'])
    expect(await ada.sees(root.id)).toMatchObject({ replyCount: 12 })
  })

  test('a reply that was made again into another part is listed once', async () => {
    const root = await ada.posts('made twice')
    const texts = ['0', '1', '2', '3', '4']
    const made: ShownPost[] = []
    for (const text of texts) made.push(await bo.posts(text, { replyToId: root.id }))
    const [first, last] = await world.services.posts.facts(
      [made[0], made[4]].flatMap((post) => (post ? [postIdOf(post)] : [])),
    )
    if (!first || !last?.replyTo) throw new Error('a reply was not kept')
    expect(last.replyTo.part).toBe(1)
    const { id, authorId, orderedAt } = first
    await world.platform.tables.write([
      put(replies, { postId: postIdOf(root), part: 1, orderedAt, id, authorId }, { version: id }),
    ])
    for (const size of [1, 100]) expect(await walk(bo, root.id, size)).toEqual(texts)
  })

  test('POS-3: what cannot be seen cannot be answered, nor quoted, nor passed on', async () => {
    const secret = await ada.posts('secret', { visibility: 'PRIVATE' })
    const gone = await ada.posts('gone')
    await ada.deletes(gone.id)
    const closed = await cy.posts('for followers')
    for (const { id } of [secret, gone, closed]) {
      const tries = await Promise.all([
        bo.tries('createPost', { text: 'x', replyToId: id }),
        bo.tries('createPost', { text: 'x', reshareOfId: id }),
        bo.tries('createPost', { reshareOfId: id }),
        bo.tries('reshare', { postId: id }),
        bo.tries('unreshare', { postId: id }),
      ])
      expect(tries.map(({ userErrors }) => userErrors[0]?.code)).toEqual(Array(5).fill('NOT_FOUND'))
    }
  })

  test('POS-3: a deleted reply is counted and listed no more; what answered it stays', async () => {
    const root = await ada.posts('root')
    const reply = await bo.posts('reply', { replyToId: root.id })
    const below = await ada.posts('below', { replyToId: reply.id })
    await bo.deletes(reply.id)
    expect(await ada.sees(root.id)).toMatchObject({ replyCount: 0 })
    expect(textsOf(await ada.repliesTo(root.id))).toEqual([])
    expect(await ada.sees(below.id)).toMatchObject({
      ...{ text: 'below', replyTo: null, threadRoot: { id: root.id } },
    })
  })

  test('POS-3: a reshare shows its original, is one however often it is asked for, and is counted', async () => {
    const original = await ada.posts('pass it on')
    const made = await Promise.all(
      Array.from({ length: 6 }, () => bo.does('reshare', { postId: original.id })),
    )
    expect(new Set(ids(made)).size).toBe(1)
    const [reshare] = made
    expect(reshare).toMatchObject({
      ...{ text: '', reshareOf: { id: original.id, text: 'pass it on' }, quote: null },
    })
    const again = await bo.does('createPost', { reshareOfId: original.id })
    expect(again.id).toBe(reshare?.id)
    expect(await bo.sees(original.id)).toMatchObject({ reshareCount: 1, viewerHasReshared: true })
    expect(await ada.sees(original.id)).toMatchObject({ reshareCount: 1, viewerHasReshared: false })
    expect(textsOf(await postsOf(world, ada, 'bo', { first: 1 }))).toEqual([''])
    await world.settle()
    const events = heard.filter(
      (event) => isA(event, PostCreated) && event.data.originalId === postIdOf(original),
    )
    expect(new Set(events.map(({ id }) => id)).size).toBe(1)
    expect(events[0]?.data).toMatchObject({ isReshare: true, originalAuthorId: accountIdOf(ada) })
  })

  test('POS-3: a reshare of a reshare points to the original; so does an answer to one', async () => {
    const original = await ada.posts('origin')
    const first = await bo.does('reshare', { postId: original.id })
    const dee = await Person.signUp(world, 'dee')
    const second = await dee.does('reshare', { postId: first.id })
    expect(second.reshareOf).toMatchObject({ id: original.id })
    const quote = await dee.posts('look', { reshareOfId: first.id })
    expect(quote.quote).toMatchObject({ id: original.id })
    const reply = await dee.posts('hm', { replyToId: first.id })
    expect(reply.replyTo).toMatchObject({ id: original.id })
    expect(await ada.sees(original.id)).toMatchObject({ reshareCount: 3, replyCount: 1 })
    const ofQuote = await bo.does('reshare', { postId: quote.id })
    expect(ofQuote.reshareOf).toMatchObject({ id: quote.id })
  })

  test('POS-3: a reshare taken back is gone, and one made anew is a new post', async () => {
    const original = await ada.posts('on and off')
    const first = await bo.does('reshare', { postId: original.id })
    expect(await bo.does('unreshare', { postId: original.id })).toMatchObject({
      ...{ id: original.id, reshareCount: 0, viewerHasReshared: false },
    })
    expect(await bo.sees(first.id)).toBeNull()
    await bo.does('unreshare', { postId: original.id })
    const second = await bo.does('reshare', { postId: original.id })
    expect(second.id).not.toBe(first.id)
    expect(await bo.sees(first.id)).toBeNull()
    expect(await bo.deletes(second.id)).toMatchObject({ userErrors: [] })
    expect(await bo.sees(original.id)).toMatchObject({ reshareCount: 0, viewerHasReshared: false })
    const third = await bo.does('reshare', { postId: original.id })
    const byReshare = await bo.tries('unreshare', { postId: third.id })
    expect(byReshare).toEqual({ post: null, userErrors: [] })
    expect(await bo.sees(original.id)).toMatchObject({ reshareCount: 0 })
    await world.settle()
    const deleted = heard.flatMap((event) => (isA(event, PostDeleted) ? [event.data.postId] : []))
    for (const post of [first, second, third]) expect(deleted).toContain(postIdOf(post))
  })

  test('POS-3: a reshare of the past takes nothing back of the one made anew', async () => {
    const original = await ada.posts('again and again')
    const first = await bo.does('reshare', { postId: original.id })
    await bo.does('unreshare', { postId: original.id })
    const second = await bo.does('reshare', { postId: original.id })
    expect(await bo.deletes(first.id)).toEqual({ deletedPostId: first.id, userErrors: [] })
    const gone = await bo.tries('unreshare', { postId: first.id })
    expect(gone.userErrors).toMatchObject([{ code: 'NOT_FOUND' }])
    expect(await bo.sees(second.id)).toMatchObject({ reshareOf: { id: original.id } })
    expect(await bo.sees(original.id)).toMatchObject({ reshareCount: 1, viewerHasReshared: true })
  })

  test('POS-3: reshare and unreshare at once end in one state that everything agrees on', async () => {
    const original = await ada.posts('flutter')
    for (let round = 0; round < 4; round += 1) {
      await Promise.all([
        bo.does('reshare', { postId: original.id }),
        bo.does('unreshare', { postId: original.id }),
        bo.does('reshare', { postId: original.id }),
      ])
      await world.settle()
      const seen = await bo.sees(original.id)
      const page = await postsOf(world, bo, 'bo', { first: 50 })
      const standing = page.edges.filter(({ node }) => node.reshareOf?.id === original.id)
      expect(standing).toHaveLength(seen?.viewerHasReshared ? 1 : 0)
      expect(seen?.reshareCount).toBe(standing.length)
    }
  })

  test('POS-3: a reshare goes where its original goes', async () => {
    const original = await ada.posts('fickle')
    const reshare = await bo.does('reshare', { postId: original.id })
    const quote = await bo.posts('words', { reshareOfId: original.id })
    const dee = await Person.signUp(world, 'dee2')
    await ada.does('changeVisibility', { postId: original.id, visibility: 'PRIVATE' })
    for (const who of [bo, dee, undefined]) {
      expect(await see(world, who, reshare.id)).toBeNull()
      expect(await see(world, who, quote.id)).toMatchObject({ text: 'words', quote: null })
    }
    expect(await ada.sees(reshare.id)).toMatchObject({ reshareOf: { id: original.id } })
    await ada.does('changeVisibility', { postId: original.id, visibility: 'PUBLIC' })
    expect(await dee.sees(reshare.id)).toMatchObject({ reshareOf: { text: 'fickle' } })
    await ada.deletes(original.id)
    expect(await dee.sees(reshare.id)).toBeNull()
    const takenBack = await bo.tries('unreshare', { postId: reshare.id })
    expect(takenBack).toEqual({ post: null, userErrors: [] })
  })

  test('POS-3: others pass on only what everybody may see; authors what is theirs', async () => {
    const followers = await ada.posts('for mine', { visibility: 'FOLLOWERS' })
    expect(await ada.does('reshare', { postId: followers.id })).toMatchObject({
      reshareOf: { id: followers.id },
    })
    const own = await cy.posts('mine')
    expect(await cy.does('reshare', { postId: own.id })).toMatchObject({
      reshareOf: { id: own.id },
    })
  })

  test('a reshare without words cannot be edited, nor made for some', async () => {
    const original = await ada.posts('plain')
    const reshare = await bo.does('reshare', { postId: original.id })
    const tries = await Promise.all([
      bo.tries('editPost', { postId: reshare.id, text: 'words' }),
      bo.tries('changeVisibility', { postId: reshare.id, visibility: 'PRIVATE' }),
      bo.tries('createPost', { reshareOfId: original.id, visibility: 'FOLLOWERS' }),
      bo.tries('createPost', { reshareOfId: original.id, replyToId: original.id }),
    ])
    expect(tries.map(({ userErrors }) => userErrors[0]?.code)).toEqual(Array(4).fill('BAD_INPUT'))
  })

  test('a quote keeps its words: an edit cannot make it a reshare', async () => {
    const original = await ada.posts('plain too')
    const quote = await bo.posts('words', { reshareOfId: original.id })
    const { userErrors } = await bo.tries('editPost', { postId: quote.id, text: '' })
    expect(userErrors).toMatchObject([{ code: 'BAD_INPUT', field: 'text' }])
    expect(await bo.does('editPost', { postId: quote.id, text: 'more words' })).toMatchObject({
      quote: { id: original.id },
    })
  })

  test('a reshare that a crash cut short is there in the end, once', async () => {
    const original = await ada.posts('crash')
    const dying = postSibling(world, { commit: crashingCommit })
    const bosId = accountIdOf(bo)
    await expect(dying.reshare(bosId, postIdOf(original))).rejects.toBeInstanceOf(CrashError)
    await world.pass(2 * MINUTE_MS)
    await world.services.pending.sweep()
    const page = await postsOf(world, ada, 'bo', { first: 1 })
    expect(page.edges[0]?.node.reshareOf?.id).toBe(original.id)
    const made = await bo.does('reshare', { postId: original.id })
    expect(made.id).toBe(page.edges[0]?.node.id)
    await expect(dying.unreshare(bosId, postIdOf(original))).rejects.toBeInstanceOf(CrashError)
    const anew = await bo.does('reshare', { postId: original.id })
    expect(anew.id).not.toBe(made.id)
    expect(await bo.sees(made.id)).toBeNull()
    await world.settle()
    expect(await bo.sees(original.id)).toMatchObject({ reshareCount: 1 })
  })

  test("ENG-2: an account's posts are counted, replies and reshares among them, deleted ones not", async () => {
    const eve = await Person.signUp(world, 'eve')
    const one = await eve.posts('one')
    await eve.posts('two', { replyToId: one.id })
    await eve.does('reshare', { postId: one.id })
    await world.settle()
    const count = async () => {
      const data = await eve.asks<{ viewer: { postsCount: number } }>('{ viewer { postsCount } }')
      return data.viewer.postsCount
    }
    expect(await count()).toBe(3)
    await eve.does('unreshare', { postId: one.id })
    await eve.deletes(one.id)
    await world.settle()
    expect(await count()).toBe(1)
  })
})
