import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Event,
  isA,
  PostDeleted,
  PostEdited,
  topics,
  VisibilityChanged,
} from '../../services/kernel/events.ts'
import { IdGenerator } from '../../services/kernel/ids.ts'
import type { Commit } from '../../services/platform/commit.ts'
import { postChanges, postHistory, postsById } from '../../services/platform/generated/tables.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { CrashError, crashingCommit } from '../kit/accounts.ts'
import { engines } from '../kit/engines.ts'
import { Person, postsOf, see, textsOf } from '../kit/people.ts'
import { accountIdOf, postIdOf, postSibling } from '../kit/posts.ts'
import { World } from '../kit/world.ts'

const MINUTE_MS = 60_000

const heard: Event[] = []
const hear = async (event: Event) => void heard.push(event)
const listener = defineWorker({
  name: 'listener',
  role: 'audit',
  topic: topics.posts,
  handlers: [on(PostEdited, hear), on(PostDeleted, hear), on(VisibilityChanged, hear)],
})

const heardOf = (id: bigint) => heard.filter(({ data }) => data['postId'] === id)
const typesOf = (id: bigint) => [
  ...new Map(heardOf(id).map((event) => [event.id, event.type])).values(),
]

describe.each(engines)('changing posts on %s', (engine) => {
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

  const stored = (id: bigint) => world.platform.tables.get(postsById, { id })

  test('POS-3: an edit shows at once and keeps what was', async () => {
    const post = await ada.posts('one #a', { link: 'https://example.org/' })
    await world.clock.advance(1_000)
    const edited = await ada.does('editPost', { postId: post.id, text: 'two #b @bo' })
    expect(edited).toMatchObject({
      ...{ id: post.id, text: 'two #b @bo', hashtags: ['b'], createdAt: post.createdAt },
      ...{ link: { url: 'https://example.org/' }, mentions: [{ handle: 'bo' }] },
      editedAt: new Date(world.clock.now()).toISOString(),
    })
    await world.clock.advance(1_000)
    await ada.does('editPost', { postId: post.id, text: 'three', link: '' })
    expect(await bo.sees(post.id)).toMatchObject({ text: 'three', link: null, mentions: [] })
    expect(await bo.historyOf(post.id)).toEqual([
      {
        ...{ text: 'two #b @bo', link: { url: 'https://example.org/' } },
        writtenAt: edited.editedAt,
      },
      { text: 'one #a', link: { url: 'https://example.org/' }, writtenAt: post.createdAt },
    ])
    await world.settle()
    expect(typesOf(postIdOf(post))).toEqual(['post.edited', 'post.edited'])
  })

  test('POS-3: an edit that changes nothing is none', async () => {
    const post = await ada.posts('same')
    const again = await ada.does('editPost', { postId: post.id, text: ' same ' })
    expect(again.editedAt).toBeNull()
    await ada.does('editPost', { postId: post.id })
    expect(await ada.historyOf(post.id)).toEqual([])
    await world.settle()
    expect(heardOf(postIdOf(post))).toEqual([])
  })

  test('SPEC 23: an edit that leaves nothing, or too much, is refused with its field', async () => {
    const post = await ada.posts('something')
    const tries = [
      [{ text: '' }, 'text'],
      [{ text: 'x'.repeat(501) }, 'text'],
      [{ link: 'nowhere' }, 'link'],
    ] as const
    for (const [input, field] of tries) {
      const { userErrors } = await ada.tries('editPost', { postId: post.id, ...input })
      expect(userErrors).toMatchObject([{ code: 'BAD_INPUT', field }])
    }
    expect(await ada.sees(post.id)).toMatchObject({ text: 'something', editedAt: null })
  })

  test('the largest post there can be is edited and deleted like any other', async () => {
    const text = (letter: string) => `${letter}${'\u1ab0'.repeat(13)}`.repeat(480)
    expect(Buffer.byteLength(text('の'))).toBeGreaterThan(20_000)
    const post = await ada.posts(text('の'))
    await ada.does('editPost', { postId: post.id, text: text('は') })
    expect(await bo.historyOf(post.id)).toMatchObject([{ text: text('の') }])
    const { userErrors } = await ada.tries('editPost', {
      ...{ postId: post.id, text: `の${'\u1ab0'.repeat(15)}`.repeat(490) },
    })
    expect(userErrors).toMatchObject([{ code: 'TOO_LARGE', field: 'text' }])
    expect(await ada.sees(post.id)).toMatchObject({ text: text('は') })
    expect(await ada.deletes(post.id)).toMatchObject({ userErrors: [] })
  })

  test('a post can be edited so often and no more', async () => {
    const few = postSibling(world, { settings: { editsMax: 2 } })
    const post = postIdOf(await ada.posts('0'))
    const author = accountIdOf(ada)
    for (const text of ['1', '2']) await few.edit(author, post, { text })
    await expect(few.edit(author, post, { text: '3' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await few.delete(author, post)
    expect(await few.byIds(author, [post])).toEqual([undefined])
  })

  test('POS-3: a deleted post is gone from everywhere, its texts too', async () => {
    const post = await ada.posts('secret one')
    await ada.does('editPost', { postId: post.id, text: 'secret two' })
    await ada.does('editPost', { postId: post.id, text: 'secret three' })
    expect(await ada.deletes(post.id)).toEqual({ deletedPostId: post.id, userErrors: [] })
    for (const who of [ada, bo, undefined]) expect(await see(world, who, post.id)).toBeNull()
    expect(textsOf(await postsOf(world, ada, 'ada', { first: 100 }))).not.toContain('secret three')
    const id = postIdOf(post)
    const { tables } = world.platform
    const rows = [
      await stored(id),
      await tables.get(postChanges, { postId: id }, { serial: true }),
      await tables.slice(postHistory, { postId: id }, { limit: 10 }),
    ]
    const text = JSON.stringify(rows, (_name, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(text).toContain(String(id))
    expect(text).not.toContain('secret')
    expect(await ada.deletes(post.id)).toEqual({ deletedPostId: post.id, userErrors: [] })
    await world.settle()
    expect(typesOf(id)).toEqual(['post.edited', 'post.edited', 'post.deleted'])
  })

  test('POS-3: nothing brings a deleted post back', async () => {
    const post = await ada.posts('gone')
    await ada.deletes(post.id)
    for (const [name, input] of [
      ['editPost', { text: 'back' }],
      ['changeVisibility', { visibility: 'PUBLIC' }],
    ] as const) {
      const { userErrors } = await ada.tries(name, { postId: post.id, ...input })
      expect(userErrors).toMatchObject([{ code: 'NOT_FOUND', field: 'postId' }])
    }
    expect((await stored(postIdOf(post)))?.deletedAt).toBe(world.clock.now())
    expect(await ada.sees(post.id)).toBeNull()
  })

  test('POS-3: who may see a post can change, both ways, and is felt at once', async () => {
    const post = await ada.posts('for whom')
    for (const visibility of ['FOLLOWERS', 'PRIVATE'] as const) {
      const changed = await ada.does('changeVisibility', { postId: post.id, visibility })
      expect(changed.visibility).toBe(visibility)
      expect(await bo.sees(post.id)).toBeNull()
      expect(textsOf(await postsOf(world, bo, 'ada', { first: 100 }))).not.toContain('for whom')
      expect(await ada.sees(post.id)).toMatchObject({ visibility })
    }
    await ada.does('changeVisibility', { postId: post.id, visibility: 'PUBLIC' })
    expect(await bo.sees(post.id)).toMatchObject({ text: 'for whom', editedAt: null })
    expect(await bo.historyOf(post.id)).toEqual([])
    await world.settle()
    const changes = heardOf(postIdOf(post)).flatMap((event) =>
      isA(event, VisibilityChanged) ? [[event.data.previous, event.data.visibility]] : [],
    )
    expect(changes).toEqual([
      ['PUBLIC', 'FOLLOWERS'],
      ['FOLLOWERS', 'PRIVATE'],
      ['PRIVATE', 'PUBLIC'],
    ])
  })

  test('only its author changes a post; of what others cannot see they do not even hear', async () => {
    const open = await ada.posts('open')
    const secret = await ada.posts('secret', { visibility: 'PRIVATE' })
    const changes = (postId: string) => [
      bo.tries('editPost', { postId, text: 'mine' }),
      bo.tries('changeVisibility', { postId, visibility: 'PUBLIC' }),
      bo.deletes(postId),
    ]
    for (const { userErrors } of await Promise.all(changes(open.id))) {
      expect(userErrors).toMatchObject([{ code: 'FORBIDDEN', field: 'postId' }])
    }
    const unknown = Buffer.from(`Post:${1n << 62n}`).toString('base64url')
    const hidden = await Promise.all(changes(secret.id))
    const absent = await Promise.all(changes(unknown))
    expect(hidden.map(({ userErrors }) => userErrors)).toEqual(
      absent.map(({ userErrors }) => userErrors),
    )
    expect(hidden[0]?.userErrors).toMatchObject([{ code: 'NOT_FOUND', field: 'postId' }])
    expect(await ada.sees(open.id)).toMatchObject({ text: 'open', visibility: 'PUBLIC' })
  })

  test('POS-3: an edit and a change of visibility at once both stand', async () => {
    for (let round = 0; round < 5; round += 1) {
      const post = await ada.posts(`before ${round}`)
      await Promise.all([
        ada.does('editPost', { postId: post.id, text: `after ${round}` }),
        ada.does('changeVisibility', { postId: post.id, visibility: 'FOLLOWERS' }),
      ])
      const expected = { text: `after ${round}`, visibility: 'FOLLOWERS' }
      expect(await ada.sees(post.id)).toMatchObject(expected)
      expect(await ada.historyOf(post.id)).toMatchObject([{ text: `before ${round}` }])
      await world.settle()
      expect(new Set(typesOf(postIdOf(post)))).toEqual(
        new Set(['post.edited', 'visibility.changed']),
      )
    }
  })

  test('POS-3: of many edits at once none is lost from the history', async () => {
    const post = await ada.posts('edit 0')
    const texts = Array.from({ length: 8 }, (_none, index) => `edit ${index + 1}`)
    await Promise.all(texts.map((text) => ada.does('editPost', { postId: post.id, text })))
    const last = await ada.sees(post.id)
    const history = await ada.historyOf(post.id)
    const kept = [last?.text, ...history.map(({ text }) => text)]
    expect(kept).toHaveLength(9)
    expect(new Set(kept)).toEqual(new Set(['edit 0', ...texts]))
    expect(history.at(-1)?.text).toBe('edit 0')
  })

  test('POS-3: a deletion stands over every edit that races it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const post = await ada.posts('race')
      const edits = ['a', 'b', 'c'].map((text) => ada.tries('editPost', { postId: post.id, text }))
      await Promise.all([ada.deletes(post.id), ...edits])
      expect(await ada.sees(post.id)).toBeNull()
      const row = await stored(postIdOf(post))
      expect(row).toMatchObject({ content: null, contentHash: null, deletedAt: expect.any(Number) })
      const { tables } = world.platform
      const history = await tables.slice(postHistory, { postId: postIdOf(post) }, { limit: 10 })
      expect(history.filter(({ content }) => content !== null)).toEqual([])
    }
  })

  test('a change that a crash left undecided in its copies is finished by the sweep', async () => {
    const post = await ada.posts('before the crash')
    const id = postIdOf(post)
    const dying = postSibling(world, { commit: crashingCommit })
    const dead = dying.edit(accountIdOf(ada), id, { text: 'after the crash' })
    await expect(dead).rejects.toBeInstanceOf(CrashError)
    expect(await bo.sees(post.id)).toMatchObject({ text: 'before the crash' })
    await world.pass(2 * MINUTE_MS)
    await world.services.pending.sweep()
    expect(await bo.sees(post.id)).toMatchObject({ text: 'after the crash' })
    expect(await bo.historyOf(post.id)).toMatchObject([{ text: 'before the crash' }])
    await world.settle()
    expect(typesOf(id)).toEqual(['post.edited'])
  })

  test('a change after a crash finishes the one before it: no text and no event is left out', async () => {
    const post = await ada.posts('one')
    const id = postIdOf(post)
    const dying = postSibling(world, { commit: crashingCommit })
    await expect(dying.edit(accountIdOf(ada), id, { text: 'two' })).rejects.toThrow(CrashError)
    await ada.does('changeVisibility', { postId: post.id, visibility: 'FOLLOWERS' })
    await expect(dying.changeVisibility(accountIdOf(ada), id, 'PUBLIC')).rejects.toThrow(CrashError)
    await ada.does('editPost', { postId: post.id, text: 'three' })
    expect(await ada.sees(post.id)).toMatchObject({ text: 'three', visibility: 'PUBLIC' })
    expect((await ada.historyOf(post.id)).map(({ text }) => text)).toEqual(['two', 'one'])
    await world.settle()
    expect(typesOf(id)).toEqual([
      ...['post.edited', 'visibility.changed', 'visibility.changed', 'post.edited'],
    ])
  })

  test('a crash in a deletion ends it no less', async () => {
    const post = await ada.posts('half gone')
    const id = postIdOf(post)
    await ada.does('editPost', { postId: post.id, text: 'half gone too' })
    const dying = postSibling(world, { commit: crashingCommit })
    await expect(dying.delete(accountIdOf(ada), id)).rejects.toBeInstanceOf(CrashError)
    const late = await ada.tries('editPost', { postId: post.id, text: 'back' })
    expect(late.userErrors).toMatchObject([{ code: 'NOT_FOUND' }])
    expect(await ada.sees(post.id)).toBeNull()
    await world.settle()
    expect(typesOf(id)).toEqual(['post.edited', 'post.deleted'])
  })

  test('POS-3: copies of an edit that arrive after the deletion bring nothing back', async () => {
    const post = await ada.posts('first')
    const id = postIdOf(post)
    const late: (() => Promise<void>)[] = []
    const slow: Commit = {
      ...crashingCommit,
      commit: async (writes, events) => {
        late.push(() => world.platform.commit.commit(writes, events))
      },
    }
    await postSibling(world, { commit: slow }).edit(accountIdOf(ada), id, { text: 'late words' })
    await ada.deletes(post.id)
    for (const write of late) await write()
    expect(late).toHaveLength(1)
    expect(await ada.sees(post.id)).toBeNull()
    expect(await stored(id)).toMatchObject({ content: null, deletedAt: world.clock.now() })
    const { tables } = world.platform
    const history = await tables.slice(postHistory, { postId: id }, { limit: 10 })
    expect(history.map(({ content }) => content)).toEqual([null])
  })

  test('an edit through a gateway whose clock is 10 s behind stands over the one before', async () => {
    const slow = new IdGenerator(() => world.clock.now() - 10_000, {
      ...{ node: 1_000, afterMs: 0, untilMs: Number.MAX_SAFE_INTEGER },
    })
    const behind = postSibling(world, { ids: slow })
    const post = await ada.posts('one')
    await ada.does('editPost', { postId: post.id, text: 'two' })
    await behind.edit(accountIdOf(ada), postIdOf(post), { text: 'three' })
    expect(await ada.sees(post.id)).toMatchObject({ text: 'three' })
    await behind.delete(accountIdOf(ada), postIdOf(post))
    expect(await ada.sees(post.id)).toBeNull()
  })
})
