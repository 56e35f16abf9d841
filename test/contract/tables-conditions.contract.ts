/** Conditional writes: one winner, whoever races. */
import { expect, test } from 'vitest'
import { BadInputError } from '../../services/kernel/errors.ts'
import { claims } from '../../services/platform/generated/tables.ts'
import { versions } from './tables-fixture.ts'
import { freshName, type Subject } from './tables-subject.ts'

export const tablesConditionsContract = (subject: Subject): void => {
  test('insertIfAbsent inserts what is not there', async () => {
    const row = { name: freshName(), version: 1n, writer: 'ada', note: null }
    expect(await subject().insertIfAbsent(versions, row)).toEqual({ applied: true })
    expect(await subject().get(versions, row, { serial: true })).toEqual(row)
  })

  test('insertIfAbsent leaves what is there and shows it', async () => {
    const first = { name: freshName(), version: 1n, writer: 'ada', note: null }
    await subject().insertIfAbsent(versions, first)
    const second = { name: first.name, version: 9n, writer: 'bo', note: 'late' }
    expect(await subject().insertIfAbsent(versions, second)).toEqual({
      applied: false,
      current: first,
    })
    expect(await subject().get(versions, first, { serial: true })).toEqual(first)
  })

  test('a row of nulls is there for insertIfAbsent', async () => {
    const name = freshName()
    expect(await subject().insertIfAbsent(versions, { name })).toEqual({ applied: true })
    expect(await subject().insertIfAbsent(versions, { name, version: 1n })).toEqual({
      applied: false,
      current: { name, version: null, writer: null, note: null },
    })
  })

  test('compareAndSet changes the named columns when all that is expected holds', async () => {
    const row = { name: freshName(), version: 1n, writer: 'ada', note: 'kept' }
    await subject().insertIfAbsent(versions, row)
    const swap = { expected: { version: 1n, writer: 'ada' }, next: { version: 2n, writer: 'bo' } }
    expect(await subject().compareAndSet(versions, row, swap)).toEqual({ applied: true })
    expect(await subject().get(versions, row, { serial: true })).toEqual({
      ...row,
      version: 2n,
      writer: 'bo',
    })
  })

  test('compareAndSet shows what stands there when it does not hold', async () => {
    const row = { name: freshName(), version: 1n, writer: 'ada', note: null }
    await subject().insertIfAbsent(versions, row)
    for (const expected of [{ version: 2n }, { version: 1n, writer: 'bo' }, { note: 'x' }]) {
      const outcome = await subject().compareAndSet(versions, row, {
        expected,
        next: { version: 3n },
      })
      expect(outcome).toEqual({ applied: false, current: row })
    }
    expect(await subject().get(versions, row, { serial: true })).toEqual(row)
  })

  test('compareAndSet compares null as a value and undefined not at all', async () => {
    const row = { name: freshName(), version: 1n, writer: null, note: null }
    await subject().insertIfAbsent(versions, row)
    const wrong = { expected: { writer: 'ada' }, next: { version: 9n } }
    expect(await subject().compareAndSet(versions, row, wrong)).toMatchObject({ applied: false })
    const right = { expected: { writer: null }, next: { version: 2n, writer: 'bo' } }
    expect(await subject().compareAndSet(versions, row, right)).toEqual({ applied: true })
    const cleared = { expected: { writer: 'bo' }, next: { writer: null } }
    expect(await subject().compareAndSet(versions, row, cleared)).toEqual({ applied: true })
    expect(await subject().get(versions, row, { serial: true })).toEqual({ ...row, version: 2n })
  })

  test('compareAndSet that expects nothing changes a row that exists', async () => {
    const row = { name: freshName(), version: 1n, writer: null, note: null }
    await subject().insertIfAbsent(versions, row)
    const swap = { expected: {}, next: { note: 'seen' } }
    expect(await subject().compareAndSet(versions, row, swap)).toEqual({ applied: true })
    expect(await subject().get(versions, row, { serial: true })).toEqual({ ...row, note: 'seen' })
  })

  test('compareAndSet never makes a row, even where null is expected', async () => {
    const key = { name: freshName() }
    for (const expected of [{ version: 1n }, { version: null }, {}]) {
      const outcome = await subject().compareAndSet(versions, key, {
        expected,
        next: { version: 2n },
      })
      expect(outcome).toEqual({ applied: false, current: undefined })
    }
    expect(await subject().get(versions, key, { serial: true })).toBeUndefined()
  })

  test('compareAndSet that changes nothing is refused', async () => {
    const swap = { expected: { version: 1n }, next: {} }
    await expect(
      subject().compareAndSet(versions, { name: freshName() }, swap),
    ).rejects.toBeInstanceOf(BadInputError)
  })

  test('of many who insert one row at once exactly one wins, and all see its row', async () => {
    for (let round = 0; round < 5; round += 1) {
      const name = freshName()
      const racers = Array.from({ length: 16 }, (_, index) => `racer ${index}`)
      const outcomes = await Promise.all(
        racers.map((writer) => subject().insertIfAbsent(versions, { name, writer, version: 1n })),
      )
      const winners = racers.filter((_, index) => outcomes[index]?.applied)
      expect(winners).toHaveLength(1)
      const stored = await subject().get(versions, { name }, { serial: true })
      expect(stored?.writer).toBe(winners[0])
      for (const outcome of outcomes) {
        if (!outcome.applied) expect(outcome.current).toEqual(stored)
      }
    }
  })

  test('of many who insert or change a whole row at once exactly one wins', async () => {
    const name = freshName()
    const racers = Array.from({ length: 8 }, (_, index) => `racer ${index}`)
    const inserts = await Promise.all(
      racers.map((writer) =>
        subject().insertIfAbsent(versions, { name, writer, version: 1n, note: null }),
      ),
    )
    expect(inserts.filter(({ applied }) => applied)).toHaveLength(1)
    const swaps = await Promise.all(
      racers.map((writer) =>
        subject().compareAndSet(
          versions,
          { name },
          { expected: { version: 1n }, next: { version: 2n, writer, note: 'changed' } },
        ),
      ),
    )
    expect(swaps.filter(({ applied }) => applied)).toHaveLength(1)
  })

  test('of many who swap one version at once exactly one wins', async () => {
    const name = freshName()
    await subject().insertIfAbsent(versions, { name, version: 0n, writer: 'nobody' })
    for (let version = 0n; version < 5n; version += 1n) {
      const racers = Array.from({ length: 12 }, (_, index) => `${version} of racer ${index}`)
      const outcomes = await Promise.all(
        racers.map((writer) =>
          subject().compareAndSet(
            versions,
            { name },
            { expected: { version }, next: { version: version + 1n, writer } },
          ),
        ),
      )
      const winners = racers.filter((_, index) => outcomes[index]?.applied)
      expect(winners).toHaveLength(1)
      const stored = await subject().get(versions, { name }, { serial: true })
      expect(stored).toMatchObject({ version: version + 1n, writer: winners[0] })
    }
  })

  test('racing increments are all counted', async () => {
    const name = freshName()
    await subject().insertIfAbsent(versions, { name, version: 0n, writer: 'nobody' })
    const increment = async (writer: string): Promise<void> => {
      for (;;) {
        const row = await subject().get(versions, { name }, { serial: true })
        const version = row?.version ?? 0n
        const outcome = await subject().compareAndSet(
          versions,
          { name },
          { expected: { version }, next: { version: version + 1n, writer } },
        )
        if (outcome.applied) return
      }
    }
    const increments = Array.from({ length: 4 }, async (_, index) => {
      for (let turn = 0; turn < 5; turn += 1) await increment(`racer ${index} turn ${turn}`)
    })
    await Promise.all(increments)
    const row = await subject().get(versions, { name }, { serial: true })
    expect(row?.version).toBe(20n)
  })

  test('a serial read sees a claim made before it', async () => {
    const claim = { kind: 'suite', name: freshName(), owner: 7n, draftHash: 'h', claimedAt: 5 }
    expect(await subject().insertIfAbsent(claims, claim)).toEqual({ applied: true })
    expect(await subject().get(claims, claim, { serial: true })).toEqual(claim)
  })
}
