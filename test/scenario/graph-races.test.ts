/** Several processes change the same relation at once, or one after another by clocks that differ. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AccountId } from '../../services/accounts/accounts.ts'
import { engines } from '../kit/engines.ts'
import { DeadError, Fuse } from '../kit/fuse.ts'
import { type GraphProcess, openAccounts, openGraphProcess, readAll } from '../kit/graphs.ts'
import { seeded } from '../kit/random.ts'
import { World } from '../kit/world.ts'

describe.each(engines)('races of the graph on %s', (engine) => {
  let world: World
  let ahead: GraphProcess
  let behind: GraphProcess
  let pairs = 0
  beforeAll(async () => {
    world = await World.open({ engine, workers: [] })
    ahead = openGraphProcess(world, { aheadMs: 10_000 })
    behind = openGraphProcess(world)
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const pair = async (): Promise<[AccountId, AccountId]> => {
    pairs += 1
    const [one, two] = await openAccounts(world, [`one${pairs}`, `two${pairs}`])
    if (!one || !two) expect.unreachable('two were made')
    return [one, two]
  }
  /** Both ends, the counts and the relation itself, which must say the same. */
  const follows = async (follower: AccountId, followed: AccountId): Promise<boolean> => {
    const { graph } = world.services
    const [tie] = await graph.ties(follower, [followed])
    const following = await readAll((page) => graph.followingIds(follower, page))
    const followers = await readAll((page) => graph.followerIds(followed, page))
    const expected = tie?.follows ? 1 : 0
    expect(following.filter(({ id }) => id === followed)).toHaveLength(expected)
    expect(followers.filter(({ id }) => id === follower)).toHaveLength(expected)
    expect(await graph.followersCounts([followed])).toEqual([expected])
    expect(await graph.followingCounts([follower])).toEqual([expected])
    return tie?.follows ?? false
  }

  test('GRA-1: an acknowledged unfollow beats the follow before it, by a clock ten seconds behind', async () => {
    const [ada, bo] = await pair()
    await ahead.graph.follow(ada, bo)
    expect(await follows(ada, bo)).toBe(true)
    await behind.graph.unfollow(ada, bo)
    expect(await follows(ada, bo)).toBe(false)
    await ahead.graph.follow(ada, bo)
    await behind.graph.block(bo, ada)
    expect(await follows(ada, bo)).toBe(false)
    await behind.graph.unblock(bo, ada)
    await behind.graph.follow(ada, bo)
    expect(await follows(ada, bo)).toBe(true)
  })

  test('GRA-1: follows and unfollows at once leave both ends agreeing', {
    timeout: 60_000,
  }, async () => {
    const [ada, bo] = await pair()
    for (let round = 0; round < 5; round += 1) {
      const all = [ahead, behind, ahead, behind].map(({ graph }, index) =>
        (index + round) % 3 === 0 ? graph.unfollow(ada, bo) : graph.follow(ada, bo),
      )
      await Promise.all(all)
      await follows(ada, bo)
    }
    await behind.graph.unfollow(ada, bo)
    expect(await follows(ada, bo)).toBe(false)
  })

  test('GRA-1: the same follow sent twice at once is one follow', async () => {
    const [ada, bo] = await pair()
    await Promise.all([ahead, behind, behind].map(({ graph }) => graph.follow(ada, bo)))
    expect(await follows(ada, bo)).toBe(true)
  })

  test('GRA-3: a block that races a follow wins, or comes before it and forbids it', async () => {
    for (let round = 0; round < 4; round += 1) {
      const [ada, bo] = await pair()
      const [, blocked] = await Promise.allSettled([
        ahead.graph.follow(ada, bo),
        behind.graph.block(bo, ada),
      ])
      expect(blocked.status).toBe('fulfilled')
      expect(await follows(ada, bo)).toBe(false)
    }
  })

  test('GRA-1: two people who follow each other at once both do', async () => {
    const [ada, bo] = await pair()
    await Promise.all([ahead.graph.follow(ada, bo), behind.graph.follow(bo, ada)])
    const [tie] = await world.services.graph.ties(ada, [bo])
    expect(tie).toMatchObject({ follows: true, followedBy: true })
  })

  test('GRA-1: a follow cut short is finished when it is repeated, or by the sweep', async () => {
    for (const isRepeated of [true, false]) {
      const [ada, bo] = await pair()
      const fuse = new Fuse(seeded(1))
      const dying = openGraphProcess(world, { fuse })
      // Dies at each call in turn, until the decision is made and what follows is not.
      for (let calls = 1; !(await world.services.graph.ties(ada, [bo]))[0]?.follows; calls += 1) {
        fuse.set(calls)
        await expect(dying.graph.follow(ada, bo)).rejects.toBeInstanceOf(DeadError)
      }
      if (isRepeated) await behind.graph.follow(ada, bo)
      await world.pass(120_000)
      if (!isRepeated) expect(await world.services.pending.sweep()).toBeGreaterThan(0)
      expect(await follows(ada, bo)).toBe(true)
    }
  })
})
