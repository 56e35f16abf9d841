/**
 * Random histories of operations on real tables and on the model, compared at every step. A
 * failure prints its seed and the shortest history that shows it; replay with
 * TRIBUTARY_MODEL_SEED=… and TRIBUTARY_MODEL_RUNS=….
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { put, remove, type Slice, type Tables, type Write } from '../../services/platform/tables.ts'
import { byName, byNameDown, copies, newest, oldest, versions } from '../contract/tables-fixture.ts'
import { freshName, freshReader } from '../contract/tables-subject.ts'
import { type EngineName, engines } from '../kit/engines.ts'
import { type OpenedTables, openTables } from '../kit/open-tables.ts'
import { TablesModel } from './tables-model.ts'

/** What one history works on: partitions of its own, in the engine and in the model. */
interface Scene {
  readonly tables: Tables
  readonly model: TablesModel
  readonly reader: bigint
  readonly scope: string
}

type Operation = (scene: Scene) => Promise<void>
type Draft = (scene: Scene) => Write

/** A function that is printed as what it does: a failing history must be readable. */
const told = <Data, Result>(
  verb: string,
  data: fc.Arbitrary<Data>,
  act: (data: Data, scene: Scene) => Result,
): fc.Arbitrary<(scene: Scene) => Result> =>
  data.map((each) =>
    Object.assign((scene: Scene) => act(each, scene), {
      [fc.toStringMethod]: () => `${verb} ${fc.stringify(each)}`,
    }),
  )

const RUNS: Readonly<Record<EngineName, number>> = { embedded: 300, cluster: 25 }

// Few values and close to each other, so that histories meet the same rows and their edges.
const ms = fc.constantFrom(-1, 0, 1, 999, 1000, 8_640_000_000_000_000)
const id = fc.constantFrom(-1n, 0n, 9n, 10n, 2n ** 63n - 1n, -(2n ** 63n))
const name = fc.constantFrom('', 'a', 'a\u0000', 'aa', 'b', 'é', '\uff5e', '\u{1f600}')
const text = fc.constantFrom(null, undefined, '', 'first light', '\u{1f600}')
const rank = fc.constantFrom(null, undefined, 0, -1, 2_147_483_647)
const entryTable = fc.constantFrom(newest, oldest)
const nameTable = fc.constantFrom(byName, byNameDown)
const walkedTable = fc.constantFrom(byName, byNameDown, copies)
const version = fc.constantFrom(null, 1n, 2n)

/** Takes `undefined` members out: absent, as a caller would leave them. */
const given = <Row extends object>(row: Row) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Row]: Exclude<Row[Name], undefined>
  }

const drafts: fc.Arbitrary<Draft> = fc.oneof(
  told('put', fc.record({ table: entryTable, ms, id, title: text, rank }), (data, { reader }) => {
    const { table, ...row } = data
    return put(table, given({ ...row, reader }))
  }),
  told('put', fc.record({ table: nameTable, name, value: text }), (data, { scope }) => {
    const { table, ...row } = data
    return put(table, given({ ...row, scope }))
  }),
  told('remove', fc.record({ table: entryTable, ms, id }), ({ table, ...key }, { reader }) =>
    remove(table, { ...key, reader }),
  ),
  told('remove', fc.record({ table: nameTable, name }), ({ table, ...key }, { scope }) =>
    remove(table, { ...key, scope }),
  ),
)

/** A version of a row is one write: whether it puts or removes, and what, follows from both. */
const versioned: fc.Arbitrary<Draft> = told(
  'version',
  fc.record({ name, version: fc.bigInt(1n, 9n) }),
  (data, { scope }) => {
    const key = { scope, name: data.name }
    const { version } = data
    if (version % 3n === 0n) return remove(copies, key, { version })
    return put(copies, { ...key, value: `${version}`, rank: null }, { version })
  },
)

const rowText = ({ table, ...write }: Write): string => {
  const cells = write.kind === 'put' ? write.row : write.key
  const key = [...table.partition, ...table.clustering].map((column) => String(cells[column.name]))
  return JSON.stringify([table.name, ...key])
}

/** A write names each row once. */
const distinct = (writes: readonly Write[]): Write[] => [
  ...new Map(writes.map((write) => [rowText(write), write])).values(),
]

const writing = told(
  'write',
  fc.array(fc.oneof({ arbitrary: drafts, weight: 4 }, { arbitrary: versioned, weight: 1 }), {
    minLength: 1,
    maxLength: 8,
  }),
  async (made, scene) => {
    const writes = distinct(made.map((draft) => draft(scene)))
    await scene.tables.write(writes)
    scene.model.write(writes)
  },
)

