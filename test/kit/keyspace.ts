/** A keyspace of its own for one test file: migrated, with the suite's tables, dropped at the end. */
import { randomBytes } from 'node:crypto'
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Settings } from '../../services/kernel/settings.ts'
import { Cassandra, type CassandraSettings } from '../../services/platform/cluster/cassandra.ts'
import { type MigrateOptions, migrate } from '../../services/platform/cluster/migrations.ts'
import { CassandraTables } from '../../services/platform/cluster/tables.ts'
import { cassandraSettings } from '../../services/platform/settings.ts'
import { Telemetry } from '../../services/platform/telemetry.ts'
import { cqlOf, fixtureTables } from '../contract/tables-fixture.ts'
import { requireStack, type StackAddresses } from './engines.ts'
import { temporaryFolder } from './temporary-folder.ts'

export interface BorrowOptions {
  /** That of the shared stack, unless a test has one of its own to break. */
  readonly cassandra?: StackAddresses['cassandra']
  readonly settings?: Partial<CassandraSettings>
}

export interface Keyspace extends AsyncDisposable {
  readonly options: MigrateOptions
  open(how?: { readonly nowMs?: () => number }): Promise<CassandraTables>
}

export const freshKeyspaceName = (): string => `test_${randomBytes(6).toString('hex')}`

export const cassandraSettingsFor = (
  cassandra: StackAddresses['cassandra'],
  changes: Partial<CassandraSettings> = {},
): CassandraSettings => ({
  ...new Settings([cassandraSettings]).view(cassandraSettings),
  hosts: [`${cassandra.host}:${cassandra.port}`],
  dataCenter: cassandra.dataCenter,
  ...changes,
})

export const borrowKeyspace = async (borrow: BorrowOptions = {}): Promise<Keyspace> => {
  const folder = temporaryFolder('cql')
  layOut(folder.path)
  const options: MigrateOptions = {
    settings: cassandraSettingsFor(borrow.cassandra ?? requireStack().cassandra, borrow.settings),
    telemetry: new Telemetry({ level: 'silent', version: 'test' }),
    keyspace: freshKeyspaceName(),
    folder: folder.path,
  }
  await migrate(options)
  return {
    options,
    open: (how = {}) => CassandraTables.open({ ...options, ...how }),
    [Symbol.asyncDispose]: async () => {
      folder[Symbol.dispose]()
      await dropKeyspace(options)
    },
  }
}

export const dropKeyspace = async ({ keyspace, ...unbound }: MigrateOptions): Promise<void> => {
  await using cassandra = await Cassandra.connect(unbound)
  await cassandra.define(`DROP KEYSPACE IF EXISTS ${keyspace}`)
}

/** The product's migrations, and one more with the suite's tables. */
const layOut = (folder: string): void => {
  const files = readdirSync('cql').filter((file) => file.endsWith('.cql'))
  for (const file of files) copyFileSync(join('cql', file), join(folder, file))
  const number = String(files.length + 1).padStart(4, '0')
  const statements = fixtureTables.map((table) => `${cqlOf(table)};\n`)
  writeFileSync(join(folder, `${number}-suite.cql`), statements.join(''))
}
