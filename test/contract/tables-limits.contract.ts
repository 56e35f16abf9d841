/** What is refused, as what, and that nothing of it was written. */
import { expect, test } from 'vitest'
import { BadInputError, TooLargeError } from '../../services/kernel/errors.ts'
import {
  BATCH_WRITES_MAX,
  GET_MANY_MAX,
  KEY_BYTES_MAX,
  put,
  ROW_BYTES_MAX,
  remove,
  SLICE_MAX,
  SPREAD_BYTES_MAX,
  SPREAD_WRITES_MAX,
  type Write,
} from '../../services/platform/tables.ts'
import { byName, newest, samples } from './tables-fixture.ts'
import { freshName, freshReader, type Subject } from './tables-subject.ts'

export const tablesLimitsContract = (subject: Subject): void => {
  const refused = async (
    writes: readonly Write[],
    as: typeof BadInputError | typeof TooLargeError,
  ) => expect(subject().write(writes)).rejects.toBeInstanceOf(as)

  test('a key of the greatest length is taken, one byte more is refused', async () => {
    const scope = freshName()
    const longest = 'x'.repeat(KEY_BYTES_MAX - scope.length)
    await subject().write([put(byName, { scope, name: longest, value: 'v' })])
    expect(await subject().get(byName, { scope, name: longest })).toMatchObject({ value: 'v' })
    await refused([put(byName, { scope, name: `${longest}x`, value: 'v' })], TooLargeError)
    expect(await subject().slice(byName, { scope }, { limit: 9 })).toHaveLength(1)
  })

  test('a longest key may consist of NULs or of four-byte characters', async () => {
    for (const character of ['\u0000', '\u{10ffff}']) {
      const scope = freshName()
      const room = Math.floor((KEY_BYTES_MAX - scope.length) / Buffer.byteLength(character))
      const name = character.repeat(room)
      await subject().write([put(byName, { scope, name, value: 'v' })])
      expect(await subject().slice(byName, { scope }, { limit: 9 })).toEqual([
        { scope, name, value: 'v' },
      ])
    }
  })

  test('a row too large is refused and nothing of its batch is written', async () => {
    const owner = freshName()
    const body = new Uint8Array(ROW_BYTES_MAX)
    await refused(
      [
        put(samples, { owner, shard: 1, whole: 1 }),
        put(samples, { owner, shard: 2, body, plainText: 'one more byte' }),
      ],
      TooLargeError,
    )
    expect(await subject().get(samples, { owner, shard: 1 })).toBeUndefined()
  })

  test('a batch of one partition holds up to its limit', async () => {
    const reader = freshReader()
    const rows = Array.from({ length: BATCH_WRITES_MAX + 1 }, (_, index) =>
      put(newest, { reader, ms: index, id: 1n, rank: index }),
    )
    await refused(rows, TooLargeError)
    expect(await subject().slice(newest, { reader }, { limit: 1 })).toEqual([])
    await subject().write(rows.slice(1))
    expect(await subject().slice(newest, { reader }, { limit: SLICE_MAX })).toHaveLength(
      BATCH_WRITES_MAX,
    )
  })

  test('a batch over partitions holds up to its limit of rows', async () => {
    const owner = freshName()
    const rows = Array.from({ length: SPREAD_WRITES_MAX + 1 }, (_, shard) =>
      put(samples, { owner, shard, whole: shard }),
    )
    await refused(rows, TooLargeError)
    expect(await subject().get(samples, { owner, shard: 0 })).toBeUndefined()
    await subject().write(rows.slice(1))
    const keys = rows.map((_, shard) => ({ owner, shard }))
    const found = await subject().getMany(samples, keys)
    expect(found.filter(Boolean)).toHaveLength(SPREAD_WRITES_MAX)
  })

  test('a batch over partitions holds up to its limit of bytes', async () => {
    const owner = freshName()
    const plainText = 'x'.repeat(SPREAD_BYTES_MAX / 2)
    const rows = [1, 2].map((shard) => put(samples, { owner, shard, plainText }))
    await refused(rows, TooLargeError)
    expect(await subject().get(samples, { owner, shard: 1 })).toBeUndefined()
  })

  test('a batch that names a row twice is refused', async () => {
    const key = { scope: freshName(), name: 'n' }
    await refused([put(byName, { ...key, value: '1' }), put(byName, key)], BadInputError)
    await refused([put(byName, { ...key, value: '1' }), remove(byName, key)], BadInputError)
    expect(await subject().get(byName, key)).toBeUndefined()
  })

  test('a key column that is missing or null is refused', async () => {
    const scope = freshName()
    const missing = { scope } as { scope: string; name: string }
    const nothing: typeof missing = { scope, ...JSON.parse('{"name":null}') }
    for (const key of [missing, nothing]) {
      await refused([put(byName, key)], BadInputError)
      await refused([remove(byName, key)], BadInputError)
      await expect(subject().get(byName, key)).rejects.toBeInstanceOf(BadInputError)
      await expect(subject().getMany(byName, [key])).rejects.toBeInstanceOf(BadInputError)
    }
    const none = {} as { scope: string }
    await expect(subject().slice(byName, none, { limit: 1 })).rejects.toBeInstanceOf(BadInputError)
  })

  test.each([
    ['an int beyond 32 bits', { whole: 2 ** 31 }],
    ['an int with a fraction', { whole: 0.5 }],
    ['a bigint beyond 64 bits', { large: 2n ** 63n }],
    ['a time with a fraction', { seenAt: 0.5 }],
    ['a time beyond what a date holds', { seenAt: 8.64e15 + 1 }],
    ['a number that is none', { whole: Number.NaN }],
  ])('%s is refused', async (_what, cells) => {
    const key = { owner: freshName(), shard: 1 }
    await refused([put(samples, { ...key, ...cells })], BadInputError)
    expect(await subject().get(samples, key)).toBeUndefined()
  })

  test.each([0, -1, SLICE_MAX + 1, 1.5, Number.NaN])(
    'a slice of %d rows is refused',
    async (limit) => {
      const slicing = subject().slice(newest, { reader: freshReader() }, { limit })
      await expect(slicing).rejects.toBeInstanceOf(BadInputError)
    },
  )

  test('a slice with two beginnings or two ends, or a bound with a hole, is refused', async () => {
    const [a, b] = [{ ms: 1 }, { ms: 2 }]
    for (const bounds of [
      { after: a, from: b },
      { until: b, before: a },
      { from: { id: 1n } },
      { from: {} },
    ]) {
      const slicing = subject().slice(newest, { reader: freshReader() }, { limit: 1, ...bounds })
      await expect(slicing).rejects.toBeInstanceOf(BadInputError)
    }
  })

  test('getMany of more keys than its limit is refused', async () => {
    const reader = freshReader()
    const keys = Array.from({ length: GET_MANY_MAX + 1 }, (_, ms) => ({ reader, ms, id: 1n }))
    await expect(subject().getMany(newest, keys)).rejects.toBeInstanceOf(TooLargeError)
    expect(await subject().getMany(newest, keys.slice(1))).toHaveLength(GET_MANY_MAX)
  })
}
