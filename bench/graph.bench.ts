/**
 * The graph over HTTP: how deep a page of a list of a million followers lies must not matter, nor how
 * many others change their own relations at the same time.
 *
 * The list is written straight into its tables, in parts of ten thousand as follows would leave it. An
 * account is there for every follower that is read.
 */
import type { AccountId } from '../services/accounts/accounts.ts'
import { firstIdAt } from '../services/kernel/ids.ts'
import { accounts, followers, listParts } from '../services/platform/generated/tables.ts'
import { put, type Tables } from '../services/platform/tables.ts'
import { GraphqlClient } from '../test/kit/graphql-client.ts'
import { type Member, signUp } from '../test/kit/members.ts'
import { World } from '../test/kit/world.ts'
import type { Bench, BenchEngine, Figure, Work } from './kit.ts'

const FOLLOWERS: Readonly<Record<BenchEngine, number>> = { embedded: 1_000_000, cluster: 100_000 }
const PART_ROWS = 10_000
const BATCH_ROWS = 500
const PAGE = 20
const DEEP_PAGE = 50
const READ_ACCOUNTS = PAGE * (DEEP_PAGE + 1)
const READS = 100
const CLIENTS = 32

/** The newest follower has the highest number; each came a second after the one before. */
const followerId = (number: number): AccountId =>
  (firstIdAt(START_MS) + BigInt(number)) as AccountId
const START_MS = Date.UTC(2021, 0, 1)

const fill = async (tables: Tables, owner: AccountId, count: number): Promise<void> => {
  for (let from = 0; from < count; from += BATCH_ROWS) {
    const part = Math.floor(from / PART_ROWS)
    const rows = Array.from({ length: BATCH_ROWS }, (_none, index) => {
      const number = from + index
      const since = START_MS + number * 1_000
      const key = { accountId: owner, part, since, otherId: followerId(number) }
      return put(followers, { ...key, version: 1n }, { version: 1n })
    })
    await tables.write(rows)
  }
  for (let part = 1; part < count / PART_ROWS; part += 1) {
    await tables.insertIfAbsent(listParts, { list: 'followers', owner, part, openedAt: START_MS })
  }
  for (let number = count - READ_ACCOUNTS; number < count; number += 1) {
    const id = followerId(number)
    await tables.write([put(accounts, { id, handle: `fan${number}`, createdAt: START_MS })])
  }
}

const PAGE_QUERY = `query ($id: ID!, $first: Int, $after: Cursor) { node(id: $id) { ... on Account {
  followers(first: $first, after: $after) {
    edges { node { id handle displayName } } pageInfo { hasNextPage endCursor }
  }
} } }`

interface PageData {
  readonly node: {
    readonly followers: {
      readonly edges: readonly unknown[]
      readonly pageInfo: { readonly endCursor: string }
    }
  }
}

/** A page of an owner's followers, asked for by the owner. */
class FollowerPages {
  readonly #client: GraphqlClient
  readonly #owner: Member

  constructor(address: string, owner: Member) {
    this.#client = new GraphqlClient(address)
    this.#owner = owner
  }

  async read(after: string | null): Promise<string> {
    const variables = { id: this.#owner.id, first: PAGE, after }
    const { data } = await this.#client.ask<PageData>(this.#owner, PAGE_QUERY, variables)
    if (data?.node.followers.edges.length !== PAGE) throw new Error('a page is not full')
    return data.node.followers.pageInfo.endCursor
  }

  /** Where a page begins. */
  async walkTo(page: number): Promise<string | null> {
    let after: string | null = null
    for (let turn = 1; turn < page; turn += 1) after = await this.read(after)
    return after
  }

  /** The same page again and again. */
  reading(after: string | null): Work {
    return async () => {
      for (let turn = 0; turn < READS; turn += 1) await this.read(after)
      return READS
    }
  }
}

const RELATION = (name: string) =>
  `mutation ($input: RelationInput!) { ${name}(input: $input) { userErrors { code } } }`

/** Each of the members follows the next and unfollows again, all at once. */
const pairsOverHttp = (address: string, members: readonly Member[]): Work => {
  const client = new GraphqlClient(address)
  const change = async (name: string, who: Member, other: Member): Promise<void> => {
    const variables = { input: { accountId: other.id } }
    const { errors } = await client.ask(who, RELATION(name), variables)
    if (errors.length > 0) throw new Error(JSON.stringify(errors))
  }
  return async () => {
    await eachWithNext(members, async (who, other) => {
      await change('follow', who, other)
      await change('unfollow', who, other)
    })
    return members.length
  }
}

/** The same, without a network and a query between. */
const pairsAtTheDoor = (world: World, members: readonly Member[]): Work => {
  const { graph } = world.services
  return async () => {
    await eachWithNext(members, async (who, other) => {
      await graph.follow(who.accountId, other.accountId)
      await graph.unfollow(who.accountId, other.accountId)
    })
    return members.length
  }
}

const eachWithNext = async (
  members: readonly Member[],
  act: (who: Member, other: Member) => Promise<void>,
): Promise<void> => {
  await Promise.all(
    members.map((who, index) => act(who, members[(index + 1) % members.length] ?? who)),
  )
}

export const bench: Bench = {
  name: 'graph',
  engines: ['embedded', 'cluster'],
  about: 'deep pages of long lists, and changes of relations',
  run: async (engine, kit) => {
    await using world = await World.open({ engine, workers: [] })
    const address = await world.address()
    const owner = await signUp(world, 'owner')
    kit.say(`writing ${FOLLOWERS[engine]} followers`)
    await fill(world.platform.tables, owner.accountId, FOLLOWERS[engine])
    const pages = new FollowerPages(address, owner)
    const figures: Figure[] = []
    figures.push(
      await kit.contest({
        name: `page ${DEEP_PAGE} of ${FOLLOWERS[engine].toLocaleString('en')} followers`,
        ours: pages.reading(await pages.walkTo(DEEP_PAGE)),
        reference: pages.reading(null),
        referenceName: 'page 1',
        goal: 0.9,
      }),
    )
    const members: Member[] = []
    for (let index = 0; index < CLIENTS; index += 1) {
      members.push(await signUp(world, `member${index}`))
    }
    figures.push(
      await kit.contest({
        name: `follow + unfollow over HTTP, ${CLIENTS} clients`,
        ours: pairsOverHttp(address, members),
        reference: pairsAtTheDoor(world, members),
        referenceName: 'the same at the door',
        // How much of the time goes to HTTP is shown, not judged.
        goal: null,
      }),
    )
    return figures
  },
}
