/**
 * Tables on Cassandra against the driver alone: the same rows in a table of the same columns, with
 * the same consistency, prepared, at 64 in flight. What ours does more (checks, the hidden column,
 * timestamps, metrics, rows of plain values) has to fit into the difference.
 */
import { randomBytes } from 'node:crypto'
import { type Client, types } from 'cassandra-driver'
import { readStack, type StackAddresses } from '../scripts/stack/control.ts'
import { Settings } from '../services/kernel/settings.ts'
import { Cassandra, type CassandraOptions } from '../services/platform/cluster/cassandra.ts'
import { migrate } from '../services/platform/cluster/migrations.ts'
import { CassandraTables } from '../services/platform/cluster/tables.ts'
import { auditLog } from '../services/platform/generated/tables.ts'
import { cassandraSettings } from '../services/platform/settings.ts'
import { put } from '../services/platform/tables.ts'
import { Telemetry } from '../services/platform/telemetry.ts'
import type { BenchKit, Contest, Figure, Work } from './kit.ts'
import { rawDriver } from './raw-cassandra.ts'

const IN_FLIGHT = 64
const MONTHS = 250
const ROWS_A_MONTH = 40
const PORTION = 1024
const GOAL = 0.85
const REFERENCE = 'cassandra-driver alone'
const OPTIONS = { prepare: true, consistency: types.consistencies.localQuorum }
const COLUMNS = 'month, id, actor, action, subject, detail, happened_at'
const INSERT = `INSERT INTO raw (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`
const GET = `SELECT ${COLUMNS} FROM raw WHERE month = ? AND id = ?`
const SLICE = `SELECT ${COLUMNS} FROM raw WHERE month = ? LIMIT ?`

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

/** Spreads indexes over months and their rows. */
const keyOf = (index: number) => ({
  month: `month-${index % MONTHS}`,
  id: BigInt(Math.floor(index / MONTHS) % ROWS_A_MONTH),
})

const rowOf = (index: number) => ({
  ...keyOf(index),
  actor: 'operator@example.org',
  action: 'setting.change',
  subject: 'fanout.threshold',
  detail: 'from 10000 to 12000, as readers of large authors grew',
  happenedAt: Date.UTC(2026, 0, 1) + index,
})

export const clusterFigures = async (kit: BenchKit): Promise<Figure[]> => {
  const stack = readStack()
  if (!stack) throw new Error('the cluster engine needs its servers: npm run stack -- up')
  const options = optionsFor(stack)
  await migrate({ ...options, folder: 'cql' })
  await using owner = await Cassandra.connect(options)
  await owner.define(
    `CREATE TABLE raw (month text, id bigint, actor text, action text, subject text, detail text,
      happened_at timestamp, PRIMARY KEY ((month), id)) WITH CLUSTERING ORDER BY (id DESC)`,
  )
  await using tables = await CassandraTables.open(options)
  const driver = rawDriver(stack, options.keyspace)
  try {
    kit.say('tables on cluster: filling both tables')
    await fill(tables, driver)
    const figures: Figure[] = []
    for (const contest of contests(tables, driver)) figures.push(await kit.contest(contest))
    return figures
  } finally {
    await driver.shutdown()
    await owner.define(`DROP KEYSPACE ${options.keyspace}`)
  }
}

const optionsFor = ({ cassandra }: StackAddresses): CassandraOptions & { keyspace: string } => ({
  settings: {
    ...new Settings([cassandraSettings]).view(cassandraSettings),
    hosts: [`${cassandra.host}:${cassandra.port}`],
    dataCenter: cassandra.dataCenter,
  },
  telemetry: new Telemetry({ level: 'silent', version: 'bench' }),
  keyspace: `bench_${randomBytes(4).toString('hex')}`,
})

const fill = async (tables: CassandraTables, driver: Client): Promise<void> => {
  for (let month = 0; month < MONTHS; month += 1) {
    const rows = Array.from({ length: ROWS_A_MONTH }, (_none, n) => rowOf(month + n * MONTHS))
    await tables.write(rows.map((row) => put(auditLog, row)))
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
      ours: at64((index) => tables.write([put(auditLog, rowOf(index))])),
      reference: at64((index) => execute(INSERT, Object.values(rowOf(index)))),
    },
    {
      ...common,
      name: 'point gets',
      ours: at64((index) => tables.get(auditLog, keyOf(index))),
      reference: at64((index) => execute(GET, Object.values(keyOf(index)))),
    },
    {
      ...common,
      name: '20-row slices',
      ours: at64((index) => tables.slice(auditLog, { month: keyOf(index).month }, { limit: 20 })),
      reference: at64((index) => execute(SLICE, [keyOf(index).month, 20])),
    },
  ]
}
