/**
 * A class-data archive: the JVM maps Cassandra's parsed classes from a file instead of reading and
 * verifying a hundred jars, which about halves its start. It is made once per Java and jar set by
 * a training run that starts, becomes ready and is asked to stop. Without one everything works, only
 * slower; so a failed training is reported and not fatal.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { cassandraCommand, cassandraJars, cassandraReadyLine } from './cassandra-command.ts'
import { jarFolder } from './jars.ts'
import { locked } from './lock.ts'
import { freePort } from './probes.ts'
import { isRunning, kill, launch, stop } from './processes.ts'
import { eventually, narrated, type Report, secondsSince } from './progress.ts'
import type { Java } from './requirements.ts'
import { limitsMs } from './settings.ts'

/** The archive is refused with Java agents unless told that this agent's classes may be in it. */
const agentFlags = ['-XX:+UnlockDiagnosticVMOptions', '-XX:+AllowArchivingWithJavaAgent']

function archiveFile(java: Java): string {
  return path.join(jarFolder(cassandraJars), `classes-java-${java.version}.jsa`)
}

export function archiveOptions(java: Java): string[] {
  const file = archiveFile(java)
  return existsSync(file) ? [...agentFlags, `-XX:SharedArchiveFile=${file}`] : []
}

export async function ensureArchive(java: Java, report: Report): Promise<void> {
  const file = archiveFile(java)
  if (existsSync(file)) return
  await locked(`${file}.lock`, report, async () => {
    if (!existsSync(file)) await train(java, report)
  })
}

async function train(java: Java, report: Report): Promise<void> {
  const startedAt = performance.now()
  const file = archiveFile(java)
  const home = mkdtempSync(path.join(tmpdir(), 'tributary-archive-'))
  report('making a class archive for faster Cassandra starts (once)')
  try {
    const draft = `${file}.draft`
    const label = () => 'class archive: training run of Cassandra'
    await narrated({ report, label }, trainingRun(java, home, draft))
    renameSync(draft, file)
    report(`class archive made (${secondsSince(startedAt)})`)
  } catch (error) {
    report(`no class archive, Cassandra will start more slowly: ${error}`)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

async function trainingRun(java: Java, home: string, draft: string): Promise<void> {
  const [conf, data, logs] = ['conf', 'data', 'logs'].map((name) => path.join(home, name))
  if (!conf || !data || !logs) return
  mkdirSync(logs)
  const ports = { native: await freePort(), storage: await freePort() }
  const dump = [...agentFlags, `-XX:ArchiveClassesAtExit=${draft}`]
  const command = cassandraCommand(java, { conf, data, logs, ports }, dump)
  const logFile = path.join(logs, 'training.log')
  const record = await launch({ ...command, logFile, pidFile: path.join(home, 'pid.json') })
  const ready = () =>
    !isRunning(record) || readFileSync(logFile, 'utf8').includes(cassandraReadyLine)
  if (!(await eventually({ limitMs: limitsMs.cassandraStart, everyMs: 100 }, ready))) {
    await kill(record)
  }
  // The archive is written between the signal and the end of the process.
  await stop(record, limitsMs.cassandraStart)
}
