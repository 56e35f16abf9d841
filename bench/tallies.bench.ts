/**
 * A hot post: everybody likes the same one. Against the same tallies with a write for every like,
 * which is what a count by compare-and-set costs when calls are not joined.
 *
 * And what reading costs: the counts of a page of posts, and that of a post which is being liked, from
 * the cache and shared reads, against a read of the tables for each who asks.
 */
import type { Cache } from '../services/platform/cache.ts'
import type { Tables } from '../services/platform/tables.ts'
import type { Tallies } from '../services/platform/tallies.ts'
import { openCaches } from '../test/kit/caches.ts'
import { openCounts } from '../test/kit/open-counts.ts'
import { openTables } from '../test/kit/open-tables.ts'
import { openTallies } from '../test/kit/open-tallies.ts'
import type { Bench, BenchEngine, Contest, Figure, Work } from './kit.ts'

/** Likes under way at a time, as a worker of the log has them. */
const IN_FLIGHT = 1024
const PORTION: Readonly<Record<BenchEngine, number>> = { embedded: 8192, cluster: 4096 }
const PORTION_ONE_BY_ONE = 256
const GOAL: Readonly<Record<BenchEngine, number>> = { embedded: 1, cluster: 3 }
const READ_GOAL: Readonly<Record<BenchEngine, number>> = { embedded: 2, cluster: 3 }

/** Every like is a new member of one subject. */
const liking = (tallies: Tallies, subject: bigint, portion: number): Work => {
  let member = 0n
  return async () => {
    let left = portion
    const liker = async (): Promise<void> => {
      while (left > 0) {
        left -= 1
        member += 1n
        await tallies.apply(subject, 'likes', [{ member, contribution: 1, version: member }])
      }
    }
    await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, portion) }, liker))
    return portion
  }
}

const contestOf = (engine: BenchEngine, tables: Tables) => {
  const subject = BigInt(Date.now())
  return {
    name: 'likes of one post',
    ours: liking(openTallies(tables), subject, PORTION[engine]),
    reference: liking(openTallies(tables, { joinMax: 1 }), -subject, PORTION_ONE_BY_ONE),
    referenceName: 'a write for every like',
    goal: GOAL[engine],
  }
}

const PAGE = 20
const READERS = 128
/** A like between so many reads of a hot post. */
const READS_A_LIKE = 16

type Totals = (subjects: readonly bigint[]) => Promise<number[]>

/** The like counts of one page, again and again. */
const paging = (totals: Totals, subjects: readonly bigint[]): Work => {
  const readers = async (): Promise<void> => {
    for (let page = 0; page < 8; page += 1) await totals(subjects)
  }
  return async () => {
    await Promise.all(Array.from({ length: 16 }, readers))
    return 16 * 8
  }
}

/** Many read one post; some of them like it in between. */
const crowding = (
  totals: Totals,
  like: (member: bigint) => Promise<void>,
  subject: bigint,
): Work => {
  let member = 0n
  const reader = async (): Promise<void> => {
    for (let read = 0; read < READS_A_LIKE; read += 1) await totals([subject])
    member += 1n
    await like(member)
  }
  return async () => {
    await Promise.all(Array.from({ length: READERS }, reader))
    return READERS * READS_A_LIKE
  }
}

const readContests = (engine: BenchEngine, tables: Tables, cache: Cache): readonly Contest[] => {
  const counts = openCounts({ tables, cache })
  const tallies = openTallies(tables)
  const fromCache: Totals = (subjects) => counts.totals(subjects, 'likes')
  const fromTables: Totals = (subjects) => tallies.totals(subjects, 'likes')
  const subject = BigInt(Date.now()) * 1000n
  const page = Array.from({ length: PAGE }, (_none, index) => subject + BigInt(index))
  const like = (of: bigint, by: Pick<Tallies, 'apply'>) => (member: bigint) =>
    by.apply(of, 'likes', [{ member, contribution: 1, version: member }])
  return [
    {
      name: `like counts of ${PAGE} posts`,
      ours: paging(fromCache, page),
      reference: paging(fromTables, page),
      referenceName: 'from the tables',
      goal: READ_GOAL[engine],
    },
    {
      name: 'like count of a post that is being liked',
      ours: crowding(fromCache, like(subject - 1n, counts), subject - 1n),
      reference: crowding(fromTables, like(subject - 2n, tallies), subject - 2n),
      referenceName: 'a read of the tables each',
      goal: READ_GOAL[engine],
    },
  ]
}

export const bench: Bench = {
  name: 'tallies',
  engines: ['embedded', 'cluster'],
  about: 'exact counts of a hot subject',
  run: async (engine, kit) => {
    await using opened = await openTables[engine]()
    await using caches = await openCaches(engine)
    const { tables } = opened
    const figures: Figure[] = []
    for (const contest of [
      contestOf(engine, tables),
      ...readContests(engine, tables, caches.cache),
    ]) {
      figures.push(await kit.contest(contest))
    }
    return figures
  },
}
