import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toGlobalId } from '../../gateway/relay/global-id.ts'
import { FollowChanged, topics } from '../../services/kernel/events.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { engines } from '../kit/engines.ts'
import { type Member, type Refused, signUp } from '../kit/members.ts'
import { World } from '../kit/world.ts'

const STANDING = `account { handle followersCount followingCount viewerFollows viewerRequested
  viewerBlocks viewerMutes followsViewer }`

interface Standing {
  readonly handle: string
  readonly followersCount: number
  readonly followingCount: number
  readonly viewerFollows: boolean
  readonly viewerRequested: boolean
  readonly viewerBlocks: boolean
  readonly viewerMutes: boolean
  readonly followsViewer: boolean
}

interface Connection {
  readonly edges: readonly { readonly node: { readonly handle: string } }[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}

const PAGE = 'edges { node { handle } cursor } pageInfo { hasNextPage endCursor }'

const heard: { state: string; follower: bigint; followed: bigint }[] = []
const listener = defineWorker({
  name: 'graph-listener',
  role: 'audit',
  topic: topics.graph,
  handlers: [
    on(FollowChanged, async ({ data }) => {
      heard.push({ state: data.state, follower: data.followerId, followed: data.followedId })
    }),
  ],
})

describe.each(engines)('the graph over GraphQL on %s', (engine) => {
  let world: World
  let people = 0
  beforeAll(async () => {
    world = await World.open({
      engine,
      workers: [listener],
      variables: { TRIBUTARY_LISTS_PART_ROWS: '3', TRIBUTARY_LISTS_MEASURE_EVERY: '1' },
    })
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const somebody = (profile: { isPrivate?: boolean } = {}): Promise<Member> => {
    people += 1
    return signUp(world, `person${people}`, profile)
  }
  const pair = (): Promise<[Member, Member]> => Promise.all([somebody(), somebody()])
  const change = async (who: Member, name: string, other: Member) => {
    const { account, userErrors } = await who.does<{ account: Standing | null }>(
      name,
      { accountId: other.id },
      STANDING,
    )
    return { account, userErrors }
  }
  const done = async (who: Member, name: string, other: Member): Promise<Standing> => {
    const { account, userErrors } = await change(who, name, other)
    expect(userErrors).toEqual([])
    if (!account) throw new Error(`${name} shows no account`)
    return account
  }
  const refused = async (who: Member, name: string, other: Member): Promise<readonly Refused[]> => {
    const { account, userErrors } = await change(who, name, other)
    expect(account).toBeNull()
    return userErrors
  }
  const look = async (who: Member | undefined, at: Member): Promise<Standing | null> => {
    const document = `query ($handle: String!) { account(handle: $handle) ${STANDING.replace('account', '')} }`
    const { data } = await world.graphql<{ account: Standing | null }>(who, document, {
      handle: at.handle,
    })
    return data?.account ?? null
  }
  const list = async (
    who: Member | undefined,
    owner: Member,
    name: 'followers' | 'following',
    args = '',
  ): Promise<string[] | null> => {
    const document = `query ($id: ID!) { node(id: $id) { ... on Account { ${name}${args} { ${PAGE} } } } }`
    const { data } = await world.graphql<{ node: Record<string, Connection | null> | null }>(
      who,
      document,
      { id: owner.id },
    )
    const found = data?.node?.[name]
    return found ? found.edges.map(({ node }) => node.handle) : null
  }
  const own = async (who: Member, name: string): Promise<string[]> => {
    const data = await who.ask<Record<string, Connection>>(`{ ${name}(first: 100) { ${PAGE} } }`)
    return (data[name]?.edges ?? []).map(({ node }) => node.handle)
  }

  const followersAfter = async (owner: Member, after: string | null): Promise<Connection> => {
    const document = `query ($id: ID!, $after: Cursor) { node(id: $id) { ... on Account {
      followers(first: 4, after: $after) { ${PAGE} } } } }`
    const data = await owner.ask<{ node: { followers: Connection } }>(document, {
      id: owner.id,
      after,
    })
    return data.node.followers
  }

  test('GRA-1: a follow shows at once on both ends, with exact counts', async () => {
    const [ada, bo] = await pair()
    expect(await done(ada, 'follow', bo)).toMatchObject({
      ...{ viewerFollows: true, viewerRequested: false, followsViewer: false },
      ...{ followersCount: 1, followingCount: 0 },
    })
    expect(await look(bo, ada)).toMatchObject({ followsViewer: true, followingCount: 1 })
    expect(await list(ada, bo, 'followers')).toEqual([ada.handle])
    expect(await list(bo, ada, 'following')).toEqual([bo.handle])
    expect(await list(undefined, ada, 'following')).toEqual([bo.handle])
  })

  test('GRA-1: a repeated follow and a repeated unfollow change nothing', async () => {
    const [ada, bo] = await pair()
    const first = await done(ada, 'follow', bo)
    await world.pass(300_000)
    expect(await done(ada, 'follow', bo)).toEqual(first)
    expect(await list(ada, bo, 'followers')).toEqual([ada.handle])
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await done(ada, 'unfollow', bo)).toMatchObject({
        viewerFollows: false,
        followersCount: 0,
      })
      expect(await list(ada, bo, 'followers')).toEqual([])
      expect(await list(ada, ada, 'following')).toEqual([])
    }
    expect(await done(ada, 'follow', bo)).toMatchObject({ viewerFollows: true, followersCount: 1 })
    expect(await list(ada, bo, 'followers')).toEqual([ada.handle])
  })

  test('GRA-1: what changed is announced, each change once', async () => {
    const [ada, bo] = await pair()
    await done(ada, 'follow', bo)
    await done(ada, 'unfollow', bo)
    await world.settle()
    const mine = heard.filter(({ follower }) => follower === ada.accountId)
    expect(mine.map(({ state, followed }) => [state, followed])).toEqual([
      ['following', bo.accountId],
      ['none', bo.accountId],
    ])
  })

  test('GRA-1: two changes in one request show what each has led to', async () => {
    const [ada, bo] = await pair()
    const data = await ada.ask<Record<'one' | 'two', { account: Standing }>>(
      `mutation ($input: RelationInput!) {
        one: follow(input: $input) { ${STANDING} }
        two: unfollow(input: $input) { ${STANDING} }
      }`,
      { input: { accountId: bo.id } },
    )
    expect(data.one.account).toMatchObject({ viewerFollows: true, followersCount: 1 })
    expect(data.two.account).toMatchObject({ viewerFollows: false, followersCount: 0 })
  })

  test('GRA-1: nobody follows, blocks or mutes themselves, nor somebody who is not there', async () => {
    const ada = await somebody()
    for (const name of ['follow', 'block', 'mute', 'removeFollower']) {
      expect(await refused(ada, name, ada)).toMatchObject([
        { code: 'BAD_INPUT', field: 'accountId' },
      ])
      const nobody = { accountId: toGlobalId('Account', 2n ** 62n + 1n) }
      const { userErrors } = await ada.does(name, nobody, STANDING)
      expect(userErrors).toMatchObject([{ code: 'NOT_FOUND', field: 'accountId' }])
    }
  })

  test('GRA-2: who follows a private account asks first', async () => {
    const [ada, pia] = [await somebody(), await somebody({ isPrivate: true })]
    const asking = await done(ada, 'follow', pia)
    expect(asking).toMatchObject({ viewerFollows: false, viewerRequested: true, followersCount: 0 })
    expect(await done(ada, 'follow', pia)).toEqual(asking)
    expect(await own(pia, 'followRequests')).toEqual([ada.handle])
    expect(await own(ada, 'followRequests')).toEqual([])
    expect(await done(pia, 'acceptFollowRequest', ada)).toMatchObject({ followsViewer: true })
    expect(await done(pia, 'acceptFollowRequest', ada)).toMatchObject({ followsViewer: true })
    expect(await own(pia, 'followRequests')).toEqual([])
    expect(await look(ada, pia)).toMatchObject({
      ...{ viewerFollows: true, viewerRequested: false, followersCount: 1 },
    })
    expect(await refused(pia, 'refuseFollowRequest', ada)).toMatchObject([{ code: 'CONFLICT' }])
  })

  test('GRA-2: a refused request is gone, and may be made again', async () => {
    const [ada, pia] = [await somebody(), await somebody({ isPrivate: true })]
    expect(await refused(pia, 'acceptFollowRequest', ada)).toMatchObject([{ code: 'NOT_FOUND' }])
    await done(ada, 'follow', pia)
    await done(pia, 'refuseFollowRequest', ada)
    await done(pia, 'refuseFollowRequest', ada)
    expect(await look(ada, pia)).toMatchObject({ viewerFollows: false, viewerRequested: false })
    expect(await own(pia, 'followRequests')).toEqual([])
    await done(ada, 'follow', pia)
    expect(await own(pia, 'followRequests')).toEqual([ada.handle])
    await done(ada, 'unfollow', pia)
    expect(await own(pia, 'followRequests')).toEqual([])
  })

  test('GRA-2: a request stays open when the account becomes public, until it is asked again', async () => {
    const [ada, pia] = [await somebody(), await somebody({ isPrivate: true })]
    await done(ada, 'follow', pia)
    await pia.does('updateProfile', { isPrivate: false }, 'account { handle }')
    expect(await look(ada, pia)).toMatchObject({ viewerFollows: false, viewerRequested: true })
    expect(await own(pia, 'followRequests')).toEqual([ada.handle])
    expect(await done(ada, 'follow', pia)).toMatchObject({ viewerFollows: true })
    expect(await own(pia, 'followRequests')).toEqual([])
  })

  test('GRA-2: the lists of a private account are for itself and its followers', async () => {
    const [ada, bo, pia] = [await somebody(), await somebody(), await somebody({ isPrivate: true })]
    await done(ada, 'follow', pia)
    await done(pia, 'acceptFollowRequest', ada)
    await done(pia, 'follow', bo)
    for (const name of ['followers', 'following'] as const) {
      const expected = [name === 'followers' ? ada.handle : bo.handle]
      expect(await list(pia, pia, name)).toEqual(expected)
      expect(await list(ada, pia, name)).toEqual(expected)
      expect(await list(bo, pia, name)).toBeNull()
      expect(await list(undefined, pia, name)).toBeNull()
    }
  })

  test('GRA-3: a block ends follows and requests both ways and forbids new ones', async () => {
    const [ada, bo] = await pair()
    await done(ada, 'follow', bo)
    await done(bo, 'follow', ada)
    const blocking = await done(ada, 'block', bo)
    expect(blocking).toMatchObject({
      ...{ viewerBlocks: true, viewerFollows: false, followsViewer: false },
      ...{ followersCount: 0, followingCount: 0 },
    })
    expect(await done(ada, 'block', bo)).toEqual(blocking)
    expect(await own(ada, 'blockedAccounts')).toEqual([bo.handle])
    expect(await list(ada, ada, 'followers')).toEqual([])
    expect(await list(bo, bo, 'following')).toEqual([])
    expect(await refused(ada, 'follow', bo)).toMatchObject([{ code: 'FORBIDDEN' }])
    expect(await refused(bo, 'follow', ada)).toMatchObject([{ code: 'NOT_FOUND' }])
    await done(ada, 'unblock', bo)
    expect(await own(ada, 'blockedAccounts')).toEqual([])
    expect(await look(bo, ada)).toMatchObject({ viewerFollows: false, followsViewer: false })
    await done(bo, 'follow', ada)
  })

  test('GRA-3: whom an account blocks it is not there for', async () => {
    const [ada, bo, cy] = [await somebody(), await somebody(), await somebody()]
    await done(ada, 'follow', cy)
    await done(bo, 'follow', cy)
    await done(ada, 'block', bo)
    expect(await look(bo, ada)).toBeNull()
    expect(await look(undefined, ada)).not.toBeNull()
    expect(await look(ada, bo)).toMatchObject({ viewerBlocks: true })
    expect(await list(bo, ada, 'following')).toBeNull()
    expect(await list(ada, bo, 'following')).toBeNull()
    expect(await list(bo, cy, 'followers')).toEqual([bo.handle])
    expect(await list(ada, cy, 'followers')).toEqual([ada.handle])
    expect(await list(cy, cy, 'followers')).toEqual([bo.handle, ada.handle])
    const nodes = '{ nodes(ids: $ids) { id } }'
    const { nodes: found } = await bo.ask<{ nodes: unknown[] }>(`query ($ids: [ID!]!) ${nodes}`, {
      ids: [ada.id, cy.id],
    })
    expect(found).toEqual([null, { id: cy.id }])
  })

  test('GRA-3: who is blocked can block back', async () => {
    const [ada, bo] = await pair()
    await done(ada, 'block', bo)
    expect(await change(bo, 'block', ada)).toEqual({ account: null, userErrors: [] })
    expect(await change(ada, 'unblock', bo)).toEqual({ account: null, userErrors: [] })
    expect(await look(ada, bo)).toBeNull()
    expect(await own(bo, 'blockedAccounts')).toEqual([ada.handle])
  })

  test('GRA-3: a mute is known to the muter alone and leaves follows as they are', async () => {
    const [ada, bo] = await pair()
    await done(ada, 'follow', bo)
    expect(await done(ada, 'mute', bo)).toMatchObject({ viewerMutes: true, viewerFollows: true })
    expect(await done(ada, 'mute', bo)).toMatchObject({ viewerMutes: true })
    expect(await look(bo, ada)).toMatchObject({ viewerMutes: false, followsViewer: true })
    expect(await own(ada, 'mutedAccounts')).toEqual([bo.handle])
    expect(await done(ada, 'unmute', bo)).toMatchObject({ viewerMutes: false })
    expect(await own(ada, 'mutedAccounts')).toEqual([])
  })

  test('GRA-3: a follower is removed without a block', async () => {
    const [ada, bo] = await pair()
    await done(ada, 'follow', bo)
    expect(await done(bo, 'removeFollower', ada)).toMatchObject({ followsViewer: false })
    expect(await done(bo, 'removeFollower', ada)).toMatchObject({ followsViewer: false })
    expect(await look(ada, bo)).toMatchObject({ viewerFollows: false, followersCount: 0 })
    expect(await done(ada, 'follow', bo)).toMatchObject({ viewerFollows: true })
  })

  test('GRA-7: a list is read page by page, newest first, over all its parts', async () => {
    const ada = await somebody()
    const fans: Member[] = []
    for (let count = 0; count < 11; count += 1) {
      const fan = await somebody()
      await done(fan, 'follow', ada)
      await world.clock.advance(1_000)
      fans.push(fan)
    }
    const pages: string[][] = []
    let page: Connection | undefined
    do {
      page = await followersAfter(ada, page?.pageInfo.endCursor ?? null)
      pages.push(page.edges.map(({ node }) => node.handle))
    } while (page.pageInfo.hasNextPage)
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 3])
    expect(pages.flat()).toEqual(fans.map(({ handle }) => handle).reverse())
  })

