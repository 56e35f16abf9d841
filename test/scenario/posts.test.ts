import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Event, isA, PostCreated, topics } from '../../services/kernel/events.ts'
import { claimOf } from '../../services/platform/claims.ts'
import { POST_CLAIM } from '../../services/post/creation.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { CrashError, crashingCommit } from '../kit/accounts.ts'
import { engines } from '../kit/engines.ts'
import { Person, postsOf, see, textsOf } from '../kit/people.ts'
import { accountIdOf, postIdOf, postSibling } from '../kit/posts.ts'
import { World } from '../kit/world.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

const heard: Event[] = []
const listener = defineWorker({
  name: 'listener',
  role: 'audit',
  topic: topics.posts,
  handlers: [on(PostCreated, async (event) => void heard.push(event))],
})

describe.each(engines)('making posts on %s', (engine) => {
  let world: World
  let ada: Person
  let bo: Person
  beforeAll(async () => {
    heard.length = 0
    world = await World.open({ engine, workers: [listener] })
    ada = await Person.signUp(world, 'ada')
    bo = await Person.signUp(world, 'bo')
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  test('POS-1: a post is there at once, for its author, for others and for nobody', async () => {
    const post = await ada.posts('first light ☀️')
    expect(post).toMatchObject({
      ...{ text: 'first light ☀️', visibility: 'PUBLIC', editedAt: null, link: null },
      author: { handle: 'ada' },
      createdAt: new Date(world.clock.now()).toISOString(),
    })
    for (const who of [ada, bo, undefined]) {
      expect(await see(world, who, post.id)).toMatchObject({ id: post.id, text: post.text })
    }
    expect(textsOf(await postsOf(world, undefined, 'ada'))).toEqual(['first light ☀️'])
  })

  test('POS-2: it is announced under its own id and the key of its author, without its text', async () => {
    const post = await ada.posts('announce me')
    await world.settle()
    const events = heard.filter((event) => isA(event, PostCreated))
    const event = events.at(-1)
    expect(event?.data['postId']).toBe(event?.id)
    expect(Buffer.from(post.id, 'base64url').toString()).toBe(`Post:${event?.id}`)
    expect(event?.key).toBe(String(event?.data['authorId']))
    expect(JSON.stringify(event, (_name, value) => `${value}`)).not.toContain('announce me')
  })

  test.each([
    [{}, 'text'],
    [{ text: '   ' }, 'text'],
    [{ text: '👍🏽'.repeat(501) }, 'text'],
    [{ text: 'a\u0000b' }, 'text'],
    [{ link: 'javascript:alert(1)' }, 'link'],
    [{ text: 'x', idempotencyKey: 'two words' }, 'idempotencyKey'],
    [{ text: 'x', clientTs: '2001-01-01T00:00:00Z' }, 'clientTs'],
  ])('SPEC 23: %j is refused with its field, and nothing is kept', async (input, field) => {
    const before = await ada.postsOf('ada', { first: 100 })
    const { post, userErrors } = await ada.tries('createPost', input)
    expect(post).toBeNull()
    expect(userErrors).toMatchObject([{ code: 'BAD_INPUT', field }])
    expect(textsOf(await ada.postsOf('ada', { first: 100 }))).toEqual(textsOf(before))
  })

  test('POS-1: a text is as long as people count, and what is found in it is kept', async () => {
    const family = '👩‍👩‍👧‍👦'
    const long = await ada.posts(family.repeat(500))
    expect((await ada.sees(long.id))?.text).toBe(family.repeat(500))
    const post = await ada.posts('@Bo, @nobody.here: #Größe #größe', {
      link: 'https://Example.org/a?utm_source=x#part',
    })
    expect(post).toMatchObject({
      mentions: [{ handle: 'bo', account: { handle: 'bo' } }],
      hashtags: ['größe'],
      link: { url: 'https://example.org/a?utm_source=x#part' },
    })
    const [first, second] = await world.services.posts.facts([postIdOf(long), postIdOf(post)])
    expect(first?.content.mentions).toEqual([])
    expect(second?.content.mentions).toHaveLength(1)
  })

  test('POS-1: a link alone is a post', async () => {
    const post = await ada.does('createPost', { link: 'https://example.org/' })
    expect(post).toMatchObject({ text: '', link: { url: 'https://example.org/' } })
  })

  test('POS-1: a client dates a post back a day at most, and never ahead', async () => {
    const now = world.clock.now()
    const at = (ms: number) => ({ clientTs: new Date(now + ms).toISOString() })
    const back = await ada.posts('back', at(-DAY_MS))
    expect(back.createdAt).toBe(new Date(now - DAY_MS).toISOString())
    const ahead = await ada.posts('ahead', at(DAY_MS))
    expect(ahead.createdAt).toBe(new Date(now).toISOString())
    const { userErrors } = await ada.tries('createPost', { text: 'too old', ...at(-DAY_MS - 1) })
    expect(userErrors).toMatchObject([{ code: 'BAD_INPUT', field: 'clientTs' }])
    const order = textsOf(await ada.postsOf('ada', { first: 100 }))
    expect(order.at(-1)).toBe('back')
    expect(order[0]).toBe('ahead')
  })

  test('POS-1: the same key gives the same post, at once, later and elsewhere', async () => {
    const input = { text: 'once', idempotencyKey: 'key-1' }
    const together = await Promise.all(
      Array.from({ length: 8 }, () => bo.does('createPost', input)),
    )
    const later = await bo.does('createPost', input)
    const author = accountIdOf(bo)
    const elsewhere = await postSibling(world).create(author, input)
    expect(new Set([...together, later].map(({ id }) => id)).size).toBe(1)
    expect(elsewhere.id).toBe(postIdOf(later))
    expect(textsOf(await bo.postsOf('bo'))).toEqual(['once'])
    await world.settle()
    const events = heard.filter(({ id }) => id === (elsewhere.id as bigint))
    expect(events.length).toBeGreaterThanOrEqual(1)
    expect(await ada.does('createPost', input)).not.toMatchObject({ id: later.id })
  })

  test('POS-1: the same key with another draft is refused and says so', async () => {
    await bo.posts('mine', { idempotencyKey: 'key-2' })
    const { post, userErrors } = await bo.tries('createPost', {
      ...{ text: 'other', idempotencyKey: 'key-2' },
    })
    expect(post).toBeNull()
    expect(userErrors).toMatchObject([{ code: 'CONFLICT', field: 'idempotencyKey' }])
    expect(userErrors[0]?.message).toContain('idempotency key')
  })

  test('POS-1: a crash between claim and batch is mended by sending it again', async () => {
    const author = accountIdOf(bo)
    const input = { text: 'crashed', idempotencyKey: 'key-3' }
    const dying = postSibling(world, { commit: crashingCommit })
    await expect(dying.create(author, input)).rejects.toBeInstanceOf(CrashError)
    expect(textsOf(await bo.postsOf('bo'))).not.toContain('crashed')
    const name = `${author}:key-3`
    const claim = await claimOf(world.platform.tables, { kind: POST_CLAIM, name })
    await world.pass(5 * MINUTE_MS)
    const post = await bo.does('createPost', input)
    expect(postIdOf(post)).toBe(claim?.owner)
    expect(textsOf(await bo.postsOf('bo')).filter((text) => text === 'crashed')).toHaveLength(1)
    await world.settle()
    expect(heard.map(({ id }) => id as bigint)).toContain(claim?.owner)
  })

  test('a key whose post was deleted, and a reply whose parent has gone, are answered as they are', async () => {
    const input = { text: 'short', idempotencyKey: 'key-4' }
    const gone = await bo.does('createPost', input)
    await bo.deletes(gone.id)
    expect((await bo.tries('createPost', input)).userErrors).toMatchObject([
      { code: 'CONFLICT', field: 'idempotencyKey' },
    ])
    const parent = await bo.posts('parent')
    const reply = { text: 'answer', replyToId: parent.id, idempotencyKey: 'key-5' }
    const made = await ada.does('createPost', reply)
    await bo.deletes(parent.id)
    expect((await ada.does('createPost', reply)).id).toBe(made.id)
  })

  test("POS-2: an author's posts page over months, newest first, none twice and none left out", async () => {
    const cy = await Person.signUp(world, 'cy')
    const author = accountIdOf(cy)
    const made: string[] = []
    for (let month = 0; month < 4; month += 1) {
      for (let index = 0; index < 5; index += 1) {
        const text = `${month}/${index}`
        await world.services.posts.create(author, { text })
        made.unshift(text)
      }
      // What nobody has handled yet would outlive its retention.
      await world.settle()
      await world.leap(31 * DAY_MS)
    }
    const walked: string[] = []
    let after: string | null | undefined
    do {
      const page = await postsOf(world, undefined, 'cy', { first: 3, ...(after ? { after } : {}) })
      walked.push(...textsOf(page))
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : undefined
    } while (after)
    expect(walked).toEqual(made)
  })
})