const bound = fc.oneof(fc.record({ ms }), fc.record({ ms, id }))

const slices: fc.Arbitrary<Slice<typeof newest>> = fc
  .tuple(
    fc.record({
      limit: fc.integer({ min: 1, max: 12 }),
      direction: fc.constantFrom('table' as const, 'reverse' as const),
    }),
    fc.oneof(fc.constant({}), fc.record({ after: bound }), fc.record({ from: bound })),
    fc.oneof(fc.constant({}), fc.record({ before: bound }), fc.record({ until: bound })),
  )
  .map(([shape, start, end]) => ({ ...shape, ...start, ...end }))

const slicing = told(
  'slice',
  fc.record({ table: entryTable, slice: slices }),
  async ({ table, slice }, { tables, model, reader }) => {
    const found = await tables.slice(table, { reader }, slice)
    expect(found).toEqual(model.slice(table, { reader }, slice))
  },
)

const walking = told(
  'slice',
  fc.record({ table: walkedTable, after: name, limit: fc.integer({ min: 1, max: 9 }) }),
  async ({ table, after, limit }, { tables, model, scope }) => {
    const slice = { limit, after: { name: after } }
    const found = await tables.slice(table, { scope }, slice)
    expect(found).toEqual(model.slice(table, { scope }, slice))
  },
)

const getting = told(
  'get',
  fc.record({ table: entryTable, keys: fc.array(fc.record({ ms, id }), { maxLength: 4 }) }),
  async ({ table, keys }, { tables, model, reader }) => {
    const wanted = keys.map((key) => ({ ...key, reader }))
    const found = await tables.getMany(table, wanted)
    expect(found).toEqual(wanted.map((key) => model.get(table, key)))
  },
)

const inserting = told(
  'insert',
  fc.record({ which: fc.nat(2), version, note: text }),
  async ({ which, ...row }, { tables, model, scope }) => {
    const draft = given({ ...row, name: `${scope} ${which}`, writer: freshName() })
    const outcome = await tables.insertIfAbsent(versions, draft)
    const before = structuredClone(model.get(versions, draft))
    const applied = model.insertIfAbsent(versions, draft)
    expect(outcome).toEqual(applied ? { applied } : { applied, current: before })
  },
)

const swapping = told(
  'swap',
  fc.record({ which: fc.nat(2), expected: version, next: version, note: text }),
  async ({ which, expected, next, note }, { tables, model, scope }) => {
    const key = { name: `${scope} ${which}` }
    const changes = given({ version: next, note, writer: freshName() })
    const swap = { expected: { version: expected }, next: changes }
    const outcome = await tables.compareAndSet(versions, key, swap)
    const before = structuredClone(model.get(versions, key))
    const applied = model.compareAndSet(versions, key, swap.expected, changes)
    expect(outcome).toEqual(applied ? { applied } : { applied, current: before })
    expect(await tables.get(versions, key, { serial: true })).toEqual(model.get(versions, key))
  },
)

const history: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    { arbitrary: writing, weight: 5 },
    { arbitrary: slicing, weight: 4 },
    { arbitrary: walking, weight: 2 },
    { arbitrary: getting, weight: 2 },
    { arbitrary: inserting, weight: 1 },
    { arbitrary: swapping, weight: 2 },
  ),
  { minLength: 1, maxLength: 40 },
)

const numberFrom = (variable: string): number | undefined => {
  const value = process.env[variable]
  return value === undefined ? undefined : Number(value)
}

for (const engine of engines) {
  describe(`the model of tables on ${engine}`, () => {
    let opened: OpenedTables
    beforeAll(async () => {
      opened = await openTables[engine]()
    })
    afterAll(() => opened[Symbol.asyncDispose]())

    test('random histories read as the model says', { timeout: 280_000 }, async () => {
      const property = fc.asyncProperty(history, async (operations) => {
        const scene = { model: new TablesModel(), reader: freshReader(), scope: freshName() }
        for (const operation of operations) await operation({ tables: opened.tables, ...scene })
      })
      const seed = numberFrom('TRIBUTARY_MODEL_SEED')
      await fc.assert(property, {
        numRuns: numberFrom('TRIBUTARY_MODEL_RUNS') ?? RUNS[engine],
        ...(seed === undefined ? {} : { seed }),
      })
    })
  })
}
