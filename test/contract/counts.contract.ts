/** Counts come from the cache, and are those of the tables whatever happens between the two. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OutcomeUnknownError, OverloadedError } from '../../services/kernel/errors.ts'
import type { Cache } from '../../services/platform/cache.ts'
import { type Counts, countKey } from '../../services/platform/counts.ts'
import type { Tables } from '../../services/platform/tables.ts'
import type { TallyChange } from '../../services/platform/tallies.ts'
import type { Caches } from '../kit/caches.ts'
import { gate } from '../kit/gate.ts'
import { holds } from '../kit/holds.ts'
import { openCounts } from '../kit/open-counts.ts'
import type { OpenedTables, OpenTables } from '../kit/open-tables.ts'
import { seeded } from '../kit/random.ts'
import { failingCache } from '../kit/watched-cache.ts'
import { losingTables, readTables } from '../kit/watched-tables.ts'
import { freshReader as freshSubject } from './tables-subject.ts'

const like = (member: number, version = 1): TallyChange => ({
  member: BigInt(member),
  version: BigInt(version),
  contribution: 1,
})

const unlike = (member: number, version = 2): TallyChange => ({
  ...like(member, version),
  contribution: 0,
})

interface OpenSubject {
  readonly tables: OpenTables
  readonly caches: () => Promise<Caches>
}

export const countsContract = (open: OpenSubject): void => {
  let opened: OpenedTables
  let caches: Caches
  let counts: Counts
  beforeAll(async () => {
    opened = await open.tables()
    caches = await open.caches()
    counts = openCounts(engines())
  })
  afterAll(async () => {
    await counts[Symbol.asyncDispose]()
    await caches[Symbol.asyncDispose]()
    await opened[Symbol.asyncDispose]()
  })

  const engines = (): { tables: Tables; cache: Cache } => ({
    tables: opened.tables,
    cache: caches.cache,
  })

  const likes = async (subject: bigint, by = counts): Promise<number | undefined> =>
    (await by.totals([subject], 'likes'))[0]

  const cached = (subject: bigint): Promise<string | undefined> =>
    caches.cache.get(countKey(subject, 'likes'))

  test('what nobody contributes to is 0, and that is cached, too', async () => {
    const [subject, other] = [freshSubject(), freshSubject()]
    expect(await counts.totals([], 'likes')).toEqual([])
    expect(await counts.totals([subject, other, subject], 'likes')).toEqual([0, 0, 0])
    await holds(async () => expect(await cached(subject)).toBe('0'))
  })

  test('a total that is cached costs no read of the tables', async () => {
    const { tables, reads } = readTables(opened.tables)
    await using watched = openCounts({ ...engines(), tables })
    const subjects = Array.from({ length: 20 }, freshSubject)
    for (const subject of subjects) await counts.apply(subject, 'likes', [like(1), like(2)])
    expect(await watched.totals(subjects, 'likes')).toEqual(subjects.map(() => 2))
    expect(reads()).toBe(1)
    for (const subject of subjects) {
      await holds(async () => expect(await cached(subject)).toBe('2'))
    }
    expect(await watched.totals(subjects, 'likes')).toEqual(subjects.map(() => 2))
    expect(reads()).toBe(1)
  })

  test('what is applied counts at once, in every process', async () => {
    await using other = openCounts(engines())
    const subject = freshSubject()
    for (let member = 1; member <= 5; member += 1) {
      await counts.apply(subject, 'likes', [like(member)])
      expect(await likes(subject)).toBe(member)
      expect(await likes(subject, other)).toBe(member)
    }
    await other.apply(subject, 'likes', [unlike(3)])
    expect(await likes(subject)).toBe(4)
  })

  test('kinds have totals of their own', async () => {
    const subject = freshSubject()
    await counts.apply(subject, 'likes', [like(1)])
    await counts.apply(subject, 'replies', [like(1), like(2)])
    expect(await counts.totals([subject], 'replies')).toEqual([2])
    expect(await likes(subject)).toBe(1)
  })

  test.for([
    ['an absent total', async () => undefined],
    ['a changed one', (subject: bigint) => counts.apply(subject, 'likes', [like(7)])],
  ] as const)('a read that an apply overtakes is not cached over %s', async ([, begin]) => {
    const subject = freshSubject()
    await begin(subject)
    const [before, slow] = [await tallied(subject), gate()]
    const { tables, read } = slowTables(opened.tables, slow.opened)
    await using slowly = openCounts({ ...engines(), tables })
    const reading = likes(subject, slowly)
    await read
    await counts.apply(subject, 'likes', [like(1)])
    slow.open()
    expect(await reading).toBe(before)
    await slowly[Symbol.asyncDispose]()
    expect(await likes(subject)).toBe(before + 1)
  })

  test('a read that is slower than its token is not cached', async () => {
    const [subject, slow] = [freshSubject(), gate()]
    const { tables, read } = slowTables(opened.tables, slow.opened)
    await using slowly = openCounts({ ...engines(), tables }, { tokenTtlMs: 100 })
    const reading = likes(subject, slowly)
    await read
    await using brief = openCounts(engines(), { tokenTtlMs: 100 })
    await brief.apply(subject, 'likes', [like(1)])
    await holds(async () => expect(await cached(subject)).toBeUndefined())
    slow.open()
    expect(await reading).toBe(0)
    await slowly[Symbol.asyncDispose]()
    expect(await cached(subject)).toBeUndefined()
    expect(await likes(subject)).toBe(1)
  })

  test('those who ask at the same time share a read', async () => {
    const { tables, reads } = readTables(opened.tables)
    await using watched = openCounts({ ...engines(), tables })
    const subject = freshSubject()
    const asked = Array.from({ length: 200 }, () => likes(subject, watched))
    expect(new Set(await Promise.all(asked))).toEqual(new Set([0]))
    expect(reads()).toBeLessThan(20)
  })

  test('without its cache the tables answer, and nothing stays behind when it is back', async () => {
    const { cache, fail } = failingCache(caches.cache)
    await using failing = openCounts({ ...engines(), cache })
    const subject = freshSubject()
    await failing.apply(subject, 'likes', [like(1)])
    expect(await likes(subject, failing)).toBe(1)
    await holds(async () => expect(await cached(subject)).toBe('1'))
    fail(true)
    await failing.apply(subject, 'likes', [like(2)])
    expect(await likes(subject, failing)).toBe(2)
    fail(false)
    // As the event of the change is handled: it counts already, and the cache learns of it.
    await failing.apply(subject, 'likes', [like(2)])
    expect(await likes(subject, failing)).toBe(2)
  })

  test('a change that may count is not hidden by the cache', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    await using losing = openCounts({
      ...engines(),
      tables: losingTables(opened.tables, seeded(seed)),
    })
    const subject = freshSubject()
    for (let member = 1; member <= 20; member += 1) {
      await applyUntilDone(
        () => losing.apply(subject, 'likes', [like(member)]),
        async () => {
          expect(await likes(subject), `seed ${seed}`).toBe(await tallied(subject))
        },
      )
    }
    expect(await likes(subject), `seed ${seed}`).toBe(20)
  })

  test('an anticipated change that fails is left to its event', async () => {
    await using broken = openCounts({ ...engines(), tables: brokenTables(opened.tables) })
    const subject = freshSubject()
    await broken.anticipate(subject, 'likes', [like(1)])
    expect(await likes(subject)).toBe(0)
    await counts.anticipate(subject, 'likes', [like(1)])
    expect(await likes(subject)).toBe(1)
  })

  test('more subjects waiting than the bound are refused', async () => {
    const slow = gate()
    const { tables } = slowTables(opened.tables, slow.opened)
    await using narrow = openCounts({ ...engines(), tables }, { waitingMax: 10 })
    const many = Array.from({ length: 11 }, freshSubject)
    await expect(narrow.totals(many, 'likes')).rejects.toBeInstanceOf(OverloadedError)
    slow.open()
  })

  test('racing readers and writers leave the cache with the truth', {
    timeout: 60_000,
  }, async () => {
    const processes = [1, 2, 3].map(() => openCounts(engines()))
    const subjects = [freshSubject(), freshSubject()]
    await Promise.all(
      processes.map(async (process, offset) => {
        for (let turn = 1; turn <= 30; turn += 1) {
          const subject = subjects[turn % 2] ?? 0n
          const member = ((turn + offset) % 10) + 1
          const change = turn % 3 === 0 ? unlike(member, turn) : like(member, turn)
          await Promise.all([
            process.apply(subject, 'likes', [change]),
            process.totals(subjects, 'likes'),
            process.totals(subjects, 'likes'),
          ])
        }
      }),
    )
    for (const process of processes) await process[Symbol.asyncDispose]()
    const truth = await Promise.all(subjects.map(tallied))
    expect(await counts.totals(subjects, 'likes')).toEqual(truth)
    // Once more, from what that has cached.
    await counts[Symbol.asyncDispose]()
    expect(await counts.totals(subjects, 'likes')).toEqual(truth)
  })

  /** From the tables alone. */
  const tallied = async (subject: bigint): Promise<number> => {
    const { cache, fail } = failingCache(caches.cache)
    fail(true)
    await using alone = openCounts({ ...engines(), cache })
    return (await likes(subject, alone)) ?? Number.NaN
  }
}

const applyUntilDone = async (
  apply: () => Promise<void>,
  afterLoss: () => Promise<void>,
): Promise<void> => {
  for (;;) {
    try {
      return await apply()
    } catch (error) {
      if (!(error instanceof OutcomeUnknownError)) throw error
      await afterLoss()
    }
  }
}

/** Reads at once, and answers when `until` comes. */
const slowTables = (tables: Tables, until: Promise<void>) => {
  const done = gate()
  const { tables: slow } = readTables(tables, async (answer) => {
    const rows = await answer
    done.open()
    await until
    return rows
  })
  return { tables: slow, read: done.opened }
}

const brokenTables = (tables: Tables): Tables =>
  readTables(tables, async () => {
    throw new Error('nothing can be read')
  }).tables
