/** Cassandra's configuration and command line, from its jars: one node, durable at every write. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { classPath, type JarSet } from './jars.ts'
import { javaCommand } from './java-command.ts'
import type { Command } from './processes.ts'
import type { Java } from './requirements.ts'
import { host, versions } from './settings.ts'

export const cassandraJars: JarSet = {
  name: 'cassandra',
  version: versions.cassandra,
  roots: [`org.apache.cassandra:cassandra-all:${versions.cassandra}`],
}

export const cassandraReadyLine = 'Startup complete'

export interface CassandraPorts {
  readonly native: number
  readonly storage: number
}

/**
 * `commitlog_sync: batch`: with the usual `periodic` a killed single node loses up to ten seconds
 * of acknowledged writes (1,051 of 34,725 in one try), which three replicas hide and one cannot.
 */
export function renderCassandraYaml(ports: CassandraPorts): string {
  return `cluster_name: tributary
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
commitlog_sync: batch
commitlog_segment_size: 8MiB
endpoint_snitch: SimpleSnitch
listen_address: ${host}
rpc_address: ${host}
storage_port: ${ports.storage}
native_transport_port: ${ports.native}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "${host}:${ports.storage}"
memtable_allocation_type: heap_buffers
concurrent_reads: 8
concurrent_writes: 64
concurrent_counter_writes: 8
concurrent_compactors: 1
auto_snapshot: false
hinted_handoff_enabled: false
materialized_views_enabled: false
native_transport_allow_older_protocols: true
`
}

const logback = `<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
`

const exported = [
  'java.base/jdk.internal.misc',
  'java.management.rmi/com.sun.jmx.remote.internal.rmi',
  'java.management/com.sun.jmx.remote.security',
  'java.rmi/sun.rmi.registry',
  'java.rmi/sun.rmi.server',
  'java.sql/java.sql',
  'java.base/java.lang.ref',
  'jdk.unsupported/sun.misc',
]

const opened = [
  'java.base/java.lang.module',
  'java.base/jdk.internal.loader',
  'java.base/jdk.internal.ref',
  'java.base/jdk.internal.reflect',
  'java.base/jdk.internal.math',
  'java.base/jdk.internal.module',
  'java.base/jdk.internal.util.jar',
  'java.base/sun.nio.ch',
  'java.base/java.io',
  'java.base/java.lang.reflect',
  'java.base/java.lang',
  'java.base/java.util',
  'java.base/java.nio',
  'jdk.management/com.sun.management.internal',
]

const memoryOptions = [
  '-Xms64M',
  '-Xmx1200M',
  '-Xss256k',
  '-XX:+UseG1GC',
  '-XX:MaxGCPauseMillis=300',
  '-XX:+PerfDisableSharedMem',
  '-XX:+ExitOnOutOfMemoryError',
]

const properties = [
  '-Djdk.attach.allowAttachSelf=true',
  '-Djava.net.preferIPv4Stack=true',
  '-Dchronicle.analytics.disable=true',
  '-Dio.netty.tryReflectionSetAccessible=true',
  '-Dio.netty.allocator.maxOrder=11',
  '-Dcassandra-foreground=yes',
  // A single node has nobody to gossip with or to announce its end to.
  '-Dcassandra.skip_wait_for_gossip_to_settle=0',
  '-Dcassandra.ring_delay_ms=1000',
  '-Dcassandra.superuser_setup_delay_ms=0',
  '-Dcassandra.available_processors=2',
  '-Dcassandra.shutdown_announce_in_ms=0',
]

export interface CassandraHome {
  readonly conf: string
  readonly data: string
  readonly logs: string
  readonly ports: CassandraPorts
}

/** Writes the configuration and gives the command; `extra` goes before everything else. */
export function cassandraCommand(java: Java, home: CassandraHome, extra: string[]): Command {
  mkdirSync(home.conf, { recursive: true })
  mkdirSync(home.data, { recursive: true })
  const yaml = path.join(home.conf, 'cassandra.yaml')
  const logging = path.join(home.conf, 'cassandra-logback.xml')
  writeFileSync(yaml, renderCassandraYaml(home.ports))
  writeFileSync(logging, logback)
  const jars = classPath(cassandraJars)
  const agent = jars.find((jar) => path.basename(jar).startsWith('jamm-'))
  return javaCommand(java.file, path.join(home.conf, 'cassandra.args'), [
    ...extra,
    ...memoryOptions,
    `-javaagent:${agent}`,
    ...exported.flatMap((name) => ['--add-exports', `${name}=ALL-UNNAMED`]),
    ...opened.flatMap((name) => ['--add-opens', `${name}=ALL-UNNAMED`]),
    ...properties,
    `-Dcassandra.storagedir=${home.data}`,
    `-Dcassandra.logdir=${home.logs}`,
    `-Dcassandra.config=${pathToFileURL(yaml)}`,
    `-Dlogback.configurationFile=${pathToFileURL(logging)}`,
    '-cp',
    jars.join(path.delimiter),
    'org.apache.cassandra.service.CassandraDaemon',
  ])
}
