/**
 * The schema of a keyspace: the numbered files of `cql/`, each applied once and recorded with its
 * checksum in the table `migrations`.
 *
 * Only one process changes the schema at a time: it holds a row of `migration_lock`, which the
 * engine's own TTL frees when the process dies. Cassandra has no transaction for schema changes, so
 * every statement is made repeatable (IF NOT EXISTS): a file that was interrupted is applied again
 * from its start. A migration only ever adds, so that processes of the version before go on; a file
 * that was applied is never changed, and a changed one is refused.
 *
 * Every table gets the column `written_us` beside those of its file (timestamps.ts says why).
 */
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BadInputError, ConflictError, UnavailableError } from '../../kernel/errors.ts'
import { SystemClock } from '../clock.ts'
import { Cassandra, type CassandraOptions } from './cassandra.ts'
import { WRITTEN_US } from './statements.ts'

const LOCK_SECONDS = 60
const LOCK_POLL_MS = 500
const LOCK_WAIT_MS = 300_000
const KEYSPACE_WAIT_MS = 10_000
const KEYSPACE = /^[a-z][a-z0-9_]{0,47}$/

export interface MigrateOptions extends CassandraOptions {
  readonly keyspace: string
  /** Where the numbered files are. */
  readonly folder: string
  readonly progress?: (text: string) => void
}

interface Migration {
  readonly number: number
  readonly file: string
  readonly checksum: string
  readonly statements: readonly string[]
}

export class NotMigratedError extends UnavailableError {
  override readonly name = 'NotMigratedError'
}

/** Brings the keyspace up to the files; makes it when there is none. Says how many it applied. */
export const migrate = async (options: MigrateOptions): Promise<number> => {
  const { progress = () => {} } = options
  const migrations = await readMigrations(options.folder)
  await createKeyspace(options)
  await using cassandra = await connectToKeyspace(options)
  await createOwnTables(cassandra, options.keyspace)
  await using lock = await MigrationLock.take(cassandra, progress)
  const pending = pendingOf(migrations, await appliedTo(cassandra))
  for (const migration of pending) {
    progress(`${options.keyspace}: applying ${migration.file}`)
    await apply(cassandra, migration, lock)
  }
  progress(`${options.keyspace}: ${pending.length} applied, ${migrations.length} in all`)
  return pending.length
}

/** Rejects with what to do unless every migration of the folder is applied. */
export const checkMigrated = async (options: MigrateOptions): Promise<void> => {
  const migrations = await readMigrations(options.folder)
  const { keyspace: _none, ...unbound } = options
  await using cassandra = await Cassandra.connect(unbound)
  const missing = (await hasTable(cassandra, options.keyspace, 'migrations'))
    ? pendingOf(migrations, await appliedTo(cassandra, options.keyspace))
    : migrations
  const [first] = missing
  if (first === undefined) return
  throw new NotMigratedError(
    `the keyspace ${options.keyspace} lacks ${missing.length} migration(s), ` +
      `the first is ${first.file}: run \`tributary migrate\``,
  )
}

const createKeyspace = async (options: MigrateOptions): Promise<void> => {
  const { keyspace, settings } = options
  if (!KEYSPACE.test(keyspace)) throw new BadInputError(`'${keyspace}' cannot name a keyspace`)
  const { keyspace: _none, ...unbound } = options
  await using cassandra = await Cassandra.connect(unbound)
  const found = await cassandra.query(
    'SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?',
    [keyspace],
  )
  if (found.length > 0) return
  options.progress?.(`${keyspace}: creating the keyspace`)
  await cassandra.define(
    `CREATE KEYSPACE IF NOT EXISTS ${keyspace} WITH replication = ` +
      `{'class': 'NetworkTopologyStrategy', '${settings.dataCenter}': ${settings.replication}}`,
  )
}

/** A keyspace another process has just made is listed before it can be used. */
const connectToKeyspace = async (options: MigrateOptions): Promise<Cassandra> => {
  const clock = new SystemClock()
  const deadline = clock.now() + KEYSPACE_WAIT_MS
  for (;;) {
    try {
      return await Cassandra.connect(options)
    } catch (error) {
      if (clock.now() >= deadline) throw error
      await clock.sleep(LOCK_POLL_MS)
    }
  }
}

/**
 * The two tables that must be there before there is a lock. Their ids are derived from their names:
 * two servers that create one table at the same moment would otherwise disagree on it.
 */
const createOwnTables = async (cassandra: Cassandra, keyspace: string): Promise<void> => {
  const tables = {
    migrations: 'scope text, number int, file text, checksum text, PRIMARY KEY ((scope), number)',
    migration_lock: 'name text, holder text, PRIMARY KEY ((name))',
  }
  for (const [name, columns] of Object.entries(tables)) {
    const id = tableId(`${keyspace}.${name}`)
    await cassandra.define(`CREATE TABLE IF NOT EXISTS ${name} (${columns}) WITH id = ${id}`)
  }
}

