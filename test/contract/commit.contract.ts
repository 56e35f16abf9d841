/** Rows and their events are one act. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BadInputError, TooLargeError } from '../../services/kernel/errors.ts'
import { put, remove, SPREAD_BYTES_MAX, SPREAD_WRITES_MAX } from '../../services/platform/tables.ts'
import { eventually } from '../kit/eventually.ts'
import { finish, joinGroup } from '../kit/log-readers.ts'
import { countsByName, noted, noteOf, readAll } from '../kit/noted.ts'
import { type OpenCommit, type OpenedCommit, testIds } from '../kit/open-commit.ts'
import { byName, copies } from './tables-fixture.ts'

export const commitContract = (open: OpenCommit): void => {
  let opened: OpenedCommit
  const ids = testIds()
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())

  const note = (name: string, count: number, body?: string) =>
    noted(
      { topic: opened.topics[0], ids },
      { name, count, ...(body === undefined ? {} : { body }) },
    )
  const row = (scope: string, name: string) => put(byName, { scope, name, value: 'committed' })
  const rowsOf = (scope: string) => opened.tables.slice(byName, { scope }, { limit: 1000 })
  /** The counts of the events of one name, as they lie on the log. */
  const countsOf = async (name: string) =>
    (await readAll(opened.log, opened.topics[0]))
      .filter(({ key }) => key === name)
      .map((record) => noteOf(record).count)

  test('after the acknowledgement the rows are there and the events come', async () => {
    const scope = randomUUID()
    await opened.commit.commit([row(scope, 'a'), row(scope, 'b')], [note(scope, 1), note(scope, 2)])
    expect((await rowsOf(scope)).map(({ name }) => name)).toEqual(['a', 'b'])
    await opened.commit.published()
    expect(await countsOf(scope)).toEqual([1, 2])
    expect(await opened.commit.oldestUnpublishedMs()).toBeUndefined()
  })

  test('rows without events, events without rows, and neither', async () => {
    const scope = randomUUID()
    await opened.commit.commit([row(scope, 'a')], [])
    await opened.commit.commit([], [note(scope, 1)])
    await opened.commit.commit([], [])
    await opened.commit.published()
    expect(await rowsOf(scope)).toHaveLength(1)
    expect(await countsOf(scope)).toEqual([1])
  })

  test('events of several topics come on each', async () => {
    const scope = randomUUID()
    const other = noted({ topic: opened.topics[1], ids }, { name: scope, count: 7 })
    await opened.commit.commit([row(scope, 'a')], [note(scope, 1), other])
    await opened.commit.published()
    expect(await countsOf(scope)).toEqual([1])
    const elsewhere = await readAll(opened.log, opened.topics[1])
    expect(elsewhere.map((record) => noteOf(record).id)).toContain(String(other.id))
  })

  test('what is refused leaves neither rows nor events', async () => {
    const scope = randomUUID()
    const tooMany = Array.from({ length: SPREAD_WRITES_MAX }, (_none, n) => row(scope, `${n}`))
    const unkeyed = noted({ topic: opened.topics[0], ids }, { name: '', count: 1 })
    const refusals = [
      // An event counts as a row of another partition.
      { writes: tooMany, events: [note(scope, 1)], as: TooLargeError },
      {
        writes: [row(scope, 'a')],
        events: [note(scope, 1, 'x'.repeat(SPREAD_BYTES_MAX))],
        as: TooLargeError,
      },
      { writes: [row(scope, 'a')], events: [note(scope, 1), unkeyed], as: BadInputError },
      { writes: [row(scope, 'a'), row(scope, 'a')], events: [note(scope, 1)], as: BadInputError },
    ]
    for (const { writes, events, as } of refusals) {
      await expect(opened.commit.commit(writes, events)).rejects.toBeInstanceOf(as)
    }
    // A commit that is let through afterwards shows that nothing was on its way before it.
    await opened.commit.commit([], [note(scope, 99)])
    await opened.commit.published()
    expect(await rowsOf(scope)).toEqual([])
    expect(await countsOf(scope)).toEqual([99])
  })

  test('a commit holds up to its limits', async () => {
    const scope = randomUUID()
    const rows = Array.from({ length: SPREAD_WRITES_MAX - 1 }, (_none, n) => row(scope, `${n}`))
    await opened.commit.commit(rows, [note(scope, 1)])
    const body = 'x'.repeat(SPREAD_BYTES_MAX - 2_000)
    await opened.commit.commit([row(scope, 'large')], [note(scope, 2, body)])
    await opened.commit.published()
    expect(await rowsOf(scope)).toHaveLength(SPREAD_WRITES_MAX)
    expect(await countsOf(scope)).toEqual([1, 2])
  })

  test('nobody hears of an event whose rows cannot be read', async () => {
    const scope = randomUUID()
    const missing: number[] = []
    let heard = 0
    await using reader = await joinGroup(opened.log, {
      group: `reader-${scope}`,
      topics: [opened.topics[0]],
      handle: async (batch) => {
        const mine = batch.records.filter(({ key }) => key.startsWith(scope))
        const names = mine.map((record) => String(noteOf(record).count))
        const rows = await opened.tables.getMany(
          byName,
          names.map((name) => ({ scope, name })),
        )
        missing.push(...rows.flatMap((found, index) => (found ? [] : [index])))
        heard += mine.length
        await finish(batch)
      },
    })
    const writers = Array.from({ length: 8 }, async (_none, writer) => {
      for (let n = 0; n < 25; n += 1) {
        const count = writer * 25 + n
        await opened.commit.commit([row(scope, `${count}`)], [note(`${scope}-${writer}`, count)])
      }
    })
    await Promise.all(writers)
    await eventually(() => heard >= 200, { withinMs: 30_000 })
    expect(missing).toEqual([])
    expect(reader.records.length).toBeGreaterThanOrEqual(200)
  })

  test('events of a key come in the order of their commits', async () => {
    const scope = randomUUID()
    const keys = Array.from({ length: 10 }, (_none, n) => `${scope}-${n}`)
    const counts = Array.from({ length: 30 }, (_none, n) => n)
    await Promise.all(
      keys.map(async (key) => {
        for (const count of counts) await opened.commit.commit([], [note(key, count)])
      }),
    )
    await opened.commit.published()
    const byKey = countsByName(await readAll(opened.log, opened.topics[0]))
    for (const key of keys) expect(byKey.get(key)).toEqual(counts)
  })

  test('versioned rows are committed in any order, and each commit is announced', async () => {
    const scope = randomUUID()
    const copy = (name: string, version: bigint) =>
      put(copies, { scope, name, value: `${version}`, rank: null }, { version })
    await opened.commit.commit(
      [copy('a', 3n), copy('b', 1n), row(scope, 'plain')],
      [note(scope, 3)],
    )
    await opened.commit.commit(
      [copy('a', 2n), remove(copies, { scope, name: 'b' }, { version: 2n })],
      [note(scope, 2)],
    )
    await opened.commit.commit([copy('b', 1n), copy('c', 1n)], [note(scope, 1)])
    await opened.commit.published()
    const rows = await opened.tables.slice(copies, { scope }, { limit: 10 })
    expect(rows.map(({ name, value }) => `${name}${value}`)).toEqual(['a3', 'c1'])
    expect(await rowsOf(scope)).toHaveLength(1)
    expect(await countsOf(scope)).toEqual([3, 2, 1])
  })

  test('a commit made again changes nothing but that its event comes again', async () => {
    const scope = randomUUID()
    const event = note(scope, 1)
    for (const _time of [1, 2, 3]) await opened.commit.commit([row(scope, 'a')], [event])
    await opened.commit.published()
    expect(await rowsOf(scope)).toHaveLength(1)
    const records = await readAll(opened.log, opened.topics[0])
    const found = records.filter(({ key }) => key === scope)
    expect(found.length).toBeGreaterThanOrEqual(1)
    expect(new Set(found.map(({ value }) => value)).size).toBe(1)
  })
}
