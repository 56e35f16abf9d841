/** A condition on one row that takes other rows of its partition along. */
import { expect, test } from 'vitest'
import { BadInputError } from '../../services/kernel/errors.ts'
import { put, remove, type Swap, type Write } from '../../services/platform/tables.ts'
import { type LedgerRow, ledgers } from './tables-fixture.ts'
import { freshName, type Subject } from './tables-subject.ts'

type LedgerSwap = Swap<typeof ledgers>

const line = (book: string, number: number, amount: number): Write =>
  put(ledgers, { book, line: number, amount, version: null, writer: null })

export const tablesSwapsContract = (subject: Subject): void => {
  const read = (book: string) => subject().slice(ledgers, { book }, { limit: 1000 })
  const amounts = async (book: string) =>
    (await read(book)).map((row) => `${row.line}: ${row.amount}`)
  const swap = (book: string, change: LedgerSwap, others: readonly Write[]) =>
    subject().compareAndWrite(ledgers, { book, line: 0 }, change, others)
  const open = async (book: string): Promise<LedgerRow> => {
    const next = { amount: 0, version: 1n, writer: 'opener' }
    expect(await swap(book, { absent: true, next }, [])).toEqual({ applied: true })
    return { book, line: 0, ...next }
  }

  test('an absent row is made together with the others', async () => {
    const book = freshName()
    const next = { amount: 3, version: 1n, writer: 'ada' }
    const others = [line(book, 1, 1), line(book, 2, 2)]
    expect(await swap(book, { absent: true, next }, others)).toEqual({ applied: true })
    expect(await amounts(book)).toEqual(['0: 3', '1: 1', '2: 2'])
  })

  test('where the row is, an insert writes nothing and shows what is there', async () => {
    const book = freshName()
    const header = await open(book)
    const next = { amount: 9, version: 9n, writer: 'late' }
    expect(await swap(book, { absent: true, next }, [line(book, 1, 9)])).toEqual({
      applied: false,
      current: header,
    })
    expect(await read(book)).toEqual([header])
  })

  test('what is expected holds: the named columns change, the others are put and removed', async () => {
    const book = freshName()
    await open(book)
    const first = { expected: { version: 1n }, next: { version: 2n, amount: 3, writer: 'a' } }
    const filled = await swap(book, first, [line(book, 1, 1), line(book, 2, 2)])
    expect(filled).toEqual({ applied: true })
    const second = { expected: { version: 2n, writer: 'a' }, next: { version: 3n, writer: 'b' } }
    const others = [remove(ledgers, { book, line: 1 }), line(book, 3, 1)]
    expect(await swap(book, second, others)).toEqual({ applied: true })
    expect(await amounts(book)).toEqual(['0: 3', '2: 2', '3: 1'])
    const [header] = await read(book)
    expect(header).toEqual({ book, line: 0, amount: 3, version: 3n, writer: 'b' })
  })

  test('what is expected does not hold: nothing is written, and the whole row is shown', async () => {
    const book = freshName()
    const header = await open(book)
    for (const expected of [{ version: 2n }, { version: 1n, writer: 'x' }, { amount: null }]) {
      const change = { expected, next: { version: 9n, writer: 'late' } }
      expect(await swap(book, change, [line(book, 1, 9)])).toEqual({
        applied: false,
        current: header,
      })
    }
    expect(await read(book)).toEqual([header])
  })

  test('a row that is not there fulfils no expectation, not even none', async () => {
    const book = freshName()
    for (const expected of [{ version: 1n }, { version: null }, {}]) {
      const change = { expected, next: { version: 1n, writer: 'w' } }
      expect(await swap(book, change, [line(book, 1, 1)])).toEqual({
        applied: false,
        current: undefined,
      })
    }
    expect(await read(book)).toEqual([])
  })

  test('without other rows it is a plain conditional write', async () => {
    const book = freshName()
    await open(book)
    const change = { expected: {}, next: { writer: 'seen' } }
    expect(await swap(book, change, [])).toEqual({ applied: true })
    expect((await read(book))[0]).toMatchObject({ version: 1n, writer: 'seen' })
  })

  test('of many who race one wins, and only its rows are there', async () => {
    const book = freshName()
    await open(book)
    for (let version = 1n; version <= 4n; version += 1n) {
      const racers = Array.from({ length: 12 }, (_, index) => Number(version) * 100 + index)
      const outcomes = await Promise.all(
        racers.map((racer) => {
          const next = { version: version + 1n, writer: `racer ${racer}` }
          return swap(book, { expected: { version }, next }, [line(book, racer, racer)])
        }),
      )
      const winners = racers.filter((_, index) => outcomes[index]?.applied)
      expect(winners).toHaveLength(1)
      const [header, ...lines] = await read(book)
      expect(header).toMatchObject({ version: version + 1n, writer: `racer ${winners[0]}` })
      expect(lines.filter((row) => racers.includes(row.line)).map((row) => row.line)).toEqual(
        winners,
      )
      expect(lines).toHaveLength(Number(version))
    }
  })

  test('of many who open one ledger at once one wins', async () => {
    const book = freshName()
    const racers = Array.from({ length: 12 }, (_, index) => index + 1)
    const outcomes = await Promise.all(
      racers.map((racer) => {
        const next = { version: 1n, amount: racer, writer: `racer ${racer}` }
        return swap(book, { absent: true, next }, [line(book, racer, racer)])
      }),
    )
    const winners = racers.filter((_, index) => outcomes[index]?.applied)
    expect(winners).toHaveLength(1)
    expect(await amounts(book)).toEqual([`0: ${winners[0]}`, `${winners[0]}: ${winners[0]}`])
  })

  test('racing additions are all counted, and the sum is never apart from its lines', async () => {
    const book = freshName()
    await open(book)
    const add = async (number: number): Promise<void> => {
      for (;;) {
        const header = await subject().get(ledgers, { book, line: 0 }, { serial: true })
        const version = header?.version ?? 0n
        const amount = (header?.amount ?? 0) + number
        const next = { version: version + 1n, amount, writer: `adder ${number}` }
        const outcome = await swap(book, { expected: { version }, next }, [
          line(book, number, number),
        ])
        if (outcome.applied) return
      }
    }
    let finished = false
    const adding = Promise.all(
      [0, 1, 2, 3].map(async (racer) => {
        for (let turn = 0; turn < 5; turn += 1) await add(racer * 5 + turn + 1)
      }),
    ).then(() => {
      finished = true
    })
    do {
      const [header, ...lines] = await read(book)
      expect(header?.amount).toBe(lines.reduce((sum, { amount }) => sum + (amount ?? 0), 0))
      await new Promise((resolve) => setImmediate(resolve))
    } while (!finished)
    await adding
    expect(await amounts(book)).toEqual([
      '0: 210',
      ...Array.from({ length: 20 }, (_, index) => `${index + 1}: ${index + 1}`),
    ])
  })

  test('what cannot go together is refused, and nothing is written', async () => {
    const book = freshName()
    const header = await open(book)
    const next = { version: 2n, writer: 'w' }
    const change: LedgerSwap = { expected: { version: 1n }, next }
    const row = { book, line: 1, amount: 1, version: null, writer: null }
    const twin = { ...ledgers, name: 'suite_other' }
    const refusals: readonly (readonly [LedgerSwap, readonly Write[]])[] = [
      [change, [line(freshName(), 1, 1)]],
      [change, [line(book, 0, 1)]],
      [change, [line(book, 1, 1), line(book, 1, 2)]],
      [change, [put(twin, row)]],
      [change, [put(ledgers, row, { ttlSeconds: 60 })]],
      [change, [put(ledgers, row, { version: 1n })]],
      [change, [remove(ledgers, { book, line: 1 }, { version: 1n })]],
      [{ expected: { version: 1n }, next: {} }, [line(book, 1, 1)]],
      [{ expected: { version: 1n }, absent: true, next }, []],
      [{ next } as LedgerSwap, []],
    ]
    for (const [wrong, others] of refusals) {
      await expect(swap(book, wrong, others)).rejects.toBeInstanceOf(BadInputError)
    }
    expect(await read(book)).toEqual([header])
  })
}
