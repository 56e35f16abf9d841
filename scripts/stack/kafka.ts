/** Kafka 4 in KRaft mode from its jars: broker and controller in one process. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Engine } from './engine.ts'
import { classPath, ensureJars, type JarSet } from './jars.ts'
import { javaCommand } from './java-command.ts'
import { kafkaAnswers } from './probes.ts'
import { narrated, type Report } from './progress.ts'
import { findJava } from './requirements.ts'
import { host, limitsMs, type Ports, type Site, versions } from './settings.ts'
import { runTool } from './tools.ts'

export const kafkaJars: JarSet = {
  name: 'kafka',
  version: versions.kafka,
  roots: [
    `org.apache.kafka:kafka_2.13:${versions.kafka}`,
    `org.apache.logging.log4j:log4j-slf4j-impl:${versions.log4j}`,
    `org.apache.logging.log4j:log4j-core:${versions.log4j}`,
  ],
}

/** Any 16 bytes; fixed, so that a broker started again recognises its own data. */
const clusterId = 'MkU3OEVBNTcwNTJENDM2Qg'

/**
 * Topics are created by `migrate` with a declared partition count, hence no creation on first use.
 * The last three lines bring a killed broker back in 9 s instead of 15: its old session ends soon.
 */
export function renderKafkaProperties(ports: Ports, dataDir: string): string {
  return `process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://${host}:${ports.kafka},CONTROLLER://${host}:${ports.kafkaController}
advertised.listeners=PLAINTEXT://${host}:${ports.kafka}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
controller.quorum.voters=1@${host}:${ports.kafkaController}
log.dirs=${dataDir}
num.partitions=6
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=5
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=5
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.segment.bytes=67108864
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
num.recovery.threads.per.data.dir=2
`
}

const log4j = `<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="WARN">
  <Appenders>
    <Console name="stdout"><PatternLayout pattern="%-5p [%t] %d{ISO8601} %c{1} - %m%n"/></Console>
  </Appenders>
  <Loggers><Root level="INFO"><AppenderRef ref="stdout"/></Root></Loggers>
</Configuration>
`

const memoryOptions = [
  '-Xms512M',
  '-Xmx512M',
  '-XX:+UseG1GC',
  '-XX:MaxGCPauseMillis=20',
  '-XX:+ExitOnOutOfMemoryError',
]

export function kafkaEngine({ layout, ports }: Site): Engine {
  const data = path.join(layout.data, 'kafka')
  return {
    name: 'kafka',
    ports: [ports.kafka, ports.kafkaController],
    startLimitMs: limitsMs.kafkaStart,
    readyLine: 'Kafka Server started',
    async prepare(report: Report) {
      const java = findJava()
      await ensureJars(kafkaJars, report)
      mkdirSync(layout.conf, { recursive: true })
      const properties = path.join(layout.conf, 'kafka.properties')
      const logging = path.join(layout.conf, 'kafka-log4j2.xml')
      writeFileSync(properties, renderKafkaProperties(ports, data))
      writeFileSync(logging, log4j)
      const shared = [
        `-Dlog4j2.configurationFile=${pathToFileURL(logging)}`,
        '-cp',
        classPath(kafkaJars).join(path.delimiter),
      ]
      if (!existsSync(path.join(data, 'meta.properties'))) {
        await format([java.file, ...shared], properties, report)
      }
      const args = [...memoryOptions, ...shared, 'kafka.Kafka', properties]
      return javaCommand(java.file, path.join(layout.conf, 'kafka.args'), args)
    },
    probe: () => kafkaAnswers(ports.kafka),
  }
}

async function format(java: string[], properties: string, report: Report): Promise<void> {
  const [file = 'java', ...args] = java
  const tool = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', properties]
  const run = runTool({
    file,
    args: [...args, ...tool, '--ignore-formatted'],
    purpose: "formatting Kafka's data folder",
    limitMs: limitsMs.tool,
  })
  await narrated({ report, label: () => 'kafka: formatting its data folder' }, run)
}
