/** Versioned writes: the highest version stands, in whatever order they arrive. */
import { expect, test } from 'vitest'
import { BadInputError } from '../../services/kernel/errors.ts'
import { put, remove, VERSION_MAX, type Write } from '../../services/platform/tables.ts'
import { byName, copies } from './tables-fixture.ts'
import { freshName, type Subject } from './tables-subject.ts'

/** A write of the row under test. */
interface Step {
  readonly kind: 'put' | 'remove'
  readonly version: bigint
}

const PUT_1: Step = { kind: 'put', version: 1n }
const PUT_2: Step = { kind: 'put', version: 2n }
const PUT_3: Step = { kind: 'put', version: 3n }
const REMOVE_1: Step = { kind: 'remove', version: 1n }
const REMOVE_2: Step = { kind: 'remove', version: 2n }
const REMOVE_3: Step = { kind: 'remove', version: 3n }

const permutations = <Item>(items: readonly Item[]): Item[][] => {
  if (items.length < 2) return [[...items]]
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  )
}

const stepText = ({ kind, version }: Step): string => `${kind} ${version}`

interface CopyKey {
  readonly scope: string
  readonly name: string
}

/** Puts of different versions differ in what they leave empty, too. */
const rowAt = (key: CopyKey, version: bigint) => ({
  ...key,
  value: version % 2n === 0n ? null : `version ${version}`,
  rank: version % 2n === 0n ? Number(version % 1000n) : null,
})

const writeOf = (key: CopyKey, { kind, version }: Step): Write =>
  kind === 'put' ? put(copies, rowAt(key, version), { version }) : remove(copies, key, { version })

const freshKey = (): CopyKey => ({ scope: freshName(), name: 'n' })

