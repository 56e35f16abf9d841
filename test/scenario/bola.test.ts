/**
 * Knowing an id opens nothing. Whatever takes an id answers for a thing that the caller may not see
 * exactly as for one that does not exist; and no way from a visible thing leads to a hidden one. The
 * tables are compared with the schema: a field that is new and has no row fails.
 */
import { buildASTSchema, parse } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toGlobalId } from '../../gateway/relay/global-id.ts'
import { typeDefs } from '../../schema/generated/type-defs.ts'
import { engines } from '../kit/engines.ts'
import { fieldsLeadingTo, idTakingFields } from '../kit/id-fields.ts'
import {
  ACCOUNT_FIELDS,
  type Around,
  askWay,
  OWN_FIELDS,
  OWN_LISTS,
  onPost,
  POST_FIELDS,
  REFUSED,
  SECRET,
  WAYS_TO_ACCOUNT,
  WAYS_TO_POST,
} from '../kit/id-ways.ts'
import { Person, type ShownPost } from '../kit/people.ts'
import { World } from '../kit/world.ts'

const schema = buildASTSchema(parse(typeDefs))

describe('the tables of this test', () => {
  test('name every field of the schema that takes an id, and no other', () => {
    const named = new Set([...Object.keys(POST_FIELDS), ...Object.keys(ACCOUNT_FIELDS)])
    expect(named).toEqual(new Set(idTakingFields(schema)))
  })

  test.each([
    ['a post', 'Post', WAYS_TO_POST],
    ['an account', 'Account', WAYS_TO_ACCOUNT],
  ])('name every field of the schema that leads to %s, and no other', (_what, type, ways) => {
    const fields = fieldsLeadingTo(schema, type).filter((field) => field !== 'Query.viewer')
    expect(new Set(Object.keys(ways))).toEqual(new Set(fields))
  })
})

