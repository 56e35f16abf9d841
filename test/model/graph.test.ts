/**
 * Random changes between a few people, by two processes whose clocks differ by ten seconds and of
 * which either may die at any call of an engine, against sets. What was left undone is swept now and
 * then and at the end; then both ends of everything, the counts and the last announcements agree
 * with the sets.
 */
import { describe, expect, test } from 'vitest'
import type { AccountId } from '../../services/accounts/accounts.ts'
import type { GraphService, Tie } from '../../services/graph/graph.ts'
import { DomainError } from '../../services/kernel/errors.ts'
import { BlockChanged, FollowChanged, MuteChanged, topics } from '../../services/kernel/events.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { seeds } from '../kit/dice.ts'
import { engines } from '../kit/engines.ts'
import { DeadError, Fuse } from '../kit/fuse.ts'
import { type GraphProcess, openAccounts, openGraphProcess, readAll } from '../kit/graphs.ts'
import { type Random, seeded } from '../kit/random.ts'
import { World } from '../kit/world.ts'

/** Some more often than others: what is begun and ended again is what goes wrong. */
const CHANGES = [
  ...Array<'follow'>(5).fill('follow'),
  ...Array<'unfollow'>(4).fill('unfollow'),
  'accept',
  'refuse',
  'removeFollower',
  'block',
  'unblock',
  'mute',
  'unmute',
] as const
type Kind = (typeof CHANGES)[number]

type FollowState = 'none' | 'requested' | 'following'

interface Announced {
  readonly version: bigint
  readonly said: string
}

/** The last thing said about each thing that can be said. */
class Hearsay {
  readonly said = new Map<string, Announced>()

  hear(name: string, version: bigint, said: string): void {
    const known = this.said.get(name)
    if (!known || known.version < version) this.said.set(name, { version, said })
  }

  listener() {
    return defineWorker({
      name: 'hearsay',
      role: 'audit',
      topic: topics.graph,
      handlers: [
        on(FollowChanged, async ({ data }) =>
          this.hear(`follow ${data.followerId} ${data.followedId}`, data.version, data.state),
        ),
        on(BlockChanged, async ({ data }) =>
          this.hear(`block ${data.actorId} ${data.blockedId}`, data.version, `${data.isOn}`),
        ),
        on(MuteChanged, async ({ data }) =>
          this.hear(`mute ${data.actorId} ${data.mutedId}`, data.version, `${data.isOn}`),
        ),
      ],
    })
  }
}

/** What should be: who stands how to whom. */
class Model {
  readonly #people: readonly AccountId[]
  readonly #private: ReadonlySet<AccountId>
  readonly #follows = new Map<string, FollowState>()
  readonly #blocks = new Set<string>()
  readonly #mutes = new Set<string>()

  constructor(people: readonly AccountId[], isPrivate: ReadonlySet<AccountId>) {
    this.#people = people
    this.#private = isPrivate
  }

