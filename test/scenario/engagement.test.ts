import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseIdOf, toGlobalId } from '../../gateway/relay/global-id.ts'
import type { AccountId } from '../../services/accounts/accounts.ts'
import { EngagementChanged, type Event, topics } from '../../services/kernel/events.ts'
import { engagements } from '../../services/platform/generated/tables.ts'
import type { PostId } from '../../services/post/post.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { roster } from '../../workers/roster.ts'
import {
  type Act,
  act,
  DiedError,
  dyingCommit,
  engagementBeside,
  MARKED,
  type MarkedPost,
  report,
  SAVED,
  savedBy,
} from '../kit/engagement.ts'
import { engines } from '../kit/engines.ts'
import { ask, Person } from '../kit/people.ts'
import { World } from '../kit/world.ts'

const heard: Event[] = []
const listener = defineWorker({
  name: 'listener',
  role: 'audit',
  topic: topics.engagement,
  handlers: [on(EngagementChanged, async (event) => void heard.push(event))],
})

const postIdOf = (id: string): PostId => parseIdOf('Post', id) as PostId
const accountIdOf = ({ id }: Person): AccountId => parseIdOf('Account', id) as AccountId

describe.each(engines)('engagement on %s', (engine) => {
  let world: World
  let ada: Person
  let bo: Person
  let cy: Person
  beforeAll(async () => {
    world = await World.open({ engine, workers: [...roster, listener] })
    ada = await Person.signUp(world, 'ada')
    bo = await Person.signUp(world, 'bo')
    cy = await Person.signUp(world, 'cy')
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const look = async (who: Person | undefined, id: string): Promise<MarkedPost | null> => {
    const document = `query ($id: ID!) { post(id: $id) { ${MARKED} } }`
    return (await ask<{ post: MarkedPost | null }>(world, who, document, { id })).post
  }

  const likesOf = async (id: string): Promise<number | undefined> =>
    (await look(undefined, id))?.likeCount

  /** Whether the rows say that a person likes a post. */
  const isLikedBy = async (who: Person, id: string): Promise<boolean> => {
    const [marks] = await world.services.engagement.marksOf(accountIdOf(who), [postIdOf(id)])
    return marks?.hasLiked ?? false
  }

  test('ENG-1: a like is seen at once, by its actor and as a number by everybody', async () => {
    const { id } = await ada.posts('like me')
    expect(await look(bo, id)).toMatchObject({ likeCount: 0, viewerHasLiked: false })
    expect(await act(bo, 'like', id)).toMatchObject({
      post: { likeCount: 1, viewerHasLiked: true },
      userErrors: [],
    })
    expect(await look(bo, id)).toMatchObject({ likeCount: 1, viewerHasLiked: true })
    expect(await look(ada, id)).toMatchObject({ likeCount: 1, viewerHasLiked: false })
    expect(await look(undefined, id)).toMatchObject({ likeCount: 1, viewerHasLiked: false })
    await act(cy, 'like', id)
    expect(await likesOf(id)).toBe(2)
    expect((await act(bo, 'unlike', id)).post).toMatchObject({
      ...{ likeCount: 1, viewerHasLiked: false },
    })
  })

  test('ENG-1: what is done again changes nothing, and is announced once', async () => {
    const { id } = await ada.posts('again and again')
    const before = heard.length
    for (const name of ['unlike', 'like', 'like', 'like', 'unlike', 'unlike'] as const) {
      await act(bo, name, id)
    }
    await world.settle()
    expect(await likesOf(id)).toBe(0)
    const news = heard.slice(before).map(({ key, data }) => ({ key, ...data }))
    expect(news).toMatchObject(
      [true, false].map((on) => ({
        ...{ key: String(accountIdOf(bo)), kind: 'like', on },
        ...{ actorId: accountIdOf(bo), postId: postIdOf(id), authorId: accountIdOf(ada) },
      })),
    )
  })

  test('ENG-1: several in one request follow one another, and each shows its own effect', async () => {
    const { id } = await ada.posts('to and fro')
    const step = (name: Act) => `${name}(input: $input) { post { likeCount viewerHasLiked } }`
    const document = `mutation ($input: EngagementInput!) {
      a: ${step('like')} b: ${step('unlike')} c: ${step('like')} d: ${step('unlike')}
    }`
    const [liked, not] = [
      { post: { likeCount: 1, viewerHasLiked: true } },
      { post: { likeCount: 0, viewerHasLiked: false } },
    ]
    // The third time a document is compiled.
    for (const _time of [1, 2, 3]) {
      expect(await bo.asks(document, { input: { postId: id } })).toEqual({
        ...{ a: liked, b: not, c: liked, d: not },
      })
    }
  })

  test('ENG-1: saved posts are a list of their own, newest save first', async () => {
    const dee = await Person.signUp(world, 'dee')
    const posts = []
    for (const text of ['one', 'two', 'three']) posts.push(await ada.posts(text))
    for (const { id } of posts) {
      await world.clock.advance(1_000)
      expect((await act(dee, 'save', id)).post?.viewerHasSaved).toBe(true)
    }
    const texts = async (who = dee) => (await savedBy(who)).edges.map(({ node }) => node.text)
    expect(await texts()).toEqual(['three', 'two', 'one'])
    expect(await texts(cy)).toEqual([])
    const [one, two, three] = posts.map(({ id }) => id)
    await act(dee, 'unsave', two ?? '')
    expect(await texts()).toEqual(['three', 'one'])
    await world.clock.advance(1_000)
    await act(dee, 'save', one ?? '')
    expect(await texts(), 'saved again it stays where it was').toEqual(['three', 'one'])
    await act(dee, 'unsave', one ?? '')
    await act(dee, 'save', one ?? '')
    expect(await texts()).toEqual(['one', 'three'])
    await ada.deletes(three ?? '')
    expect(await texts()).toEqual(['one'])
  })

  test('ENG-1: saved posts come in pages, good for their reader alone', async () => {
    const eve = await Person.signUp(world, 'eve')
    for (let count = 1; count <= 5; count += 1) {
      await act(eve, 'save', (await ada.posts(`number ${count}`)).id)
    }
    const found: string[] = []
    let after: string | null = null
    do {
      const page = await savedBy(eve, { first: 2, after })
      found.push(...page.edges.map(({ node }) => node.text))
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
      if (after === null) break
      const { codes } = await world.graphql(cy, SAVED, { after })
      expect(codes).toEqual(['CURSOR_INVALID'])
    } while (found.length < 10)
    expect(found).toEqual([5, 4, 3, 2, 1].map((count) => `number ${count}`))
  })

  test('ENG-1: what is hidden is in no feed, and is shown to who asks for it', async () => {
    const { id } = await ada.posts('not for bo')
    const inFeed = async (who: Person) => {
      const ids = [postIdOf(id)]
      const [seen] = await world.services.posts.visible(accountIdOf(who), ids, 'feed')
      return seen !== undefined
    }
    expect(await inFeed(bo)).toBe(true)
    expect((await act(bo, 'hide', id)).post).toMatchObject({ id, viewerHasHidden: true })
    expect(await inFeed(bo)).toBe(false)
    expect(await inFeed(cy)).toBe(true)
    expect(await look(bo, id)).toMatchObject({ id, viewerHasHidden: true })
    expect((await act(bo, 'unhide', id)).post?.viewerHasHidden).toBe(false)
    expect(await inFeed(bo)).toBe(true)
  })

  test('ENG-1: a report is kept with its words, and replaced by other words', async () => {
    const { id } = await ada.posts('buy this')
    const key = { actorId: accountIdOf(bo), postId: postIdOf(id), kind: 'report' }
    const kept = () => world.platform.tables.get(engagements, key)
    expect((await report(bo, id, { note: ' the third time ' })).userErrors).toEqual([])
    expect(await kept()).toMatchObject({ isOn: true, reason: 'SPAM', note: 'the third time' })
    const before = await kept()
    await report(bo, id, { note: 'the third time' })
    expect(await kept()).toEqual(before)
    await report(bo, id, { reason: 'HATE' })
    expect(await kept()).toMatchObject({ isOn: true, reason: 'HATE', note: '' })
    expect(await report(bo, id, { note: 'x'.repeat(501) })).toMatchObject({
      ...{ post: null, userErrors: [{ code: 'BAD_INPUT', field: 'note' }] },
    })
  })

  test('ENG-1: a reshare stands for its original: that is what is liked and saved', async () => {
    const { id } = await ada.posts('worth passing on')
    const reshare = await bo.does('reshare', { postId: id })
    expect((await act(cy, 'like', reshare.id)).post).toMatchObject({
      ...{ id: reshare.id, likeCount: 1, viewerHasLiked: true },
    })
    expect(await look(cy, id)).toMatchObject({ likeCount: 1, viewerHasLiked: true })
    await act(cy, 'save', reshare.id)
    expect((await savedBy(cy)).edges[0]?.node.id).toBe(id)
    await act(cy, 'hide', reshare.id)
    expect(await look(cy, id)).toMatchObject({ viewerHasHidden: false })
    await act(cy, 'unlike', reshare.id)
    await act(cy, 'unsave', reshare.id)
    expect(await look(cy, id)).toMatchObject({ likeCount: 0, viewerHasSaved: false })
  })

  test('ENG-1: what cannot be seen cannot be acted on, but acts can be taken back', async () => {
    const { id } = await ada.posts('soon for nobody')
    await act(bo, 'like', id)
    await act(bo, 'save', id)
    await ada.does('changeVisibility', { postId: id, visibility: 'PRIVATE' })
    const refused = { post: null, userErrors: [{ code: 'NOT_FOUND', field: 'postId' }] }
    const nowhere = toGlobalId('Post', world.platform.ids.next())
    for (const postId of [id, nowhere]) {
      for (const name of ['like', 'save', 'hide'] as const) {
        expect(await act(cy, name, postId)).toEqual(refused)
      }
      expect(await report(cy, postId, {})).toEqual(refused)
    }
    expect((await savedBy(bo)).edges).toEqual([])
    for (const name of ['unlike', 'unsave', 'unhide'] as const) {
      expect(await act(bo, name, id)).toEqual({ post: null, userErrors: [] })
      expect(await act(bo, name, nowhere)).toEqual({ post: null, userErrors: [] })
    }
    await ada.does('changeVisibility', { postId: id, visibility: 'PUBLIC' })
    expect(await look(bo, id)).toMatchObject({ likeCount: 0, viewerHasSaved: false })
  })

  test('ENG-1: the same sent many times at once counts once, and is listed once', async () => {
    const fay = await Person.signUp(world, 'fay')
    const { id } = await ada.posts('double submit')
    const times = Array.from({ length: 10 })
    await Promise.all(times.flatMap(() => [act(fay, 'like', id), act(fay, 'save', id)]))
    await world.settle()
    expect(await likesOf(id)).toBe(1)
    expect((await savedBy(fay)).edges).toHaveLength(1)
    await act(fay, 'unsave', id)
    expect((await savedBy(fay)).edges).toEqual([])
    await Promise.all(times.map(() => act(fay, 'unlike', id)))
    await world.settle()
    expect(await likesOf(id)).toBe(0)
  })

  test('ENG-2: likes and unlikes that race end with a count that the rows agree with', async () => {
    const { id } = await ada.posts('make up your mind')
    for (let round = 0; round < 5; round += 1) {
      const acts: Act[] = ['like', 'unlike', 'like', 'unlike']
      await Promise.all(acts.map((name) => act(bo, name, id)))
      await world.settle()
      expect(await likesOf(id)).toBe((await isLikedBy(bo, id)) ? 1 : 0)
    }
  })

  test('ENG-2: what is done last stands, though the clock before it was 10 s ahead', async () => {
    const { id } = await ada.posts('whose clock')
    const ahead = engagementBeside(world, { clockAheadMs: 10_000 })
    await ahead.mark(accountIdOf(bo), 'like', postIdOf(id))
    expect(await likesOf(id)).toBe(1)
    await act(bo, 'unlike', id)
    await world.settle()
    expect(await look(bo, id)).toMatchObject({ likeCount: 0, viewerHasLiked: false })
    await act(bo, 'like', id)
    await world.settle()
    expect(await look(bo, id)).toMatchObject({ likeCount: 1, viewerHasLiked: true })
  })

  test('ENG-2: races upon a state from the future end with rows and count that agree', async () => {
    const { id } = await ada.posts('the same version')
    const ahead = engagementBeside(world, { clockAheadMs: 10_000 })
    const others = [1, 2, 3].map(() => engagementBeside(world))
    for (let round = 0; round < 5; round += 1) {
      await ahead[round % 2 === 0 ? 'mark' : 'unmark'](accountIdOf(bo), 'like', postIdOf(id))
      await Promise.all(
        others.flatMap((other) => [
          other.mark(accountIdOf(bo), 'like', postIdOf(id)),
          other.unmark(accountIdOf(bo), 'like', postIdOf(id)),
        ]),
      )
      await world.settle()
      expect(await likesOf(id)).toBe((await isLikedBy(bo, id)) ? 1 : 0)
    }
  })

  test('ENG-2: a crash before the commit did nothing, one after it is counted by the event', async () => {
    const { id } = await ada.posts('hold on')
    const dying = (when: 'before' | 'after') =>
      engagementBeside(world, { commit: dyingCommit(world.platform.commit, when) })
    const like = (when: 'before' | 'after') =>
      dying(when).mark(accountIdOf(bo), 'like', postIdOf(id))
    await expect(like('before')).rejects.toBeInstanceOf(DiedError)
    await world.settle()
    expect(await look(bo, id)).toMatchObject({ likeCount: 0, viewerHasLiked: false })
    await expect(like('after')).rejects.toBeInstanceOf(DiedError)
    await world.settle()
    expect(await look(bo, id)).toMatchObject({ likeCount: 1, viewerHasLiked: true })
    await act(bo, 'like', id)
    await world.settle()
    expect(await likesOf(id)).toBe(1)
  })
})