const tableId = (name: string): string => {
  const hex = createHash('sha256').update(name).digest('hex')
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ]
  return [...parts, hex.slice(20, 32)].join('-')
}

const hasTable = async (
  cassandra: Cassandra,
  keyspace: string,
  table: string,
): Promise<boolean> => {
  const found = await cassandra.query(
    'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?',
    [keyspace, table],
  )
  return found.length > 0
}

const appliedTo = async (
  cassandra: Cassandra,
  keyspace?: string,
): Promise<ReadonlyMap<number, string>> => {
  const table = keyspace === undefined ? 'migrations' : `${keyspace}.migrations`
  const rows = await cassandra.query(`SELECT number, checksum FROM ${table} WHERE scope = 'cql'`)
  return new Map(rows.map((row) => [Number(row['number']), String(row['checksum'])]))
}

const pendingOf = (
  migrations: readonly Migration[],
  applied: ReadonlyMap<number, string>,
): Migration[] => {
  for (const { number, file, checksum } of migrations) {
    const recorded = applied.get(number)
    if (recorded === undefined || recorded === checksum) continue
    throw new ConflictError(
      `${file} differs from what was applied: restore it, and put the change in a new file`,
    )
  }
  return migrations.filter(({ number }) => !applied.has(number))
}

const apply = async (
  cassandra: Cassandra,
  { number, file, checksum, statements }: Migration,
  lock: MigrationLock,
): Promise<void> => {
  for (const statement of statements) {
    await lock.renew()
    await cassandra.define(repeatable(statement))
  }
  await cassandra.query(
    "INSERT INTO migrations (scope, number, file, checksum) VALUES ('cql', ?, ?, ?)",
    [number, file, checksum],
  )
}

class MigrationLock implements AsyncDisposable {
  readonly #cassandra: Cassandra
  readonly #holder = randomUUID()

  private constructor(cassandra: Cassandra) {
    this.#cassandra = cassandra
  }

  static async take(
    cassandra: Cassandra,
    progress: (text: string) => void,
  ): Promise<MigrationLock> {
    const lock = new MigrationLock(cassandra)
    const clock = new SystemClock()
    const deadline = clock.now() + LOCK_WAIT_MS
    for (let waited = 0; clock.now() < deadline; waited += 1) {
      if (await lock.#insert()) return lock
      if (waited === 0) progress('waiting for another process that migrates')
      await clock.sleep(LOCK_POLL_MS)
    }
    throw new UnavailableError('another process has been migrating for five minutes')
  }

  async #insert(): Promise<boolean> {
    const { applied, row } = await this.#cassandra.conditional({
      query: `INSERT INTO migration_lock (name, holder) VALUES ('cql', ?)
        IF NOT EXISTS USING TTL ${LOCK_SECONDS}`,
      params: [this.#holder],
    })
    // An answer that got lost shows as a lock that is ours already.
    return applied || row?.['holder'] === this.#holder
  }

  async renew(): Promise<void> {
    const { applied } = await this.#cassandra.conditional({
      query: `UPDATE migration_lock USING TTL ${LOCK_SECONDS} SET holder = ?
        WHERE name = 'cql' IF holder = ?`,
      params: [this.#holder, this.#holder],
    })
    if (!applied) throw new ConflictError('another process took over the migration')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cassandra.conditional({
      query: "DELETE FROM migration_lock WHERE name = 'cql' IF holder = ?",
      params: [this.#holder],
    })
  }
}

const readMigrations = async (folder: string): Promise<Migration[]> => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.cql')).sort()
  if (files.length === 0) throw new BadInputError(`there is no migration in ${folder}`)
  return Promise.all(
    files.map(async (file, index) => {
      const number = Number.parseInt(file, 10)
      if (number !== index + 1) throw new BadInputError(`${file}: expected number ${index + 1}`)
      const text = await readFile(join(folder, file), 'utf8')
      const checksum = createHash('sha256').update(text).digest('hex')
      return { number, file, checksum, statements: statementsOf(text) }
    }),
  )
}

const statementsOf = (text: string): string[] =>
  text
    .replace(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')

/** A statement that may be sent again, with the hidden column in each new table. */
const repeatable = (statement: string): string => {
  if (statement.startsWith('CREATE TABLE')) {
    return statement
      .replace(/^CREATE TABLE (IF NOT EXISTS )?/, 'CREATE TABLE IF NOT EXISTS ')
      .replace('PRIMARY KEY', `${WRITTEN_US} double,\n  PRIMARY KEY`)
  }
  if (/^ALTER TABLE \S+ ADD /.test(statement)) {
    return statement.replace(' ADD ', ' ADD IF NOT EXISTS ')
  }
  throw new BadInputError(`a migration creates or grows tables, and no more: ${statement}`)
}
