/** Cassandra 5 on Java: jars, class archive and configuration first, then one node. */
import path from 'node:path'
import { cassandraCommand, cassandraJars, cassandraReadyLine } from './cassandra-command.ts'
import { archiveOptions, ensureArchive } from './class-archive.ts'
import type { Engine } from './engine.ts'
import { ensureJars } from './jars.ts'
import { cassandraAnswers } from './probes.ts'
import type { Report } from './progress.ts'
import { findJava } from './requirements.ts'
import { limitsMs, type Site } from './settings.ts'

export function cassandraEngine({ layout, ports }: Site): Engine {
  const native = ports.cassandra
  const home = {
    conf: layout.conf,
    data: path.join(layout.data, 'cassandra'),
    logs: layout.logs,
    ports: { native, storage: ports.cassandraStorage },
  }
  return {
    name: 'cassandra',
    ports: [native, ports.cassandraStorage],
    startLimitMs: limitsMs.cassandraStart,
    readyLine: cassandraReadyLine,
    async prepare(report: Report) {
      const java = findJava()
      await ensureJars(cassandraJars, report)
      await ensureArchive(java, report)
      return cassandraCommand(java, home, archiveOptions(java))
    },
    probe: () => cassandraAnswers(native),
  }
}
