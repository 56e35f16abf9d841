/** Cassandra's driver by itself, as one would use it without us: what benches compare with. */
import { Client, policies, types } from 'cassandra-driver'
import type { StackAddresses } from '../scripts/stack/control.ts'
import type { Cells, Write } from '../services/platform/tables.ts'

export const rawDriver = ({ cassandra }: StackAddresses, keyspace: string): Client =>
  new Client({
    contactPoints: [`${cassandra.host}:${cassandra.port}`],
    localDataCenter: cassandra.dataCenter,
    keyspace,
    encoding: { useBigIntAsLong: true },
    policies: {
      loadBalancing: new policies.loadBalancing.TokenAwarePolicy(
        new policies.loadBalancing.DCAwareRoundRobinPolicy(cassandra.dataCenter),
      ),
    },
  })

const PREPARED = { prepare: true, consistency: types.consistencies.localQuorum }

/** Rows in one logged batch, with their versions, by prepared inserts. */
export const rawBatch = (driver: Client, writes: readonly Write[]): Promise<unknown> =>
  driver.batch(writes.map(insertOf), { ...PREPARED, logged: true })

/** The row if there is none yet. */
export const rawInsertIfAbsent = (driver: Client, write: Write): Promise<unknown> => {
  const { query, params } = insertOf(write)
  return driver.execute(`${query} IF NOT EXISTS`, params, PREPARED)
}

export const rawRemove = (driver: Client, write: Write): Promise<unknown> => {
  const { table } = write
  const key = [...table.partition, ...table.clustering]
  const where = key.map(({ column }) => `${column} = ?`).join(' AND ')
  const params = key.map(({ name }) => cellsOf(write)[name])
  return driver.execute(`DELETE FROM ${table.name} WHERE ${where}`, params, PREPARED)
}

const cellsOf = (write: Write): Cells => (write.kind === 'put' ? write.row : write.key)

const insertOf = (write: Write): { readonly query: string; readonly params: unknown[] } => {
  const { table, version } = write
  const cells = cellsOf(write)
  const columns = [...table.partition, ...table.clustering, ...table.columns]
  const named = columns.filter(({ name }) => cells[name] !== undefined)
  const names = named.map(({ column }) => column).join(', ')
  const marks = named.map(() => '?').join(', ')
  const values = named.map(({ name, type }) => cellFor(cells[name], type))
  const insert = `INSERT INTO ${table.name} (${names}) VALUES (${marks})`
  if (version === undefined) return { query: insert, params: values }
  return { query: `${insert} USING TIMESTAMP ?`, params: [...values, version] }
}

const cellFor = (value: Cells[string], type: string): unknown =>
  type === 'timestamp' && typeof value === 'number' ? new Date(value) : value
