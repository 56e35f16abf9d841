/** What the graph tells the feed: a reader's graph version, and the mode of an author. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AccountId } from '../../services/accounts/accounts.ts'
import type { GraphService } from '../../services/graph/graph.ts'
import { AuthorModeChanged, topics } from '../../services/kernel/events.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { engines } from '../kit/engines.ts'
import { openAccounts, openGraphProcess } from '../kit/graphs.ts'
import { World } from '../kit/world.ts'

const STALE_MS = 5_000

const heard: { author: bigint; mode: string; version: bigint }[] = []
const listener = defineWorker({
  name: 'mode-listener',
  role: 'audit',
  topic: topics.graph,
  handlers: [
    on(AuthorModeChanged, async ({ data }) => {
      heard.push({ author: data.authorId, mode: data.mode, version: data.version })
    }),
  ],
})

describe.each(engines)('what the graph tells the feed on %s', (engine) => {
  let world: World
  let graph: GraphService
  let people = 0
  beforeAll(async () => {
    heard.length = 0
    world = await World.open({
      engine,
      workers: [listener],
      variables: { TRIBUTARY_GRAPH_PULL_FOLLOWERS: '5', TRIBUTARY_GRAPH_CHANGES_KEPT: '10' },
    })
    graph = world.services.graph
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const some = (count: number): Promise<AccountId[]> => {
    people += count
    return openAccounts(
      world,
      Array.from({ length: count }, (_, index) => `person${people - index}`),
    )
  }
  const two = async (): Promise<[AccountId, AccountId]> => {
    const [ada, bo] = await some(2)
    if (!ada || !bo) expect.unreachable('two were made')
    return [ada, bo]
  }
  const modeOf = async (author: AccountId) => (await graph.modeOf([author]))[0]?.mode

  test('whatever changes a feed is counted, and names the author', async () => {
    const [ada, bo] = await two()
    expect(await graph.changesSince(ada, 0)).toEqual({ version: 0, changes: [] })
    await graph.follow(ada, bo)
    await graph.mute(ada, bo)
    await graph.unmute(ada, bo)
    await graph.unfollow(ada, bo)
    const { version, changes } = await graph.changesSince(ada, 0)
    expect(version).toBe(4)
    expect(changes?.map(({ authorId, what }) => [authorId, what])).toEqual([
      [bo, 'follow'],
      [bo, 'mute'],
      [bo, 'mute'],
      [bo, 'follow'],
    ])
    expect((await graph.changesSince(ada, 3)).changes).toHaveLength(1)
    expect(await graph.graphVersions([ada, bo])).toEqual([4, 0])
  })

  test('a repeat counts nothing, a block counts for both', async () => {
    const [ada, bo] = await two()
    await graph.follow(ada, bo)
    await graph.follow(ada, bo)
    expect(await graph.graphVersions([ada, bo])).toEqual([1, 0])
    await graph.block(bo, ada)
    const { changes } = await graph.changesSince(ada, 1)
    expect(new Set(changes?.map(({ what }) => what))).toEqual(new Set(['follow', 'block']))
    expect(await graph.graphVersions([bo])).toEqual([1])
  })

  test('a request counts when it is accepted', async () => {
    const [ada, pia] = await two()
    await world.services.accounts.updateProfile(pia, { isPrivate: true })
    await graph.follow(ada, pia)
    expect(await graph.graphVersions([ada])).toEqual([0])
    await graph.accept(pia, ada)
    expect(await graph.graphVersions([ada, pia])).toEqual([1, 0])
  })

  test('a reader too far behind is told to begin anew', async () => {
    const [ada, bo] = await two()
    for (let turn = 0; turn < 8; turn += 1) {
      await graph.mute(ada, bo)
      await graph.unmute(ada, bo)
    }
    expect(await graph.changesSince(ada, 5)).toEqual({ version: 16 })
    const known = await graph.changesSince(ada, 6)
    expect(known.changes).toHaveLength(10)
  })

  test('changes of one reader at once are all counted', async () => {
    const [ada, ...others] = await some(6)
    if (!ada) expect.unreachable('six were made')
    const other = openGraphProcess(world)
    await Promise.all(
      others.map((each, index) => (index % 2 ? graph : other.graph).follow(ada, each)),
    )
    const { version, changes } = await graph.changesSince(ada, 0)
    expect(version).toBe(5)
    expect(new Set(changes?.map(({ authorId }) => authorId))).toEqual(new Set(others))
  })

  test('GRA-5: an author goes up at T and down at 0.8 T, step by step and announced', async () => {
    const [author, ...fans] = await some(7)
    if (!author) expect.unreachable('seven were made')
    const [first, second, third] = fans
    if (!first || !second || !third) expect.unreachable('they have fans')
    for (const fan of fans.slice(0, 4)) await graph.follow(fan, author)
    expect(await modeOf(author)).toBe('PUSH')
    for (const fan of fans.slice(4, 5)) await graph.follow(fan, author)
    expect(await modeOf(author)).toBe('BOTH')
    await graph.evaluateMode(author)
    expect(await modeOf(author)).toBe('BOTH')
    await world.pass(2 * STALE_MS)
    expect(await graph.evaluateMode(author)).toMatchObject({ mode: 'PULL' })
    await graph.unfollow(first, author)
    expect(await modeOf(author)).toBe('PULL')
    await graph.unfollow(second, author)
    expect(await modeOf(author)).toBe('BOTH')
    const [down] = await graph.modeOf([author])
    if (!down) expect.unreachable('it has a mode')
    expect(await graph.feedsFilled(author, down.version)).toMatchObject({ mode: 'BOTH' })
    await world.pass(2 * STALE_MS)
    await graph.unfollow(third, author)
    expect(await modeOf(author)).toBe('BOTH')
    expect(await graph.feedsFilled(author, down.version - 1n)).toMatchObject({ mode: 'BOTH' })
    expect(await graph.feedsFilled(author, down.version)).toMatchObject({ mode: 'PUSH' })
    await world.settle()
    const said = heard.filter((each) => each.author === author)
    expect(said.map(({ mode }) => mode)).toEqual(['BOTH', 'PULL', 'BOTH', 'PUSH'])
    for (const [index, { version }] of said.entries()) {
      expect(version).toBeGreaterThan(said[index - 1]?.version ?? 0n)
    }
  })

  test('GRA-5: T is a live setting, felt at the next follow or post and by nobody else', async () => {
    const [ada, bo] = await two()
    await graph.follow(ada, bo)
    await world.services.settings.set('graph.pullFollowers', '1', 'test')
    expect(await modeOf(bo)).toBe('PUSH')
    expect(await graph.evaluateMode(bo)).toMatchObject({ mode: 'BOTH' })
    await world.services.settings.set('graph.pullFollowers', '5', 'test')
    expect(await graph.evaluateMode(bo)).toMatchObject({ mode: 'BOTH' })
  })
})
