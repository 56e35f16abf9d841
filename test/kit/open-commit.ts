/** How a suite opens commits of each engine, with the tables and the log they write to. */
import type { Topic } from '../../services/kernel/events.ts'
import { IdGenerator } from '../../services/kernel/ids.ts'
import { Settings, type Values } from '../../services/kernel/settings.ts'
import { SystemClock } from '../../services/platform/clock.ts'
import { ClusterCommit } from '../../services/platform/cluster/commit.ts'
import type { Commit } from '../../services/platform/commit.ts'
import { EmbeddedCommit } from '../../services/platform/embedded/commit.ts'
import { EmbeddedTables } from '../../services/platform/embedded/tables.ts'
import type { Log } from '../../services/platform/log.ts'
import { outboxSettings } from '../../services/platform/settings.ts'
import type { Tables } from '../../services/platform/tables.ts'
import { Belongings } from './belongings.ts'
import { type EngineName, requireStack } from './engines.ts'
import { borrowKeyspace } from './keyspace.ts'
import { EmbeddedLogs, freshTopic, KafkaLogs, silentTelemetry } from './log-engines.ts'

export interface OpenedCommit extends AsyncDisposable {
  readonly commit: Commit
  readonly tables: Tables
  readonly log: Log
  readonly topics: readonly [Topic, Topic]
}

export type OpenCommit = () => Promise<OpenedCommit>

export const outboxDefaults: Values<typeof outboxSettings> = new Settings([outboxSettings]).view(
  outboxSettings,
)

/** Ids of a process of its own, by real time. */
export const testIds = (node = 1): IdGenerator =>
  new IdGenerator(Date.now, { node, afterMs: 0, untilMs: Number.MAX_SAFE_INTEGER })

const openEmbedded: OpenCommit = () => {
  const belongings = new Belongings()
  const logs = belongings.use(new EmbeddedLogs())
  const opened = belongings.use(logs.open())
  const { store, log, telemetry } = opened
  const tables = belongings.use(
    new EmbeddedTables(store, { sweepMs: 60_000, sweepMax: 100, telemetry }),
  )
  const commit = belongings.use(new EmbeddedCommit({ store, tables, log, telemetry }))
  const topics = [freshTopic(4), freshTopic(2)] as const
  return Promise.resolve({ commit, tables, log, topics, ...disposing(belongings) })
}

const openCluster: OpenCommit = async () => {
  const belongings = new Belongings()
  const logs = belongings.use(new KafkaLogs(requireStack().kafka.brokers))
  const keyspace = belongings.use(await borrowKeyspace())
  const tables = belongings.use(await keyspace.open())
  const log = belongings.use(await logs.open())
  const topics = [await logs.topic(4), await logs.topic(2)] as const
  const commit = belongings.use(
    await ClusterCommit.open({
      tables,
      log,
      clock: new SystemClock(),
      telemetry: silentTelemetry(),
      settings: outboxDefaults,
    }),
  )
  return { commit, tables, log, topics, ...disposing(belongings) }
}

const disposing = (belongings: Belongings): AsyncDisposable => ({
  [Symbol.asyncDispose]: () => belongings[Symbol.asyncDispose](),
})

export const openCommit: Readonly<Record<EngineName, OpenCommit>> = {
  embedded: openEmbedded,
  cluster: openCluster,
}
