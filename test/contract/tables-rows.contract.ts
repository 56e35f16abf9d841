/** Ordinary use: what is put is what is read. */
import { expect, test } from 'vitest'
import { put, remove } from '../../services/platform/tables.ts'
import { byName, newest, type SampleRow, samples } from './tables-fixture.ts'
import { freshName, freshReader, type Subject } from './tables-subject.ts'

const whole = (owner: string): SampleRow => ({
  owner,
  shard: 7,
  plainText: 'first light',
  whole: -2_147_483_648,
  large: 9_223_372_036_854_775_807n,
  ratio: 0.1,
  isOn: false,
  body: Uint8Array.of(0, 1, 255),
  seenAt: 1_767_225_600_123,
})

const empty = { plainText: null, whole: null, large: null, ratio: null } as const
const rest = { isOn: null, body: null, seenAt: null } as const

/** Bytes as a plain array, whatever class the engine gives them. */
const plain = (row: SampleRow | undefined) => row && { ...row, body: row.body && [...row.body] }

export const tablesRowsContract = (subject: Subject): void => {
  test('a row comes back as it was put, every type', async () => {
    const row = whole(freshName())
    await subject().write([put(samples, row)])
    const found = await subject().get(samples, { owner: row.owner, shard: 7 })
    expect(plain(found)).toEqual(plain(row))
    expect(found?.body).toBeInstanceOf(Uint8Array)
  })

  test.each([
    { whole: 2_147_483_647, large: -9_223_372_036_854_775_808n, seenAt: 0 },
    { whole: 0, large: 0n, seenAt: -1 },
    { whole: -1, large: -1n, seenAt: 8_640_000_000_000_000 },
    { whole: 1, large: 9_007_199_254_740_993n, seenAt: -8_640_000_000_000_000 },
  ])('numbers at their edges are kept: $whole, $large, $seenAt', async (edges) => {
    const row = { ...whole(freshName()), ...edges }
    await subject().write([put(samples, row)])
    expect(await subject().get(samples, row)).toMatchObject(edges)
  })

  test.each([0, -0.5, Number.MAX_VALUE, Number.MIN_VALUE, Number.POSITIVE_INFINITY])(
    'the double %d is kept',
    async (ratio) => {
      const row = { ...whole(freshName()), ratio }
      await subject().write([put(samples, row)])
      expect((await subject().get(samples, row))?.ratio).toBe(ratio)
    },
  )

  test('a row that is not there is undefined', async () => {
    expect(await subject().get(samples, { owner: freshName(), shard: 0 })).toBeUndefined()
  })

  test('the columns of a partition key tell rows apart', async () => {
    const owner = freshName()
    await subject().write([put(samples, { owner, shard: 1, plainText: 'one' })])
    await subject().write([put(samples, { owner, shard: -1, plainText: 'minus one' })])
    expect((await subject().get(samples, { owner, shard: 1 }))?.plainText).toBe('one')
    expect((await subject().get(samples, { owner, shard: -1 }))?.plainText).toBe('minus one')
  })

  test('a column never written reads as null', async () => {
    const owner = freshName()
    await subject().write([put(samples, { owner, shard: 1, whole: 5 })])
    expect(await subject().get(samples, { owner, shard: 1 })).toEqual({
      ...{ owner, shard: 1, ...empty, ...rest },
      whole: 5,
    })
  })

  test('empty text and empty bytes are not null', async () => {
    const owner = freshName()
    await subject().write([
      put(samples, { owner, shard: 1, plainText: '', body: new Uint8Array() }),
    ])
    const found = await subject().get(samples, { owner, shard: 1 })
    expect(found?.plainText).toBe('')
    expect(found?.body?.length).toBe(0)
  })

  test('a put leaves the columns it does not name as they are', async () => {
    const row = whole(freshName())
    await subject().write([put(samples, row)])
    await subject().write([put(samples, { owner: row.owner, shard: 7, whole: 2, isOn: null })])
    const found = await subject().get(samples, row)
    expect(plain(found)).toEqual(plain({ ...row, whole: 2, isOn: null }))
  })

  test('undefined leaves a column as it is, null takes its value away', async () => {
    const { owner } = whole(freshName())
    await subject().write([put(samples, { owner, shard: 1, plainText: 'kept', whole: 1 })])
    const changes = { plainText: undefined, whole: null } as { whole: null }
    await subject().write([put(samples, { owner, shard: 1, ...changes })])
    const found = await subject().get(samples, { owner, shard: 1 })
    expect(found).toMatchObject({ plainText: 'kept', whole: null })
  })

  test('a row whose columns are all null is still a row', async () => {
    const owner = freshName()
    await subject().write([put(samples, { owner, shard: 1, whole: 1 })])
    await subject().write([put(samples, { owner, shard: 1, ...empty, ...rest })])
    expect(await subject().get(samples, { owner, shard: 1 })).toEqual({
      ...{ owner, shard: 1, ...empty, ...rest },
    })
  })

  test('a put of nothing but the key makes a row', async () => {
    const scope = freshName()
    await subject().write([put(byName, { scope, name: 'n' })])
    expect(await subject().get(byName, { scope, name: 'n' })).toEqual({
      ...{ scope, name: 'n', value: null },
    })
  })

  test('a removed row is gone, and can be put again without its old columns', async () => {
    const { owner } = whole(freshName())
    const key = { owner, shard: 1 }
    await subject().write([put(samples, { ...key, plainText: 'old', whole: 1 })])
    await subject().write([remove(samples, key)])
    expect(await subject().get(samples, key)).toBeUndefined()
    await subject().write([put(samples, { ...key, whole: 2 })])
    expect(await subject().get(samples, key)).toMatchObject({ plainText: null, whole: 2 })
  })

  test('removing what is not there is no error', async () => {
    await subject().write([remove(samples, { owner: freshName(), shard: 1 })])
  })

  test('writing nothing is no error', async () => {
    await subject().write([])
  })

  test('the last of many writes of a row wins', async () => {
    const key = { scope: freshName(), name: 'n' }
    for (let turn = 1; turn <= 50; turn += 1) {
      await subject().write([put(byName, { ...key, value: `${turn}` })])
    }
    expect((await subject().get(byName, key))?.value).toBe('50')
  })

  test.each([
    ['emoji', '👩‍👩‍👧'],
    ['combining marks', 'e\u0301'],
    ['the same letter composed', '\u00e9'],
    ['NUL inside', 'a\u0000b'],
    ['only NUL', '\u0000'],
    ['the last code point', '\u{10ffff}'],
    ['right to left', 'שלום'],
    ['white space', ' \t\n'],
    ['quotes', `'";--`],
  ])('a key may hold %s', async (_what, name) => {
    const scope = `${freshName()} ${name}`
    await subject().write([put(byName, { scope, name, value: name })])
    await subject().write([put(byName, { scope, name: `${name}!`, value: 'another' })])
    expect(await subject().get(byName, { scope, name })).toEqual({ scope, name, value: name })
    const rows = await subject().slice(byName, { scope }, { limit: 10 })
    expect(rows.map((row) => row.name)).toEqual([name, `${name}!`])
  })

  test('a clustering key may be empty text', async () => {
    const scope = freshName()
    await subject().write([put(byName, { scope, name: '', value: 'v' })])
    expect(await subject().get(byName, { scope, name: '' })).toMatchObject({ value: 'v' })
  })

  test('values of 1 MiB come back whole', async () => {
    const owner = freshName()
    const body = new Uint8Array(1024 * 1024).map((_, index) => (index * 31) % 251)
    const text = 'ü'.repeat(256 * 1024)
    await subject().write([put(samples, { owner, shard: 1, body, plainText: text })])
    const found = await subject().get(samples, { owner, shard: 1 })
    expect(Buffer.from(found?.body ?? []).equals(body)).toBe(true)
    expect(found?.plainText === text).toBe(true)
  })

  test('getMany answers in the order of the keys, undefined where there is no row', async () => {
    const scope = freshName()
    const names = ['c', 'a', 'b']
    await subject().write(names.map((name) => put(byName, { scope, name, value: name })))
    const keys = ['b', 'x', 'c', 'a', 'b'].map((name) => ({ scope, name }))
    const rows = await subject().getMany(byName, keys)
    expect(rows.map((row) => row?.value)).toEqual(['b', undefined, 'c', 'a', 'b'])
    expect(await subject().getMany(byName, [])).toEqual([])
  })

  test('getMany reads rows of many partitions', async () => {
    const readers = Array.from({ length: 300 }, freshReader)
    const rows = readers.map((reader) => ({ reader, ms: 1, id: 1n, title: `${reader}`, rank: 0 }))
    await Promise.all(rows.map((row) => subject().write([put(newest, row)])))
    expect(await subject().getMany(newest, rows)).toEqual(rows)
  })

  test('a write over several partitions and tables is all there when it resolves', async () => {
    const [scope, owner, reader] = [freshName(), freshName(), freshReader()]
    await subject().write([
      put(byName, { scope, name: 'n', value: 'v' }),
      put(samples, { owner, shard: 1, whole: 1 }),
      put(newest, { reader, ms: 1, id: 1n, title: 't' }),
    ])
    expect(await subject().get(byName, { scope, name: 'n' })).toBeDefined()
    expect(await subject().get(samples, { owner, shard: 1 })).toBeDefined()
    expect(await subject().get(newest, { reader, ms: 1, id: 1n })).toBeDefined()
  })

  test('a batch puts and removes rows of one partition', async () => {
    const scope = freshName()
    await subject().write(['a', 'b', 'c'].map((name) => put(byName, { scope, name, value: '1' })))
    await subject().write([
      remove(byName, { scope, name: 'a' }),
      put(byName, { scope, name: 'b', value: '2' }),
      put(byName, { scope, name: 'd', value: '2' }),
    ])
    const rows = await subject().slice(byName, { scope }, { limit: 10 })
    expect(rows.map(({ name, value }) => `${name}${value}`)).toEqual(['b2', 'c1', 'd2'])
  })

  test('nobody sees a part of a batch of one partition', async () => {
    const scope = freshName()
    const batch = (value: string) =>
      ['a', 'b', 'c', 'd'].map((name) => put(byName, { scope, name, value }))
    await subject().write(batch('0'))
    let finished = false
    const writing = (async () => {
      for (let turn = 1; turn <= 40; turn += 1) await subject().write(batch(`${turn}`))
      finished = true
    })()
    let looks = 0
    for (; !finished; looks += 1) {
      const rows = await subject().slice(byName, { scope }, { limit: 10 })
      expect(new Set(rows.map(({ value }) => value)).size).toBe(1)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await writing
    expect(looks).toBeGreaterThan(0)
  })
}
