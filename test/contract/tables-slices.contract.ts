/** Slices: every edge, both ways, in tables that run up and tables that run down. */
import { expect, test } from 'vitest'
import { pages, put, type Slice } from '../../services/platform/tables.ts'
import { byName, byNameDown, marks, newest, oldest } from './tables-fixture.ts'
import { freshName, freshReader, type Subject } from './tables-subject.ts'

type EntrySlice = Omit<Slice<typeof oldest>, 'limit'>

/** Three blocks of equal ms, with ids whose digits and signs do not sort as text. */
const PAIRS: readonly (readonly [ms: number, id: bigint])[] = [
  [-5, 7n],
  [100, -9_223_372_036_854_775_808n],
  [100, -1n],
  [100, 999n],
  [100, 1000n],
  [100, 9_223_372_036_854_775_807n],
  [101, 1n],
  [1000, 0n],
]
const BLOCK = PAIRS.filter(([ms]) => ms === 100)

const pairText = ([ms, id]: readonly [number, bigint]): string => `${ms}/${id}`

/** The pairs a slice must give, worked out from its definition. */
const expected = (order: 'asc' | 'desc', slice: EntrySlice): string[] => {
  const backwards = (order === 'desc') !== (slice.direction === 'reverse')
  const reading = backwards ? PAIRS.toReversed() : PAIRS
  const sign = backwards ? -1 : 1
  // < 0: the pair comes before the bound's block in reading direction, 0: it is in the block.
  const side = ([ms, id]: readonly [number, bigint], bound: { ms?: number; id?: bigint }) => {
    const byMs = Math.sign(ms - (bound.ms ?? 0))
    if (byMs !== 0 || bound.id === undefined) return byMs * sign
    return (id < bound.id ? -1 : id > bound.id ? 1 : 0) * sign
  }
  const { after, from, until, before } = slice
  return reading
    .filter((pair) => !after || side(pair, after) > 0)
    .filter((pair) => !from || side(pair, from) >= 0)
    .filter((pair) => !until || side(pair, until) <= 0)
    .filter((pair) => !before || side(pair, before) < 0)
    .map(pairText)
}

const BOUNDS = [
  { ms: 100 },
  { ms: 100, id: 999n },
  { ms: 100, id: 1000n },
  { ms: 100, id: 500n },
  { ms: 100, id: -9_223_372_036_854_775_808n },
  { ms: 100, id: 9_223_372_036_854_775_807n },
  { ms: 99 },
  { ms: -5 },
  { ms: -8_640_000_000_000_000 },
  { ms: 8_640_000_000_000_000 },
  { ms: 1000, id: 0n },
] as const

const text = (value: unknown): string =>
  JSON.stringify(value, (_name, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))

