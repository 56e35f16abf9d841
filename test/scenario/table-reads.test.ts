/** A page costs the same few reads of the tables, however long it is and whoever wrote it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { composeServices } from '../../services/compose.ts'
import { type EngineName, engines } from '../kit/engines.ts'
import { GraphqlClient } from '../kit/graphql-client.ts'
import { openCounts } from '../kit/open-counts.ts'
import { OpenGateway } from '../kit/open-gateway.ts'
import { openPending } from '../kit/open-pending.ts'
import { Person } from '../kit/people.ts'
import { readTables } from '../kit/watched-tables.ts'
import { World } from '../kit/world.ts'

const AUTHORS = 40
const SHORT = 5
/** Posts, authors and ties for the page and for what its posts point at; the viewer's own state. */
const READS_MAX = 20
/** Likes, replies, reshares; followers and posts of authors; likes of what is pointed at. */
const COUNTS = 6

const POST = `id text createdAt visibility editedAt
  author { handle displayName followersCount postsCount viewerFollows viewerBlocks followsViewer }
  likeCount replyCount reshareCount viewerHasLiked viewerHasSaved viewerHasReshared viewerHasHidden
  replyTo { id text author { handle } } quote { id text likeCount author { handle } }
  reshareOf { id text likeCount author { handle } }`

const PAGES = {
  'an account and its posts': `query ($first: Int!, $handle: String!) {
    account(handle: $handle) { handle posts(first: $first) { edges { node { ${POST} } } } }
  }`,
  'a post and its replies': `query ($first: Int!, $id: ID!) {
    post(id: $id) { id replies(first: $first) { edges { node { ${POST} } } } }
  }`,
  'saved posts': `query ($first: Int!) {
    savedPosts(first: $first) { edges { node { ${POST} } } }
  }`,
} as const

/** A gateway on the engines of a world that counts its reads. */
const openWatched = async (world: World) => {
  const { tables, reads } = readTables(world.platform.tables)
  const counts = openCounts({ tables, cache: world.platform.cache })
  const pending = openPending(tables, world.clock)
  const platform = { ...world.platform, tables, counts, pending }
  const services = composeServices(platform, world.settings)
  const gateway = await OpenGateway.open({ settings: world.settings, platform, services })
  const client = new GraphqlClient(gateway.address)
  return {
    /** What a page costs, and how many posts are on it. */
    cost: async (reader: Person, document: string, variables: object) => {
      // Who asks is looked up about once a second: here, before.
      await client.ask(reader, '{ viewer { id } }')
      const before = reads()
      const { data, errors } = await client.ask(reader, document, { ...variables })
      // What was counted is put into the cache after the answer.
      await counts[Symbol.asyncDispose]()
      expect(errors).toEqual([])
      const posts = JSON.stringify(data).match(/"node":/g)?.length ?? 0
      return { posts, reads: reads() - before }
    },
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]()
      await counts[Symbol.asyncDispose]()
    },
  }
}

/** A thread of replies by as many authors, each liked, quoting and saved. */
const fill = async (world: World) => {
  const reader = await Person.signUp(world, 'reader')
  const host = await Person.signUp(world, 'host')
  const { id } = await host.posts('who is there?')
  for (let count = 0; count < AUTHORS; count += 1) {
    const author = await Person.signUp(world, `author${count}`)
    const reply = { replyToId: id, reshareOfId: id }
    const answer = await author.posts(`number ${count}`, reply)
    await host.posts(`noted ${count}`, { replyToId: answer.id, reshareOfId: answer.id })
    const document = `mutation ($input: EngagementInput!) {
      like(input: $input) { post { id } } save(input: $input) { post { id } }
    }`
    await reader.asks(document, { input: { postId: answer.id } })
  }
  await world.settle()
  return { reader, variables: { handle: 'host', id } }
}

describe.each(engines)('a page on %s', (engine: EngineName) => {
  let world: World
  let filled: Awaited<ReturnType<typeof fill>>
  beforeAll(async () => {
    world = await World.open({ engine })
    filled = await fill(world)
  }, 120_000)
  afterAll(() => world?.[Symbol.asyncDispose]())

  test.for(Object.entries(PAGES))('costs as many reads long as short: %s', async ([, document]) => {
    await using watched = await openWatched(world)
    const { reader, variables } = filled
    const cost = (first: number) => watched.cost(reader, document, { ...variables, first })
    // The first finds no counts in the cache, and puts them there.
    const cold = await cost(AUTHORS)
    // Except for those whose token, from a change 10 s ago, ran out just then: these come now.
    await cost(AUTHORS)
    const [long, short] = [await cost(AUTHORS), await cost(SHORT)]
    expect([cold.posts, long.posts, short.posts]).toEqual([AUTHORS, AUTHORS, SHORT])
    expect(long.reads).toBe(short.reads)
    expect(long.reads).toBeLessThanOrEqual(READS_MAX)
    expect(cold.reads).toBeLessThanOrEqual(READS_MAX + COUNTS)
  })
})
