/**
 * A class-data archive: the JVM maps Cassandra's parsed classes from a file instead of reading and
 * verifying a hundred jars, which about halves its start. It is made once per Java and jar set by
 * a training run that starts, becomes ready and is asked to stop. Without one everything works, only
 * slower; so a failed training is reported and not fatal.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { cassandraCommand, cassandraJars, cassandraReadyLine } from './cassandra-command.ts'
import { StackError } from './failures.ts'
import { jarFolder } from './jars.ts'
import { locked } from './lock.ts'
import { freePort } from './probes.ts'
import { eventually, narrated, type Report, secondsSince } from './progress.ts'
import type { Java } from './requirements.ts'
import { limitsMs } from './settings.ts'
import { lastWords, tieToThisProcess } from './tools.ts'

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
    report(`no class archive, Cassandra will start more slowly: ${messageOf(error)}`)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** An ordinary child, unlike the engines: interrupted halfway, it must not stay behind. */
async function trainingRun(java: Java, home: string, draft: string): Promise<void> {
  const ports = { native: await freePort(), storage: await freePort() }
  const folders = { conf: home, data: path.join(home, 'data'), logs: home }
  const dump = [...agentFlags, `-XX:ArchiveClassesAtExit=${draft}`]
  const command = cassandraCommand(java, { ...folders, ports }, dump)
  const child = spawn(command.file, command.args, { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] })
  tieToThisProcess(child)
  const words = lastWords(child)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const ready = () => child.exitCode !== null || words().includes(cassandraReadyLine)
  const inTime = await eventually({ limitMs: limitsMs.cassandraStart, everyMs: 100 }, ready)
  // The archive is written between the signal and the end of the process.
  child.kill(inTime ? 'SIGTERM' : 'SIGKILL')
  const deadline = setTimeout(() => child.kill('SIGKILL'), limitsMs.cassandraStart)
  await ended
  clearTimeout(deadline)
  if (!existsSync(draft)) throw new StackError(`the training run left none\n${words()}`)
}