  test('GRA-7: a page is of 1 to 100, and a cursor of another list is refused', async () => {
    const [ada, bo] = await pair()
    await done(ada, 'follow', bo)
    const ask = (args: string) =>
      world.graphql(ada, `{ account(handle: "${bo.handle}") { followers(${args}) { ${PAGE} } } }`)
    expect((await ask('first: 101')).codes).toEqual(['BAD_INPUT'])
    expect((await ask('first: 0')).codes).toEqual(['BAD_INPUT'])
    const { viewer } = await ada.ask<{ viewer: { following: Connection } }>(
      `{ viewer { following { ${PAGE} } } }`,
    )
    const foreign = viewer.following.pageInfo.endCursor
    expect((await ask(`after: "${foreign}"`)).codes).toEqual(['CURSOR_INVALID'])
  })

  test('ACC-3: nobody changes anything or reads own lists without signing in', async () => {
    const ada = await somebody()
    const { codes } = await world.graphql(undefined, '{ followRequests { edges { cursor } } }')
    expect(codes).toEqual(['UNAUTHENTICATED'])
    const follow = `mutation { follow(input: { accountId: "${ada.id}" }) { account { id } } }`
    expect((await world.graphql(undefined, follow)).codes).toEqual(['UNAUTHENTICATED'])
    expect(await look(undefined, ada)).toMatchObject({ viewerFollows: false, followsViewer: false })
  })
})
