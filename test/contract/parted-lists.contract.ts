/** Lists without end in partitions that have one. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Settings, type Values } from '../../services/kernel/settings.ts'
import { SystemClock } from '../../services/platform/clock.ts'
import { listParts } from '../../services/platform/generated/tables.ts'
import {
  type ListPosition,
  type PartedList,
  PartedLists,
} from '../../services/platform/parted-lists.ts'
import { listSettings } from '../../services/platform/settings.ts'
import { put, remove } from '../../services/platform/tables.ts'
import type { OpenedTables, OpenTables } from '../kit/open-tables.ts'
import { newest, oldest } from './tables-fixture.ts'

const PARTS_MAX = 1_000n

type Entries = typeof newest

const listOf = (table: Entries): PartedList<Entries> => ({
  name: table.name,
  table,
  partition: (owner, part) => ({ reader: owner * PARTS_MAX + BigInt(part) }),
})
const newestFirst = listOf(newest)
const oldestFirst = listOf(oldest)

let owners = BigInt(Date.now())
const freshOwner = (): bigint => {
  owners += 1n
  return owners
}

export const partedListsContract = (open: OpenTables): void => {
  let opened: OpenedTables
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened[Symbol.asyncDispose]())

  const openLists = (changes: Partial<Values<typeof listSettings>> = {}): PartedLists =>
    new PartedLists({
      tables: opened.tables,
      clock: new SystemClock(),
      settings: { ...new Settings([listSettings]).view(listSettings), ...changes },
    })
  const add = async (
    lists: PartedLists,
    list: PartedList<Entries>,
    { owner, ms }: { owner: bigint; ms: number },
  ): Promise<number> => {
    const part = await lists.openPart(list, owner)
    const row = { ...list.partition(owner, part), ms, id: BigInt(ms), title: null, rank: null }
    await opened.tables.write([put(list.table, row)])
    await lists.added(list, { owner, part, version: BigInt(ms) })
    return part
  }
  const fill = async (
    lists: PartedLists,
    list: PartedList<Entries>,
    count: number,
  ): Promise<{ owner: bigint; parts: number[] }> => {
    const owner = freshOwner()
    const parts: number[] = []
    for (let ms = 1; ms <= count; ms += 1) parts.push(await add(lists, list, { owner, ms }))
    return { owner, parts }
  }
  const walk = async (
    list: PartedList<Entries>,
    owner: bigint,
    first: number,
    direction: 'table' | 'reverse' = 'table',
  ): Promise<number[][]> => {
    const walked: number[][] = []
    let from: ListPosition<Entries> | undefined
    do {
      const page = await openLists().page(list, owner, { first, from, direction })
      walked.push(page.entries.map(({ row }) => row.ms))
      from = page.next
    } while (from)
    return walked
  }
  const down = (count: number): number[] => Array.from({ length: count }, (_, at) => count - at)
  const up = (count: number): number[] => down(count).reverse()

  test('a list nobody added to has one empty page', async () => {
    const owner = freshOwner()
    expect(await openLists().openPart(newestFirst, owner)).toBe(0)
    expect(await openLists().page(newestFirst, owner, { first: 10 })).toEqual({ entries: [] })
  })

  test('a part that is full is followed by the next', async () => {
    const lists = openLists({ partRows: 10, measureEvery: 1 })
    const { parts } = await fill(lists, newestFirst, 35)
    const expected = Array.from({ length: 35 }, (_, index) => Math.floor(index / 10))
    expect(parts).toEqual(expected)
  })

  test('a list is read whole over its parts, in either order and either direction', async () => {
    const lists = openLists({ partRows: 10, measureEvery: 1 })
    const falling = await fill(lists, newestFirst, 35)
    const rising = await fill(lists, oldestFirst, 35)
    for (const first of [1, 4, 5, 7, 10, 30, 35, 100]) {
      const all = async (...how: Parameters<typeof walk>) => (await walk(...how)).flat()
      expect(await all(newestFirst, falling.owner, first)).toEqual(down(35))
      expect(await all(newestFirst, falling.owner, first, 'reverse')).toEqual(up(35))
      expect(await all(oldestFirst, rising.owner, first)).toEqual(up(35))
      expect(await all(oldestFirst, rising.owner, first, 'reverse')).toEqual(down(35))
    }
  })

  test('pages are full up to the last, which names no next one', async () => {
    const lists = openLists({ partRows: 10, measureEvery: 1 })
    const { owner } = await fill(lists, newestFirst, 30)
    const walked = await walk(newestFirst, owner, 5)
    expect(walked.map((page) => page.length)).toEqual([5, 5, 5, 5, 5, 5])
  })

  test('parts that were emptied do not end a list nor hold up a page', async () => {
    const lists = openLists({ partRows: 2, measureEvery: 1 })
    const { owner, parts } = await fill(lists, newestFirst, 40)
    const emptied = parts.flatMap((part, index) => {
      const ms = index + 1
      if (ms === 1) return []
      return [remove(newest, { ...newestFirst.partition(owner, part), ms, id: BigInt(ms) })]
    })
    await opened.tables.write(emptied)
    const walked = await walk(newestFirst, owner, 5)
    expect(walked.flat()).toEqual([1])
    expect(walked.length).toBeGreaterThan(1)
  })

  test('what is added while a list is read moves no position', async () => {
    const lists = openLists({ partRows: 10, measureEvery: 1 })
    const { owner } = await fill(lists, newestFirst, 20)
    const { next } = await lists.page(newestFirst, owner, { first: 5 })
    for (let ms = 21; ms <= 45; ms += 1) await add(lists, newestFirst, { owner, ms })
    const rest = await lists.page(newestFirst, owner, { first: 100, from: next })
    expect(rest.entries.map(({ row }) => row.ms)).toEqual(down(15))
  })

  test('of two who find a part full at once both go to the same next one', async () => {
    const lists = openLists({ partRows: 4, measureEvery: 1 })
    const { owner } = await fill(lists, newestFirst, 3)
    await Promise.all([4, 5, 6, 7].map((ms) => add(lists, newestFirst, { owner, ms })))
    const rows = await opened.tables.slice(
      listParts,
      { list: newestFirst.name, owner },
      { limit: 10 },
    )
    expect(rows.map(({ part }) => part)).toEqual([1])
  })

  test('about one entry in many measures its part', async () => {
    const lists = openLists({ partRows: 1, measureEvery: 10 })
    const { parts } = await fill(lists, oldestFirst, 200)
    const opened = parts.at(-1) ?? 0
    expect(opened).toBeGreaterThan(5)
    expect(opened).toBeLessThan(50)
  })
}
