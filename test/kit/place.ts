/**
 * Where a world lives: a folder of its own, or one of a few namespaces on the shared stack that are
 * migrated once and emptied for each use. A namespace is held by a file that names its process, so
 * test processes that run side by side do not share one.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { topics } from '../../services/kernel/events.ts'
import { Settings } from '../../services/kernel/settings.ts'
import { Cassandra } from '../../services/platform/cluster/cassandra.ts'
import { KafkaLog } from '../../services/platform/cluster/log.ts'
import { migrateCluster } from '../../services/platform/cluster/platform.ts'
import { allTables } from '../../services/platform/generated/tables.ts'
import {
  cassandraSettings,
  engineSettings,
  kafkaSettings,
  logSettings,
  platformSections,
} from '../../services/platform/settings.ts'
import { Telemetry } from '../../services/platform/telemetry.ts'
import type { WorkerDefinition } from '../../workers/kit.ts'
import { roster } from '../../workers/roster.ts'
import { type EngineName, requireStack } from './engines.ts'
import { eventually } from './eventually.ts'

export interface Place extends AsyncDisposable {
  readonly engine: EngineName
  /** The settings that lead there, by variable of the environment. */
  readonly variables: Readonly<Record<string, string>>
  readonly folder: string
  /** In `folder`; the program makes it. */
  readonly dataFolder: string
}

const silent = () => new Telemetry({ level: 'silent', version: 'test' })

/** A world's own workers have groups of their own: those, too, begin at the end of the log. */
export const openPlace = async (
  engine: EngineName,
  workers: readonly WorkerDefinition[] = roster,
): Promise<Place> => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-world-'))
  const dataFolder = join(folder, 'data')
  const local = {
    TRIBUTARY_ENGINE_KIND: engine,
    TRIBUTARY_ENGINE_DATA_FOLDER: dataFolder,
    TRIBUTARY_EMBEDDED_MAP_BYTES: String(2 ** 30),
  }
  const clean = () => rmSync(folder, { recursive: true, force: true })
  if (engine === 'embedded') {
    return {
      engine,
      folder,
      dataFolder,
      variables: local,
      [Symbol.asyncDispose]: async () => clean(),
    }
  }
  const held = await holdNamespace()
  const variables = { ...local, ...stackVariables(), TRIBUTARY_ENGINE_NAMESPACE: held.namespace }
  await empty(held.namespace, { variables, workers })
  const dispose = async () => {
    clean()
    held[Symbol.dispose]()
  }
  return { engine, folder, dataFolder, variables, [Symbol.asyncDispose]: dispose }
}

const stackVariables = (): Record<string, string> => {
  const { cassandra, redis, kafka } = requireStack()
  return {
    TRIBUTARY_CASSANDRA_HOSTS: `${cassandra.host}:${cassandra.port}`,
    TRIBUTARY_CASSANDRA_DATA_CENTER: cassandra.dataCenter,
    TRIBUTARY_REDIS_NODES: `${redis.host}:${redis.port}`,
    TRIBUTARY_KAFKA_BROKERS: kafka.brokers.join(','),
    // Whoever takes over from a killed process waits that long.
    TRIBUTARY_KAFKA_SESSION_TIMEOUT_MS: '6000',
  }
}

/** A namespace belongs to one set of migrations: branches that share a stack do not share those. */
const migrations = readdirSync('cql')
  .sort()
  .reduce((hash, file) => hash.update(readFileSync(join('cql', file))), createHash('sha256'))
  .digest('hex')
  .slice(0, 6)
const NAMESPACES = ['a', 'b', 'c', 'd'].map((letter) => `world_${migrations}_${letter}`)
const HELD = join(tmpdir(), 'tributary-namespaces')

interface Held extends Disposable {
  readonly namespace: string
}

const holdNamespace = (): Promise<Held> =>
  eventually(
    () => {
      mkdirSync(HELD, { recursive: true })
      return NAMESPACES.map(hold).find((held) => held !== undefined)
    },
    { withinMs: 110_000, everyMs: 100 },
  )

const hold = (namespace: string): Held | undefined => {
  const file = join(HELD, namespace)
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return { namespace, [Symbol.dispose]: () => rmSync(file, { force: true }) }
  } catch {
    if (!isAlive(file)) rmSync(file, { force: true })
    return undefined
  }
}

const isAlive = (file: string): boolean => {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0)
    return true
  } catch {
    return false
  }
}

interface Emptying {
  readonly variables: Record<string, string>
  readonly workers: readonly WorkerDefinition[]
}

/** Leaves the namespace as a fresh migration would: no row, no key, every group at the end. */
const empty = async (namespace: string, { variables, workers }: Emptying): Promise<void> => {
  const settings = settingsOf(variables)
  const telemetry = silent()
  await migrateCluster({ settings, telemetry, cqlFolder: 'cql', progress: () => undefined })
  await Promise.all([emptyTables(settings), emptyCache(namespace), passOverLog(settings, workers)])
}

const settingsOf = (variables: Record<string, string>): Settings => {
  const settings = new Settings(platformSections)
  const faults = settings.load({
    names: Object.keys(variables),
    read: (name) => {
      const text = variables[name]
      return text === undefined ? undefined : { text, source: 'environment' }
    },
  })
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return settings
}

const emptyTables = async (settings: Settings): Promise<void> => {
  await using cassandra = await Cassandra.connect({
    settings: settings.view(cassandraSettings),
    telemetry: silent(),
    keyspace: settings.view(engineSettings).namespace,
  })
  // To look takes milliseconds, a TRUNCATE a tenth of a second: most tables are empty already.
  const looked = await Promise.all(
    allTables.map(async ({ name }) => ({
      name,
      isEmpty: (await cassandra.query(`SELECT * FROM ${name} LIMIT 1`)).length === 0,
    })),
  )
  for (const { name, isEmpty } of looked) {
    if (!isEmpty) await cassandra.define(`TRUNCATE ${name}`)
  }
}

const emptyCache = async (namespace: string): Promise<void> => {
  const { redis } = requireStack()
  const client = new Redis(redis.port, redis.host)
  try {
    for await (const keys of client.scanStream({ match: `${namespace}:*`, count: 1000 })) {
      for (const key of keys as string[]) await client.unlink(key)
    }
  } finally {
    client.disconnect()
  }
}

const passOverLog = async (
  settings: Settings,
  workers: readonly WorkerDefinition[],
): Promise<void> => {
  await using log = await KafkaLog.open(Object.values(topics), {
    namespace: settings.view(engineSettings).namespace,
    kafka: settings.view(kafkaSettings),
    settings: settings.view(logSettings),
    telemetry: silent(),
  })
  for (const worker of workers) {
    if (worker.kind === 'events') await log.seek(worker.name, worker.topic, { at: 'end' })
  }
}