  copy(): Model {
    const copy = new Model(this.#people, this.#private)
    for (const [key, state] of this.#follows) copy.#follows.set(key, state)
    for (const key of this.#blocks) copy.#blocks.add(key)
    for (const key of this.#mutes) copy.#mutes.add(key)
    return copy
  }

  follows(a: AccountId, b: AccountId): FollowState {
    return this.#follows.get(`${a} ${b}`) ?? 'none'
  }
  isBlocked(a: AccountId, b: AccountId): boolean {
    return this.#blocks.has(`${a} ${b}`)
  }
  isMuted(a: AccountId, b: AccountId): boolean {
    return this.#mutes.has(`${a} ${b}`)
  }

  /** As it is seen from either side. */
  ties(a: AccountId, b: AccountId): readonly Tie[] {
    return [this.#tie(a, b), this.#tie(b, a)]
  }

  #tie(a: AccountId, b: AccountId): Tie {
    return {
      follows: this.follows(a, b) === 'following',
      requested: this.follows(a, b) === 'requested',
      blocks: this.isBlocked(a, b),
      mutes: this.isMuted(a, b),
      followedBy: this.follows(b, a) === 'following',
      blockedBy: this.isBlocked(b, a),
    }
  }

  /** Says whether the change is refused. */
  apply(kind: Kind, a: AccountId, b: AccountId): boolean {
    const [mine, theirs] = [`${a} ${b}`, `${b} ${a}`]
    switch (kind) {
      case 'follow':
        if (this.isBlocked(a, b) || this.isBlocked(b, a)) return true
        if (this.follows(a, b) === 'following') return false
        this.#follows.set(mine, this.#private.has(b) ? 'requested' : 'following')
        return false
      case 'unfollow':
        this.#follows.delete(mine)
        return false
      case 'accept':
        if (this.follows(b, a) === 'none') return true
        this.#follows.set(theirs, 'following')
        return false
      case 'refuse':
        if (this.follows(b, a) === 'following') return true
        this.#follows.delete(theirs)
        return false
      case 'removeFollower':
        this.#follows.delete(theirs)
        return false
      case 'block':
        this.#blocks.add(mine)
        this.#follows.delete(mine)
        this.#follows.delete(theirs)
        return false
      case 'unblock':
        this.#blocks.delete(mine)
        return false
      case 'mute':
        this.#mutes.add(mine)
        return false
      case 'unmute':
        this.#mutes.delete(mine)
        return false
    }
  }
}

const byId = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
const idsOf = (items: readonly { readonly id: AccountId }[]): AccountId[] =>
  items.map(({ id }) => id).sort(byId)

/** One history: the world, the processes that act in it, and what should come of it. */
class History {
  readonly world: World
  readonly people: readonly AccountId[]
  readonly #random: Random
  readonly #processes: readonly (GraphProcess & { readonly fuse: Fuse })[]
  readonly #sweeper: GraphProcess
  deaths = 0
  #model: Model
  #last: readonly [AccountId, AccountId]

  constructor(world: World, people: readonly [AccountId, AccountId, AccountId], random: Random) {
    this.world = world
    this.people = people
    this.#random = random
    this.#model = new Model(people, new Set(people.slice(0, 1)))
    this.#last = [people[0], people[1]]
    this.#processes = [0, 10_000].map((aheadMs) => {
      const fuse = new Fuse(random)
      return { ...openGraphProcess(world, { aheadMs, fuse }), fuse }
    })
    this.#sweeper = openGraphProcess(world)
  }

  async step(): Promise<void> {
    const random = this.#random
    const kind = random.pick(CHANGES)
    const [actor, other] = this.#pick()
    const process = random.pick(this.#processes)
    if (random.below(2) === 0) process.fuse.set(1 + random.below(12))
    const after = this.#model.copy()
    const isRefused = after.apply(kind, actor, other)
    try {
      await process.graph[kind](actor, other)
      expect(isRefused, `${kind} was not refused`).toBe(false)
      this.#model = after
    } catch (error) {
      if (error instanceof DeadError) await this.#learn(actor, other, after)
      else if (!(error instanceof DomainError && isRefused)) throw error
    } finally {
      process.fuse.mend()
    }
    expect(await this.#ties(actor, other)).toEqual(this.#model.ties(actor, other))
    await this.world.clock.advance(random.below(3) === 0 ? 0 : 1 + random.below(5_000))
    if (random.below(15) === 0) await this.sweep()
  }

  /** Mostly those who did something just now. */
  #pick(): readonly [actor: AccountId, other: AccountId] {
    const random = this.#random
    if (random.below(4) === 0) {
      const actor = random.pick(this.people)
      this.#last = [actor, random.pick(this.people.filter((id) => id !== actor))]
    }
    const [one, two] = this.#last
    return random.below(4) === 0 ? [two, one] : [one, two]
  }

  /** A change cut short was made or was not: it is the one or the other from then on. */
  async #learn(actor: AccountId, other: AccountId, after: Model): Promise<void> {
    this.deaths += 1
    const ties = await this.#ties(actor, other)
    const [before, made] = [this.#model.ties(actor, other), after.ties(actor, other)]
    expect([before, made]).toContainEqual(ties)
    if (JSON.stringify(ties) === JSON.stringify(made)) this.#model = after
  }

  async #ties(one: AccountId, other: AccountId): Promise<Tie[]> {
    const { graph } = this.#sweeper
    return [...(await graph.ties(one, [other])), ...(await graph.ties(other, [one]))]
  }

  async sweep(): Promise<void> {
    await this.world.clock.advance(120_000)
    await this.#sweeper.pending.sweep()
  }

  async check(hearsay: Hearsay): Promise<void> {
    for (const process of this.#processes) await process.pending.idle()
    await this.sweep()
    expect(await this.#sweeper.pending.sweep()).toBe(0)
    await this.world.settle()
    for (const person of this.people) await this.#checkLists(this.#sweeper.graph, person)
    for (const a of this.people) {
      for (const b of this.people) if (a !== b) this.#checkSaid(hearsay, a, b)
    }
    await this.#sweeper.pending[Symbol.asyncDispose]()
  }

  async #checkLists(graph: GraphService, person: AccountId): Promise<void> {
    const model = this.#model
    const where = (isIn: (other: AccountId) => boolean) =>
      this.people.filter((other) => other !== person && isIn(other)).sort(byId)
    const following = where((other) => model.follows(person, other) === 'following')
    const followers = where((other) => model.follows(other, person) === 'following')
    const requests = where((other) => model.follows(other, person) === 'requested')
    expect(idsOf(await readAll((page) => graph.followingIds(person, page)))).toEqual(following)
    expect(idsOf(await readAll((page) => graph.followerIds(person, page)))).toEqual(followers)
    expect(idsOf(await readAll((page) => graph.requests(person, page)))).toEqual(requests)
    expect(idsOf(await readAll((page) => graph.blocked(person, page)))).toEqual(
      where((other) => model.isBlocked(person, other)),
    )
    expect(idsOf(await readAll((page) => graph.muted(person, page)))).toEqual(
      where((other) => model.isMuted(person, other)),
    )
    expect(await graph.followersCounts([person])).toEqual([followers.length])
    expect(await graph.followingCounts([person])).toEqual([following.length])
  }

  #checkSaid({ said }: Hearsay, a: AccountId, b: AccountId): void {
    const model = this.#model
    const last = (name: string) => said.get(`${name} ${a} ${b}`)?.said
    expect(last('follow') ?? 'none').toBe(model.follows(a, b))
    expect(last('block') ?? 'false').toBe(`${model.isBlocked(a, b)}`)
    expect(last('mute') ?? 'false').toBe(`${model.isMuted(a, b)}`)
  }
}

const STEPS = { embedded: 250, cluster: 50 } as const

describe.each(engines)('GRA-1, 2, 3: the graph against sets on %s', (engine) => {
  test.each(seeds(2))('seed %d', { timeout: 180_000 }, async (seed) => {
    const hearsay = new Hearsay()
    await using world = await World.open({
      engine,
      workers: [hearsay.listener()],
      variables: { TRIBUTARY_LISTS_PART_ROWS: '2', TRIBUTARY_LISTS_MEASURE_EVERY: '1' },
    })
    const [pia, ada, bo] = await openAccounts(world, ['pia', 'ada', 'bo'])
    if (!pia || !ada || !bo) expect.unreachable('three were made')
    await world.services.accounts.updateProfile(pia, { isPrivate: true })
    const history = new History(world, [pia, ada, bo], seeded(seed))
    for (let step = 0; step < STEPS[engine]; step += 1) await history.step()
    await history.check(hearsay)
    expect(history.deaths).toBeGreaterThan(0)
  })
})
