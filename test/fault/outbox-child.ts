/**
 * Commits events one after the other while its log cannot be reached, and says each that was
 * acknowledged, until it is killed: `outbox-child.ts <keyspace> <host:port> <dataCenter> <topic>`.
 */
import { SystemClock } from '../../services/platform/clock.ts'
import { ClusterCommit } from '../../services/platform/cluster/commit.ts'
import { CassandraTables } from '../../services/platform/cluster/tables.ts'
import { put } from '../../services/platform/tables.ts'
import { byName } from '../contract/tables-fixture.ts'
import { cassandraSettingsFor } from '../kit/keyspace.ts'
import { KafkaLogs, silentTelemetry } from '../kit/log-engines.ts'
import { noted } from '../kit/noted.ts'
import { outboxDefaults, testIds } from '../kit/open-commit.ts'

const [keyspace = '', address = '', dataCenter = '', name = ''] = process.argv.slice(2)
const [host = '', port = ''] = address.split(':')
const telemetry = silentTelemetry()
const settings = cassandraSettingsFor({ host, port: Number(port), dataCenter })
const tables = await CassandraTables.open({ keyspace, settings, telemetry })
const log = await new KafkaLogs(['127.0.0.1:1'], { appendTimeoutMs: 500 }).open()
const commit = await ClusterCommit.open({
  tables,
  log,
  clock: new SystemClock(),
  telemetry,
  settings: outboxDefaults,
})
const topic = { name, partitions: 4, retentionMs: 86_400_000 }
const ids = testIds(2)
for (let count = 0; ; count += 1) {
  const key = `key-${count % 5}`
  const row = put(byName, { scope: keyspace, name: String(count), value: key })
  await commit.commit([row], [noted({ topic, ids }, { name: key, count })])
  process.stdout.write(`acknowledged ${count}\n`)
}
