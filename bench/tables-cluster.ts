/**
 * Tables on Cassandra against the driver alone: the same rows in a table of the same columns, with
 * the same consistency, prepared, at 64 in flight. What ours does more (checks, the hidden column,
 * timestamps, metrics, rows of plain values) has to fit into the difference.
 */
import { Client, policies, types } from 'cassandra-driver'
import { Cassandra } from '../services/platform/cluster/cassandra.ts'
import type { CassandraTables } from '../services/platform/cluster/tables.ts'
import { put } from '../services/platform/tables.ts'
import { newest } from '../test/contract/tables-fixture.ts'
import { requireStack } from '../test/kit/engines.ts'
import { borrowKeyspace } from '../test/kit/keyspace.ts'
import type { BenchKit, Contest, Figure, Work } from './kit.ts'

const IN_FLIGHT = 64
const READERS = 250
const ROWS_A_READER = 40
const PORTION = 1024
const GOAL = 0.85
const REFERENCE = 'cassandra-driver alone'
const TITLE = 'a title of about the length that titles have'
const FIRST_MS = Date.UTC(2026, 0, 1)

/** `PORTION` operations, 64 of them under way at any time. */
const at64 = (operation: (index: number) => Promise<unknown>): Work => {
  let next = 0
  return async () => {
    const end = next + PORTION
    const worker = async (): Promise<void> => {
      while (next < end) {
        next += 1
        await operation(next - 1)
      }
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
    return PORTION
  }
}

/** Spreads indexes over readers and their rows. */
const placeOf = (index: number) => ({
  reader: BigInt(index % READERS),
  ms: FIRST_MS + (Math.floor(index / READERS) % ROWS_A_READER),
  id: 1n,
})

const rowOf = (index: number) => ({ ...placeOf(index), title: TITLE, rank: index % 1000 })

export const clusterFigures = async (kit: BenchKit): Promise<Figure[]> => {
  const { cassandra } = requireStack()
  await using keyspace = await borrowKeyspace()
  await using tables = await keyspace.open()
  await using definer = await Cassandra.connect(keyspace.options)
  await definer.define(
    `CREATE TABLE raw (reader bigint, ms timestamp, id bigint, title text, rank int,
      PRIMARY KEY ((reader), ms, id)) WITH CLUSTERING ORDER BY (ms DESC, id DESC)`,
  )
  const driver = new Client({
    contactPoints: [`${cassandra.host}:${cassandra.port}`],
    localDataCenter: cassandra.dataCenter,
    keyspace: keyspace.options.keyspace,
    encoding: { useBigIntAsLong: true },
    policies: {
      loadBalancing: new policies.loadBalancing.TokenAwarePolicy(
        new policies.loadBalancing.DCAwareRoundRobinPolicy(cassandra.dataCenter),
      ),
    },
  })
  try {
    kit.say('tables on cluster: filling both tables')
    await fill(tables, driver)
    const figures: Figure[] = []
    for (const contest of contests(tables, driver)) figures.push(await kit.contest(contest))
    return figures
  } finally {
    await driver.shutdown()
  }
}

const OPTIONS = { prepare: true, consistency: types.consistencies.localQuorum }
const INSERT = 'INSERT INTO raw (reader, ms, id, title, rank) VALUES (?, ?, ?, ?, ?)'

const fill = async (tables: CassandraTables, driver: Client): Promise<void> => {
  for (let reader = 0; reader < READERS; reader += 1) {
    const rows = Array.from({ length: ROWS_A_READER }, (_none, n) => rowOf(reader + n * READERS))
    await tables.write(rows.map((row) => put(newest, row)))
    const queries = rows.map((row) => ({ query: INSERT, params: Object.values(row) }))
    await driver.batch(queries, { ...OPTIONS, logged: false })
  }
}

const contests = (tables: CassandraTables, driver: Client): Contest[] => {
  const execute = (query: string, params: unknown[]) => driver.execute(query, params, OPTIONS)
  const common = { referenceName: REFERENCE, goal: GOAL }
  return [
    {
      ...common,
      name: 'single-row writes',
      ours: at64((index) => tables.write([put(newest, rowOf(index))])),
      reference: at64((index) => execute(INSERT, Object.values(rowOf(index)))),
    },
    {
      ...common,
      name: 'point gets',
      ours: at64((index) => tables.get(newest, placeOf(index))),
      reference: at64((index) => {
        const { reader, ms, id } = placeOf(index)
        return execute(
          'SELECT reader, ms, id, title, rank FROM raw WHERE reader = ? AND ms = ? AND id = ?',
          [reader, ms, id],
        )
      }),
    },
    {
      ...common,
      name: '20-row slices',
      ours: at64((index) => tables.slice(newest, { reader: placeOf(index).reader }, { limit: 20 })),
      reference: at64((index) =>
        execute('SELECT reader, ms, id, title, rank FROM raw WHERE reader = ? LIMIT ?', [
          placeOf(index).reader,
          20,
        ]),
      ),
    },
  ]
}
