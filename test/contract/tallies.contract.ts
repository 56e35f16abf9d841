/** Counts are exact, whatever comes twice, late, out of order or at once. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  BadInputError,
  OutcomeUnknownError,
  OverloadedError,
} from '../../services/kernel/errors.ts'
import { GET_MANY_MAX } from '../../services/platform/tables.ts'
import {
  TALLY_SHARDS,
  type Tallies,
  type TallyChange,
  type TallyKind,
} from '../../services/platform/tallies.ts'
import type { OpenedTables, OpenTables } from '../kit/open-tables.ts'
import { openTallies } from '../kit/open-tallies.ts'
import { seeded } from '../kit/random.ts'
import { countedTables, losingTables } from '../kit/watched-tables.ts'
import { freshReader as freshSubject } from './tables-subject.ts'

const change = (member: number, version: number, contribution: 0 | 1): TallyChange => ({
  member: BigInt(member),
  version: BigInt(version),
  contribution,
})

const joins = (count: number, version = 1): TallyChange[] =>
  Array.from({ length: count }, (_, index) => change(index + 1, version, 1))

export const talliesContract = (open: OpenTables): void => {
  let opened: OpenedTables
  let tallies: Tallies
  beforeAll(async () => {
    opened = await open()
    tallies = openTallies(opened.tables)
  })
  afterAll(async () => {
    await tallies[Symbol.asyncDispose]()
    await opened[Symbol.asyncDispose]()
  })

  const total = async (subject: bigint, kind: TallyKind, by = tallies) =>
    (await by.totals([subject], kind))[0]

  test('what nobody contributes to is 0', async () => {
    expect(await tallies.totals([freshSubject(), freshSubject()], 'likes')).toEqual([0, 0])
    expect(await tallies.totals([], 'likes')).toEqual([])
  })

  test('members are counted over all shards, once each', async () => {
    const subject = freshSubject()
    await tallies.apply(subject, 'followers', joins(100))
    expect(await total(subject, 'followers')).toBe(100)
    await tallies.apply(subject, 'followers', [change(1, 2, 0), change(100, 2, 0)])
    expect(await total(subject, 'followers')).toBe(98)
  })

  test('a change that comes again changes nothing', async () => {
    const subject = freshSubject()
    for (const _time of [1, 2, 3]) await tallies.apply(subject, 'likes', [change(7, 1, 1)])
    expect(await total(subject, 'likes')).toBe(1)
    for (const _time of [1, 2, 3]) await tallies.apply(subject, 'likes', [change(7, 2, 0)])
    await tallies.apply(subject, 'likes', [change(7, 1, 1)])
    expect(await total(subject, 'likes')).toBe(0)
  })

  test('a member counts by its highest version, in every order of arrival', async () => {
    const on = change(1, 1, 1)
    const off = change(1, 2, 0)
    const again = change(1, 3, 1)
    for (const [order, expected] of [
      [[on, off, again], 1],
      [[on, again, off], 1],
      [[off, on, again], 1],
      [[off, again, on], 1],
      [[again, on, off], 1],
      [[again, off, on], 1],
      [[off, on], 0],
      [[on, off], 0],
    ] as const) {
      const [oneByOne, atOnce] = [freshSubject(), freshSubject()]
      for (const each of order) await tallies.apply(oneByOne, 'likes', [each])
      expect(await total(oneByOne, 'likes')).toBe(expected)
      await tallies.apply(atOnce, 'likes', order)
      expect(await total(atOnce, 'likes')).toBe(expected)
    }
  })

  test('subjects and kinds have tallies of their own', async () => {
    const [ada, bo] = [freshSubject(), freshSubject()]
    await tallies.apply(ada, 'likes', joins(3))
    await tallies.apply(bo, 'likes', joins(5))
    await tallies.apply(ada, 'replies', joins(2))
    expect(await tallies.totals([bo, ada, bo, freshSubject()], 'likes')).toEqual([5, 3, 5, 0])
    expect(await tallies.totals([ada, bo], 'replies')).toEqual([2, 0])
  })

  test('totals of more shards than one read takes are whole', async () => {
    const subjects = Array.from(
      { length: Math.ceil(GET_MANY_MAX / TALLY_SHARDS.followers) + 1 },
      freshSubject,
    )
    const [first, last] = [subjects[0] ?? 0n, subjects.at(-1) ?? 0n]
    await tallies.apply(first, 'followers', joins(2))
    await tallies.apply(last, 'followers', joins(3))
    const expected = subjects.map((subject) => (subject === first ? 2 : subject === last ? 3 : 0))
    expect(await tallies.totals(subjects, 'followers')).toEqual(expected)
  })

  test('calls made at the same time are joined into one write of their shard', async () => {
    const { tables, swaps } = countedTables(opened.tables)
    await using joining = openTallies(tables)
    const subject = freshSubject()
    await Promise.all(joins(100).map((each) => joining.apply(subject, 'following', [each])))
    expect(await total(subject, 'following')).toBe(100)
    expect(swaps()).toBe(1)
  })

  test('what comes while a shard is written goes with the next write', async () => {
    const { tables, swaps } = countedTables(opened.tables)
    await using joining = openTallies(tables)
    const subject = freshSubject()
    const [first, ...rest] = joins(50)
    if (!first) expect.unreachable('fifty join')
    const writing = joining.apply(subject, 'following', [first])
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([writing, ...rest.map((each) => joining.apply(subject, 'following', [each]))])
    expect(await total(subject, 'following')).toBe(50)
    expect(swaps()).toBe(2)
  })

  test('more changes than go together are written in parts', async () => {
    const { tables, swaps } = countedTables(opened.tables)
    await using parted = openTallies(tables, { joinMax: 100 })
    const subject = freshSubject()
    await parted.apply(subject, 'following', joins(250))
    expect(await total(subject, 'following')).toBe(250)
    expect(swaps()).toBe(3)
  })

  test('what is known already is not written', async () => {
    const subject = freshSubject()
    await tallies.apply(subject, 'likes', joins(20))
    const { tables, swaps } = countedTables(opened.tables)
    await using again = openTallies(tables)
    await again.apply(subject, 'likes', joins(20))
    expect(swaps()).toBe(0)
    expect(await total(subject, 'likes')).toBe(20)
  })

  test('racing processes lose no change and count none twice', { timeout: 120_000 }, async () => {
    const processes = [1, 2, 3, 4].map(() => openTallies(opened.tables))
    const subject = freshSubject()
    const members = Array.from({ length: 40 }, (_, index) => index + 1)
    // Each process brings every version of every member, in an order of its own.
    await Promise.all(
      processes.flatMap((process, offset) =>
        [0, 1, 2, 3].map(async (turn) => {
          const version = ((turn + offset) % 4) + 1
          const contribution = (each: number) => ((each + version) % 2 === 0 ? 1 : 0)
          for (let start = 0; start < members.length; start += 10) {
            const part = members.slice(start, start + 10)
            const changes = part.map((each) => change(each, version, contribution(each)))
            await process.apply(subject, 'following', changes)
          }
        }),
      ),
    )
    expect(await total(subject, 'following')).toBe(20)
    for (const process of processes) {
      expect(await total(subject, 'following', process)).toBe(20)
      await process[Symbol.asyncDispose]()
    }
  })

  test('lost and misreported writes leave the count exact', { timeout: 120_000 }, async () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const losing = losingTables(opened.tables, seeded(seed))
    const subject = freshSubject()
    const applyUntilDone = async (by: Tallies, changes: readonly TallyChange[]): Promise<void> => {
      for (;;) {
        try {
          return await by.apply(subject, 'replies', changes)
        } catch (error) {
          if (!(error instanceof OutcomeUnknownError)) throw error
        }
      }
    }
    const processes = [1, 2, 3].map(() => openTallies(losing))
    await Promise.all(
      joins(45).map((each, index) => {
        const by = processes[index % 3]
        if (!by) expect.unreachable('there are three')
        return applyUntilDone(by, [each])
      }),
    )
    const leaving = [1, 2, 3, 4, 5].map((member) => change(member, 2, 0))
    await Promise.all(processes.map((by) => applyUntilDone(by, leaving)))
    expect(await total(subject, 'replies'), `seed ${seed}`).toBe(40)
  })

  test('what a tally cannot hold is refused, with all that came with it', async () => {
    const subject = freshSubject()
    const wrong = [
      change(0, 1, 1),
      change(-1, 1, 1),
      change(1, 0, 1),
      change(1, 1, 2 as 1),
      change(1, 1, -1 as 1),
    ]
    for (const each of wrong) {
      const applying = tallies.apply(subject, 'likes', [change(9, 1, 1), each])
      await expect(applying).rejects.toBeInstanceOf(BadInputError)
    }
    expect(await total(subject, 'likes')).toBe(0)
  })

  test('more waiting changes than the bound are refused, and later taken', async () => {
    await using narrow = openTallies(opened.tables, { queuedMax: 10 })
    const subject = freshSubject()
    const first = narrow.apply(subject, 'likes', joins(10))
    await expect(narrow.apply(subject, 'likes', [change(11, 1, 1)])).rejects.toBeInstanceOf(
      OverloadedError,
    )
    await first
    await narrow.apply(subject, 'likes', [change(11, 1, 1)])
    expect(await total(subject, 'likes')).toBe(11)
  })
}