export const tablesSlicesContract = (subject: Subject): void => {
  const fill = async (table: typeof oldest): Promise<bigint> => {
    const reader = freshReader()
    const shuffled = [...PAIRS].sort(([, a], [, b]) => (a % 7n < b % 7n ? -1 : 1))
    await subject().write(
      shuffled.map(([ms, id]) => put(table, { reader, ms, id, title: `${id}`, rank: 1 })),
    )
    return reader
  }
  const read = async (table: typeof oldest, reader: bigint, slice: EntrySlice, limit = 100) =>
    (await subject().slice(table, { reader }, { ...slice, limit })).map(({ ms, id }) =>
      pairText([ms, id]),
    )

  for (const [order, table] of [
    ['asc', oldest],
    ['desc', newest],
  ] as const) {
    for (const direction of ['table', 'reverse'] as const) {
      test(`every bound of a table that runs ${order}, read in direction ${direction}`, async () => {
        const reader = await fill(table)
        for (const start of [{}, ...BOUNDS.flatMap((b) => [{ after: b }, { from: b }])]) {
          for (const end of [{}, ...BOUNDS.flatMap((b) => [{ until: b }, { before: b }])]) {
            const slice: EntrySlice = { direction, ...start, ...end }
            const found = await read(table, reader, slice)
            expect(found, text(slice)).toEqual(expected(order, slice))
          }
        }
      })
    }

    test(`a limit cuts a slice of a table that runs ${order} in reading direction`, async () => {
      const reader = await fill(table)
      for (const direction of ['table', 'reverse'] as const) {
        for (const limit of [1, 2, PAIRS.length - 1, PAIRS.length, PAIRS.length + 1]) {
          const all = expected(order, { direction })
          expect(await read(table, reader, { direction }, limit)).toEqual(all.slice(0, limit))
          const block = expected(order, { direction, from: { ms: 100 }, until: { ms: 100 } })
          expect(block).toHaveLength(BLOCK.length)
          const slice = { direction, from: { ms: 100 }, until: { ms: 100 } }
          expect(await read(table, reader, slice, limit)).toEqual(block.slice(0, limit))
        }
      }
    })

    test(`pages of a table that runs ${order} meet without gap or repetition`, async () => {
      const reader = await fill(table)
      for (const direction of ['table', 'reverse'] as const) {
        for (const limit of [1, 2, 3, PAIRS.length]) {
          const seen: string[] = []
          for await (const page of pages(subject(), table, { reader }, { limit, direction })) {
            seen.push(...page.map(({ ms, id }) => pairText([ms, id])))
          }
          expect(seen).toEqual(expected(order, { direction }))
        }
      }
    })
  }

  test('a slice holds whole rows', async () => {
    const reader = freshReader()
    const row = { reader, ms: 1, id: 2n, title: 'first light', rank: null }
    await subject().write([put(newest, row)])
    expect(await subject().slice(newest, { reader }, { limit: 1 })).toEqual([row])
  })

  test('a partition without rows is an empty slice, and has no pages', async () => {
    const reader = freshReader()
    expect(await subject().slice(newest, { reader }, { limit: 5 })).toEqual([])
    for await (const page of pages(subject(), newest, { reader }, { limit: 5 })) {
      expect.unreachable(`a page of ${page.length} rows`)
    }
  })

  test('a slice stays within its partition, whatever lies beside it', async () => {
    const reader = freshReader()
    const neighbours = [reader - 1n, reader + 1n, -reader]
    for (const each of [...neighbours, reader]) {
      await subject().write([put(oldest, { reader: each, ms: 1, id: 1n, title: `${each}` })])
    }
    for (const direction of ['table', 'reverse'] as const) {
      const rows = await subject().slice(oldest, { reader }, { limit: 10, direction })
      expect(rows.map(({ title }) => title)).toEqual([`${reader}`])
    }
    const scope = freshName()
    const near = [scope, `${scope}\u0000`, `${scope}a`, scope.slice(0, -1)]
    for (const each of near) await subject().write([put(byName, { scope: each, name: 'n' })])
    for (const each of near) {
      expect(await subject().slice(byName, { scope: each }, { limit: 10 })).toHaveLength(1)
    }
  })

  test('text runs in the order of its UTF-8 bytes', async () => {
    const names = ['', '\u0000', '\u0000a', 'A', 'Z', 'a', 'a\u0000', 'aa', 'ab', 'b', 'z']
    // U+FF5E is before U+1F600 in UTF-8 and after it in UTF-16.
    names.push('é', 'e\u0301', 'ÿ', '\uff5e', '\u{1f600}', '\u{10ffff}', '999', '1000')
    const sorted = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const scope = freshName()
    for (const table of [byName, byNameDown]) {
      await subject().write(names.map((name) => put(table, { scope, name, value: name })))
      const order = table === byName ? sorted : sorted.toReversed()
      const all = await subject().slice(table, { scope }, { limit: 100 })
      expect(all.map(({ name }) => name)).toEqual(order)
      for (const [index, name] of order.entries()) {
        const rest = await subject().slice(table, { scope }, { limit: 100, after: { name } })
        expect(rest.map((row) => row.name)).toEqual(order.slice(index + 1))
        const back = { limit: 100, from: { name }, direction: 'reverse' } as const
        const before = await subject().slice(table, { scope }, back)
        expect(before.map((row) => row.name)).toEqual(order.slice(0, index + 1).toReversed())
      }
    }
  })

  test('booleans, ints and bytes run in their order, and bounds name leading columns', async () => {
    const home = freshName()
    const tags = [[], [0], [0, 0], [1], [1, 1], [2], [255], [255, 0]].map((t) => Uint8Array.from(t))
    const rows = [false, true].flatMap((isPinned) =>
      [-2_147_483_648, -1, 0, 9, 10, 2_147_483_647].flatMap((place) =>
        tags.map((tag) => ({ home, isPinned, place, tag, note: null })),
      ),
    )
    await subject().write(rows.toReversed().map((row) => put(marks, row)))
    const shown = (list: readonly (typeof rows)[number][]) =>
      list.map(({ isPinned, place, tag }) => `${isPinned} ${place} ${[...tag]}`)
    const all = await subject().slice(marks, { home }, { limit: 1000 })
    expect(shown(all as typeof rows)).toEqual(shown(rows))
    const block = { isPinned: true, place: 9 }
    const inBlock = await subject().slice(marks, { home }, { limit: 99, from: block, until: block })
    expect(shown(inBlock as typeof rows)).toEqual(
      shown(rows.filter(({ isPinned, place }) => isPinned && place === 9)),
    )
    const past = await subject().slice(marks, { home }, { limit: 999, after: { isPinned: false } })
    expect(past).toHaveLength(rows.length / 2)
  })

  test('a partition of 10,000 rows is walked by pages, both ways and from the middle', async () => {
    const reader = freshReader()
    const ids = Array.from({ length: 10_000 }, (_, index) => BigInt(index))
    for (let start = 0; start < ids.length; start += 1000) {
      await subject().write(
        ids.slice(start, start + 1000).map((id) => put(newest, { reader, ms: 1, id, rank: 0 })),
      )
    }
    const walk = async (slice: Omit<Slice<typeof newest>, 'limit'>) => {
      const seen: bigint[] = []
      for await (const page of pages(subject(), newest, { reader }, { ...slice, limit: 997 })) {
        seen.push(...page.map(({ id }) => id))
      }
      return seen
    }
    expect(await walk({})).toEqual(ids.toReversed())
    expect(await walk({ direction: 'reverse' })).toEqual(ids)
    const middle = { ms: 1, id: 5000n }
    expect(await walk({ after: middle })).toEqual(ids.slice(0, 5000).toReversed())
    expect(await walk({ from: middle })).toEqual(ids.slice(0, 5001).toReversed())
  })

  test('rows put while a partition is walked do not disturb the walk', async () => {
    const reader = freshReader()
    const row = (id: bigint) => put(newest, { reader, ms: 10, id, title: `${id}` })
    await subject().write([2n, 4n, 6n, 8n].map(row))
    const seen: bigint[] = []
    for await (const page of pages(subject(), newest, { reader }, { limit: 2 })) {
      seen.push(...page.map(({ id }) => id))
      if (seen.length === 2) await subject().write([row(9n), row(5n)])
    }
    expect(seen).toEqual([8n, 6n, 5n, 4n, 2n])
  })
}
