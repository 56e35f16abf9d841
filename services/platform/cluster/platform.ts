/** Opens the engines of a cluster, waiting for each of its servers, and prepares them for use. */
import { topics } from '../../kernel/events.ts'
import type { Settings } from '../../kernel/settings.ts'
import { NodeLease } from '../node-lease.ts'
import { type Opened, openAll } from '../opened.ts'
import type { EngineSet, PlatformOptions, ServerEngines } from '../platform.ts'
import {
  cassandraSettings,
  engineSettings,
  idSettings,
  kafkaSettings,
  logSettings,
  outboxSettings,
  redisSettings,
} from '../settings.ts'
import { waitFor } from '../start-wait.ts'
import type { Telemetry } from '../telemetry.ts'
import { RedisCache } from './cache.ts'
import { ClusterCommit } from './commit.ts'
import { RedisFeeds } from './feeds.ts'
import { KafkaLog } from './log.ts'
import { checkMigrated, migrate } from './migrations.ts'
import { RedisPubSub } from './pubsub.ts'
import { RedisLink } from './redis.ts'
import { OutboxRelay } from './relay.ts'
import { CassandraTables } from './tables.ts'
import { migrateTopics } from './topics.ts'

const allTopics = Object.values(topics)

export const openCluster = (options: PlatformOptions): Promise<EngineSet<ServerEngines>> =>
  openAll(async (opened) => {
    const opening = {
      tables: openTables(options).then((tables) => opened.use(tables)),
      log: openLog(options).then((log) => opened.use(log)),
      cache: openCache(opened, options),
    }
    // All end before a failure is told: nothing opens after the others were closed.
    await Promise.allSettled(Object.values(opening))
    const tables = await opening.tables
    const log = await opening.log
    const cache = await opening.cache
    const { settings, clock, telemetry } = options
    const outbox = { tables, log, clock, telemetry, settings: settings.view(outboxSettings) }
    const ids = opened.use(
      await NodeLease.open({ tables, clock, telemetry, settings: settings.view(idSettings) }),
    )
    const commit = opened.use(await ClusterCommit.open(outbox))
    // Every process that stays relays: they share the shards of the outbox among them.
    if (options.stays ?? true) opened.use(new OutboxRelay({ ...outbox, topics: allTopics })).start()
    return {
      engines: { tables, log, commit, ids, ...cache },
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    }
  })

const waitOf = ({ settings, telemetry, signal }: PlatformOptions) => ({
  waitMs: settings.view(engineSettings).startWaitMs,
  telemetry,
  ...(signal ? { signal } : {}),
})

const openTables = (options: PlatformOptions): Promise<CassandraTables> => {
  const { settings, telemetry, cqlFolder } = options
  const cassandra = settings.view(cassandraSettings)
  const keyspace = settings.view(engineSettings).namespace
  const place = { settings: cassandra, telemetry, keyspace }
  return waitFor(
    `Cassandra at ${cassandra.hosts.join(', ')}`,
    async () => {
      await checkMigrated({ ...place, folder: cqlFolder })
      return await CassandraTables.open(place)
    },
    waitOf(options),
  )
}

const openLog = (options: PlatformOptions): Promise<KafkaLog> => {
  const { settings, telemetry } = options
  const kafka = settings.view(kafkaSettings)
  const { namespace } = settings.view(engineSettings)
  const place = { namespace, kafka, settings: settings.view(logSettings), telemetry }
  return waitFor(
    `Kafka at ${kafka.brokers.join(', ')}`,
    () => KafkaLog.open(allTopics, place),
    waitOf(options),
  )
}

const openCache = async (opened: Opened, options: PlatformOptions) => {
  const { settings, telemetry } = options
  const redis = settings.view(redisSettings)
  const { namespace } = settings.view(engineSettings)
  const link = opened.use(
    await waitFor(
      `Redis at ${redis.nodes.join(', ')}`,
      () => RedisLink.open({ settings: redis, namespace, telemetry, startWaitMs: 2_000 }),
      waitOf(options),
    ),
  )
  const cache = opened.use(await RedisCache.open(link, telemetry))
  const feeds = opened.use(await RedisFeeds.open(link, telemetry))
  const pubsub = opened.use(await RedisPubSub.open({ link, settings: redis, telemetry }))
  return { cache, feeds, pubsub }
}

export interface MigrateClusterOptions {
  readonly settings: Settings
  readonly telemetry: Telemetry
  readonly cqlFolder: string
  readonly progress: (text: string) => void
}

/** Brings the keyspace and the topics up to what this version declares. */
export const migrateCluster = async (options: MigrateClusterOptions): Promise<void> => {
  const { settings, telemetry, cqlFolder, progress } = options
  const { namespace, startWaitMs } = settings.view(engineSettings)
  const cassandra = settings.view(cassandraSettings)
  const kafka = settings.view(kafkaSettings)
  const wait = { waitMs: startWaitMs, telemetry }
  await waitFor(
    `Cassandra at ${cassandra.hosts.join(', ')}`,
    () =>
      migrate({
        ...{ settings: cassandra, telemetry, keyspace: namespace },
        ...{ folder: cqlFolder, progress },
      }),
    wait,
  )
  await waitFor(
    `Kafka at ${kafka.brokers.join(', ')}`,
    () => migrateTopics(allTopics, { namespace, settings: kafka, telemetry }),
    wait,
  )
  progress(`${namespace}: ${allTopics.length} topic(s) in place`)
}
