/** Expiry by TTL: garbage collection by real time. */
import { expect, test } from 'vitest'
import { BadInputError } from '../../services/kernel/errors.ts'
import { put, TTL_SECONDS_MAX } from '../../services/platform/tables.ts'
import { eventually } from '../kit/eventually.ts'
import { byName, versions } from './tables-fixture.ts'
import { freshName, type Subject } from './tables-subject.ts'

export const tablesExpiryContract = (subject: Subject): void => {
  test('a row with a TTL is there until its time, and gone some time after', async () => {
    const key = { scope: freshName(), name: 'brief' }
    const writtenAt = Date.now()
    await subject().write([put(byName, { ...key, value: 'v' }, { ttlSeconds: 2 })])
    await subject().write([put(byName, { scope: key.scope, name: 'lasting', value: 'v' })])
    const goneAt = await eventually(async () => {
      const sentAt = Date.now()
      if (await subject().get(byName, key)) return undefined
      return sentAt
    })
    // To the second: an engine that counts whole seconds may be up to one early.
    expect(goneAt - writtenAt).toBeGreaterThanOrEqual(1000)
    const rows = await subject().slice(byName, { scope: key.scope }, { limit: 1 })
    expect(rows.map(({ name }) => name)).toEqual(['lasting'])
    expect(await subject().getMany(byName, [key])).toEqual([undefined])
  })

  test('a row that is written again without a TTL stays', async () => {
    const scope = freshName()
    const brief = { ttlSeconds: 1 }
    await subject().write([put(byName, { scope, name: 'kept', value: '1' }, brief)])
    await subject().write([put(byName, { scope, name: 'kept', value: '2' })])
    await subject().write([put(byName, { scope, name: 'sign', value: '1' }, { ttlSeconds: 2 })])
    await eventually(async () => !(await subject().get(byName, { scope, name: 'sign' })))
    expect(await subject().get(byName, { scope, name: 'kept' })).toMatchObject({ value: '2' })
  })

  test('an insert with a TTL holds its place, and frees it some time after', async () => {
    const row = { name: freshName(), version: 1n, writer: 'ada', note: null }
    expect(await subject().insertIfAbsent(versions, row, { ttlSeconds: 2 })).toEqual({
      applied: true,
    })
    const next = { ...row, writer: 'bo' }
    expect(await subject().insertIfAbsent(versions, next)).toEqual({ applied: false, current: row })
    await eventually(async () => (await subject().insertIfAbsent(versions, next)).applied)
    expect(await subject().get(versions, row, { serial: true })).toEqual(next)
  })

  test('a put with a TTL that leaves a column out is refused', async () => {
    const key = { scope: freshName(), name: 'n' }
    await expect(subject().write([put(byName, key, { ttlSeconds: 5 })])).rejects.toBeInstanceOf(
      BadInputError,
    )
    expect(await subject().get(byName, key)).toBeUndefined()
  })

  test.each([0, -1, 0.5, Number.NaN, TTL_SECONDS_MAX + 1])(
    'a TTL of %d seconds is refused',
    async (ttlSeconds) => {
      const key = { scope: freshName(), name: 'n' }
      await expect(
        subject().write([put(byName, { ...key, value: 'v' }, { ttlSeconds })]),
      ).rejects.toBeInstanceOf(BadInputError)
      expect(await subject().get(byName, key)).toBeUndefined()
    },
  )
}