describe.each(engines)('who knows an id on %s', (engine) => {
  let world: World
  let host: Person
  let fan: Person
  let handles = 0
  beforeAll(async () => {
    world = await World.open({ engine })
    host = await newcomer()
    fan = await newcomer()
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const newcomer = (more: object = {}): Promise<Person> => {
    handles += 1
    return Person.signUp(world, `person${handles}`, { displayName: SECRET, ...more })
  }

  const relate = async (who: Person, name: string, other: Person): Promise<void> => {
    const document = `mutation ($input: RelationInput!) { ${name}(input: $input) { ${REFUSED} } }`
    const data = await who.asks<Record<string, { userErrors: unknown }>>(document, {
      input: { accountId: other.id },
    })
    expect(data[name]?.userErrors).toEqual([])
  }

  const becomePrivate = async (who: Person): Promise<void> => {
    const document = `mutation { updateProfile(input: { isPrivate: true }) { ${REFUSED} } }`
    await who.asks(document)
  }

  /** An author with a follower, and a post with everything that can point at it. */
  const stage = async () => {
    const [author, viewer] = [await newcomer(), await newcomer()]
    await relate(fan, 'follow', author)
    const open = await host.posts('come in')
    const hidden = await author.posts(SECRET)
    await author.posts(SECRET, { replyToId: open.id })
    const reply = await fan.posts('a reply', { replyToId: hidden.id })
    const nested = await host.posts('a reply to it', { replyToId: reply.id })
    const quote = await fan.posts('my words', { reshareOfId: hidden.id })
    const reshare = await fan.does('reshare', { postId: hidden.id })
    await viewer.asks(onPost('save'), { id: hidden.id })
    const around: Around = {
      ...{ hidden: hidden.id, reply: reply.id, nested: nested.id, quote: quote.id },
      ...{ reshare: reshare.id, open: open.id, handle: author.handle },
    }
    return { author, viewer, around }
  }
  type Stage = Awaited<ReturnType<typeof stage>>

  /** How posts come to be hidden from the viewer of a stage, whom it is then hidden from. */
  const hideAll = async (author: Person, change: (post: ShownPost) => Promise<unknown>) => {
    const { edges } = await author.postsOf(author.handle, { first: 100 })
    for (const { node } of edges) await change(node)
  }
  const hiding = {
    'a stranger, of posts for followers': ({ author }: Stage) =>
      hideAll(author, ({ id }) =>
        author.does('changeVisibility', { postId: id, visibility: 'FOLLOWERS' }),
      ),
    'a stranger, of posts for nobody': ({ author }: Stage) =>
      hideAll(author, ({ id }) =>
        author.does('changeVisibility', { postId: id, visibility: 'PRIVATE' }),
      ),
    'a stranger, of a private account': ({ author }: Stage) => becomePrivate(author),
    'who has asked to follow a private account': async ({ author, viewer }: Stage) => {
      await becomePrivate(author)
      await relate(viewer, 'follow', author)
    },
    'whom the author blocks': ({ author, viewer }: Stage) => relate(author, 'block', viewer),
    'who blocks the author': ({ author, viewer }: Stage) => relate(viewer, 'block', author),
    'a stranger, of deleted posts': ({ author }: Stage) =>
      hideAll(author, ({ id }) => author.deletes(id)),
    'a follower, of deleted posts': async ({ author, viewer }: Stage) => {
      await relate(viewer, 'follow', author)
      await hideAll(author, ({ id }) => author.deletes(id))
    },
    'a follower, of posts for nobody': async ({ author, viewer }: Stage) => {
      await relate(viewer, 'follow', author)
      await hideAll(author, ({ id }) =>
        author.does('changeVisibility', { postId: id, visibility: 'PRIVATE' }),
      )
    },
  }

  /** Hidden from who is not signed in. */
  const SIGNED_OUT = [
    'a stranger, of posts for followers',
    'a stranger, of a private account',
    'a stranger, of deleted posts',
  ] as const

  const answer = async (who: Person | undefined, document: string, id: string) => {
    const { data, errors, status } = await world.graphql(who, document, { id })
    return JSON.stringify({ data, errors, status }).replaceAll(id, 'the id')
  }

  const nowhere = (type: string): string => toGlobalId(type, world.platform.ids.next())

  const looksLikeNothing = async (
    who: Person | undefined,
    [field, document]: readonly [string, string],
    target: { readonly type: string; readonly id: string },
  ) => {
    const found = await answer(who, document, target.id)
    expect(found, field).toBe(await answer(who, document, nowhere(target.type)))
    expect(found, field).not.toContain(SECRET)
  }

  const statesOf = async (author: Person, ids: readonly string[]) => {
    const document = `query ($ids: [ID!]!) {
      nodes(ids: $ids) { ... on Post { text visibility likeCount replyCount reshareCount } }
    }`
    return await author.asks(document, { ids })
  }

  test.for(Object.entries(hiding))('learns nothing and changes nothing: %s', async ([, hide]) => {
    const scene = await stage()
    await hide(scene)
    const { author, viewer, around } = scene
    const before = await statesOf(author, [around.hidden])
    for (const row of Object.entries(POST_FIELDS)) {
      await looksLikeNothing(viewer, row, { type: 'Post', id: around.hidden })
    }
    await world.settle()
    expect(await statesOf(author, [around.hidden])).toEqual(before)
  })

  test.for(SIGNED_OUT)('learns nothing signed out, as %s', async (name) => {
    const scene = await stage()
    await hiding[name](scene)
    for (const row of Object.entries(POST_FIELDS)) {
      await looksLikeNothing(undefined, row, { type: 'Post', id: scene.around.hidden })
    }
  })

  test.for(Object.entries(hiding))('finds no other way: %s', async ([, hide]) => {
    const scene = await stage()
    const { viewer, around } = scene
    const seen = async (way: string) => {
      const { data, errors } = await world.graphql(viewer, askWay(way), { ...around })
      expect(errors).toEqual([])
      return JSON.stringify(data).includes(SECRET)
    }
    // Each leads there while the post can be seen: a way that never did would prove nothing.
    for (const [field, way] of Object.entries(WAYS_TO_POST)) {
      expect(await seen(way), field).toBe(true)
    }
    await hide(scene)
    for (const [field, way] of Object.entries(WAYS_TO_POST)) {
      expect(await seen(way), field).toBe(false)
    }
  })

  test('who may see a post gets another answer than for nothing, from every field', async () => {
    const { author, viewer } = await stage()
    for (const [field, document] of Object.entries(POST_FIELDS)) {
      const who = OWN_FIELDS.includes(field) ? author : viewer
      const { id } = await author.posts('for everybody')
      if (field.includes('unreshare')) await who.asks(onPost('reshare'), { id })
      const found = await answer(who, document, id)
      expect(found, field).not.toContain('"code"')
      expect(found, field).not.toBe(await answer(who, document, nowhere('Post')))
    }
  })

  test('a post that everybody sees can be changed by its author alone', async () => {
    const { author, viewer } = await stage()
    const { id } = await author.posts('mine')
    const before = await statesOf(author, [id])
    for (const field of OWN_FIELDS) {
      for (const who of [viewer, fan, undefined]) {
        const found = await answer(who, POST_FIELDS[field] ?? '', id)
        expect(found, field).toMatch(/"code":"(NOT_FOUND|FORBIDDEN|UNAUTHENTICATED)"/)
      }
    }
    expect(await statesOf(author, [id])).toEqual(before)
  })

  test('an account shows nothing of itself to whom it blocks', async () => {
    const { author, viewer } = await stage()
    await relate(author, 'block', viewer)
    for (const [field, document] of Object.entries(ACCOUNT_FIELDS)) {
      expect(await answer(viewer, document, author.id), field).not.toContain(SECRET)
    }
    for (const field of [
      'Query.node(id)',
      'Query.nodes(ids)',
      'Mutation.follow(input.accountId)',
    ]) {
      const row = [field, ACCOUNT_FIELDS[field] ?? ''] as const
      await looksLikeNothing(viewer, row, { type: 'Account', id: author.id })
    }
    const byHandle = 'query ($id: String!) { account(handle: $id) { handle displayName } }'
    expect(await answer(viewer, byHandle, author.handle)).toBe(
      await answer(viewer, byHandle, 'nobody.at.all'),
    )
  })

  test('no way leads to an account that blocks the caller, but their own lists', async () => {
    const { author, viewer, around } = await stage()
    const friend = await newcomer({ displayName: 'a friend' })
    await relate(author, 'follow', friend)
    await relate(friend, 'follow', author)
    await relate(viewer, 'mute', author)
    await becomePrivate(viewer)
    await relate(author, 'follow', viewer)
    const mention = await viewer.posts(`hello @${author.handle}`)
    const variables = { ...around, author: author.id, mention: mention.id, friend: friend.handle }
    const seen = async (way: string) => {
      const { data } = await world.graphql(viewer, askWay(way), variables)
      return JSON.stringify(data).includes(SECRET)
    }
    for (const [field, way] of Object.entries(WAYS_TO_ACCOUNT)) {
      if (field !== 'Query.blockedAccounts') expect(await seen(way), field).toBe(true)
    }
    await relate(viewer, 'block', author)
    await relate(author, 'block', viewer)
    for (const [field, way] of Object.entries(WAYS_TO_ACCOUNT)) {
      expect(await seen(way), field).toBe(OWN_LISTS.includes(field))
    }
  })

  test('an id of another kind is refused, whatever it names', async () => {
    const { author, viewer, around } = await stage()
    const wrong = async (fields: Readonly<Record<string, string>>, id: string) => {
      for (const [field, document] of Object.entries(fields)) {
        if (field.startsWith('Query.node')) continue
        expect(await answer(viewer, document, id), field).toContain('"code":"BAD_INPUT"')
      }
    }
    await wrong(POST_FIELDS, author.id)
    await wrong(ACCOUNT_FIELDS, around.hidden)
  })
})
