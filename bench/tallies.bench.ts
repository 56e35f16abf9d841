/**
 * A hot post: everybody likes the same one. Against the same tallies with a write for every like,
 * which is what a count by compare-and-set costs when calls are not joined.
 */
import type { Tables } from '../services/platform/tables.ts'
import type { Tallies } from '../services/platform/tallies.ts'
import { openTables } from '../test/kit/open-tables.ts'
import { openTallies } from '../test/kit/open-tallies.ts'
import type { Bench, BenchEngine, Work } from './kit.ts'

/** Likes under way at a time, as a worker of the log has them. */
const IN_FLIGHT = 1024
const PORTION: Readonly<Record<BenchEngine, number>> = { embedded: 8192, cluster: 4096 }
const PORTION_ONE_BY_ONE = 256
const GOAL: Readonly<Record<BenchEngine, number>> = { embedded: 1, cluster: 3 }

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

export const bench: Bench = {
  name: 'tallies',
  engines: ['embedded', 'cluster'],
  about: 'exact counts of a hot subject',
  run: async (engine, kit) => {
    await using opened = await openTables[engine]()
    return [await kit.contest(contestOf(engine, opened.tables))]
  },
}