export const tablesVersionsContract = (subject: Subject): void => {
  const standing = (key: CopyKey) => subject().get(copies, key)
  const expectStanding = async (key: CopyKey, top: Step, what: string): Promise<void> => {
    const row = top.kind === 'put' ? rowAt(key, top.version) : undefined
    expect(await standing(key), what).toEqual(row)
    const rows = await subject().slice(copies, { scope: key.scope }, { limit: 10 })
    expect(rows, what).toEqual(row ? [row] : [])
    expect(await subject().getMany(copies, [key]), what).toEqual([row])
  }

  for (const steps of [
    [PUT_1, PUT_2, REMOVE_3],
    [PUT_1, REMOVE_2, PUT_3],
    [REMOVE_1, PUT_2, PUT_3],
    [REMOVE_1, PUT_2, REMOVE_3],
    [PUT_1, REMOVE_2, REMOVE_3],
    [PUT_1, PUT_2, PUT_3],
  ] as const) {
    test(`the last of ${steps.map(stepText).join(', ')} stands in every order`, async () => {
      for (const order of permutations(steps)) {
        const key = freshKey()
        for (const step of order) await subject().write([writeOf(key, step)])
        await expectStanding(key, steps[2], order.map(stepText).join(', '))
      }
    })
  }

  test('after every step the highest version so far stands', async () => {
    for (const order of permutations([PUT_1, REMOVE_2, PUT_3])) {
      const key = freshKey()
      let top: Step | undefined
      for (const step of order) {
        await subject().write([writeOf(key, step)])
        if (!top || step.version > top.version) top = step
        await expectStanding(key, top, order.map(stepText).join(', '))
      }
    }
  })

  test('a write that comes again changes nothing, before or after others', async () => {
    for (const [again, top] of [
      [PUT_1, PUT_2],
      [REMOVE_1, PUT_2],
      [PUT_1, REMOVE_2],
      [PUT_2, PUT_2],
      [REMOVE_2, REMOVE_2],
    ] as const) {
      const key = freshKey()
      for (const step of [again, again, top, again, top]) {
        await subject().write([writeOf(key, step)])
      }
      await expectStanding(key, top, `${stepText(again)} around ${stepText(top)}`)
    }
  })

  test('a removal stands over a put with its own version, in either order', async () => {
    for (const order of permutations([PUT_2, REMOVE_2])) {
      const key = freshKey()
      for (const step of order) await subject().write([writeOf(key, step)])
      await expectStanding(key, REMOVE_2, order.map(stepText).join(', '))
      await subject().write([writeOf(key, PUT_3)])
      await expectStanding(key, PUT_3, 'a newer put makes it again')
    }
  })

  test('versions are as large as ids, and nothing stands over the largest', async () => {
    const id = 4_611_686_018_427_387_904n
    const key = freshKey()
    const last: Step = { kind: 'put', version: VERSION_MAX }
    for (const version of [id + 1n, id, 1n]) {
      await subject().write([writeOf(key, { kind: 'put', version })])
      await expectStanding(key, { kind: 'put', version: id + 1n }, `after ${version}`)
    }
    await subject().write([writeOf(key, last)])
    await subject().write([writeOf(key, { kind: 'remove', version: VERSION_MAX - 1n })])
    await subject().write([writeOf(key, { kind: 'put', version: VERSION_MAX - 2n })])
    await expectStanding(key, last, 'the largest')
  })

  test('racing writers leave the highest version of each row', async () => {
    const scope = freshName()
    const names = ['a', 'b', 'c']
    const versions = Array.from({ length: 24 }, (_, index) => BigInt((index * 7) % 24) + 1n)
    await Promise.all(
      names.flatMap((name) =>
        versions.map((version) =>
          subject().write([
            writeOf({ scope, name }, { kind: version % 3n === 2n ? 'remove' : 'put', version }),
          ]),
        ),
      ),
    )
    const rows = await subject().slice(copies, { scope }, { limit: 10 })
    expect(rows).toEqual(names.map((name) => rowAt({ scope, name }, 24n)))
  })

  test('removed rows do not count in slices, and rows made again do', async () => {
    const scope = freshName()
    const names = Array.from({ length: 20 }, (_, index) => `n${10 + index}`)
    await subject().write(names.map((name) => writeOf({ scope, name }, PUT_1)))
    await subject().write(names.slice(0, 18).map((name) => writeOf({ scope, name }, REMOVE_2)))
    await subject().write([writeOf({ scope, name: 'n15' }, PUT_3)])
    const read = async (slice: object) =>
      (await subject().slice(copies, { scope }, { limit: 2, ...slice })).map(({ name }) => name)
    expect(await read({})).toEqual(['n15', 'n28'])
    expect(await read({ direction: 'reverse' })).toEqual(['n29', 'n28'])
    expect(await read({ after: { name: 'n15' } })).toEqual(['n28', 'n29'])
  })

  test('one write holds versioned rows of several partitions and plain rows of others', async () => {
    const [one, two] = [freshKey(), freshKey()]
    const plain = { scope: freshName(), name: 'n', value: 'plain' }
    await subject().write([writeOf(one, PUT_3)])
    await subject().write([writeOf(one, PUT_2), writeOf(two, PUT_2), put(byName, plain)])
    await expectStanding(one, PUT_3, 'newer before')
    await expectStanding(two, PUT_2, 'new')
    expect(await subject().get(byName, plain)).toEqual(plain)
    await subject().write([writeOf(two, REMOVE_3), remove(byName, plain)])
    await expectStanding(two, REMOVE_3, 'removed')
    expect(await subject().get(byName, plain)).toBeUndefined()
  })

  test('one write holds rows of one partition in different versions', async () => {
    const scope = freshName()
    const key = (name: string) => ({ scope, name })
    await subject().write([writeOf(key('a'), PUT_3), writeOf(key('b'), PUT_1)])
    await subject().write([
      writeOf(key('a'), REMOVE_2),
      writeOf(key('b'), REMOVE_2),
      writeOf(key('c'), { kind: 'put', version: 9n }),
    ])
    const rows = await subject().slice(copies, { scope }, { limit: 9 })
    expect(rows).toEqual([rowAt(key('a'), 3n), rowAt(key('c'), 9n)])
  })

  test('a versioned put that leaves a column out is refused', async () => {
    const key = freshKey()
    const partial = put(copies, { ...key, value: 'v' }, { version: 1n })
    await expect(subject().write([partial])).rejects.toBeInstanceOf(BadInputError)
    expect(await standing(key)).toBeUndefined()
  })

  test('a version with a TTL is refused', async () => {
    const key = freshKey()
    const both = put(copies, rowAt(key, 1n), { version: 1n, ttlSeconds: 60 })
    await expect(subject().write([both])).rejects.toBeInstanceOf(BadInputError)
    expect(await standing(key)).toBeUndefined()
  })

  test('a table written both ways at once is refused', async () => {
    const key = freshKey()
    const plain = put(copies, rowAt({ ...key, name: 'other' }, 1n))
    const mixed = [writeOf(key, PUT_1), plain]
    await expect(subject().write(mixed)).rejects.toBeInstanceOf(BadInputError)
    await expect(subject().write(mixed.toReversed())).rejects.toBeInstanceOf(BadInputError)
    expect(await subject().slice(copies, { scope: key.scope }, { limit: 9 })).toEqual([])
  })

  test.each([0n, -1n, VERSION_MAX + 1n])('a version of %d is refused', async (version) => {
    const key = freshKey()
    for (const kind of ['put', 'remove'] as const) {
      const writing = subject().write([writeOf(key, { kind, version })])
      await expect(writing).rejects.toBeInstanceOf(BadInputError)
    }
    expect(await standing(key)).toBeUndefined()
  })
}
