/** Engines as processes of this machine, known by their pid files. */
import { readFileSync, rmSync } from 'node:fs'
import type { Backend } from './backend.ts'
import { cassandraEngine } from './cassandra.ts'
import { cassandraJars } from './cassandra-command.ts'
import {
  type Engine,
  joinEngineProcess,
  logFile,
  pidFile,
  refuseTakenPorts,
  startEngineProcess,
} from './engine.ts'
import { StackError } from './failures.ts'
import { jarsAreCached } from './jars.ts'
import { kafkaEngine, kafkaJars } from './kafka.ts'
import { dropRecord, isRunning, kill, type ProcessRecord, readRecord, stop } from './processes.ts'
import { narrated, type Report, secondsSince } from './progress.ts'
import { redisEngine, ringNodes } from './redis.ts'
import { requireTools } from './requirements.ts'
import { type EngineName, host, type Site } from './settings.ts'

export class ProcessBackend implements Backend {
  readonly #site: Site
  readonly #engines: ReadonlyMap<EngineName, Engine>

  constructor(site: Site) {
    this.#site = site
    const engines = [
      redisEngine(site),
      cassandraEngine(site),
      kafkaEngine(site),
      ...ringNodes(site),
    ]
    this.#engines = new Map(engines.map((engine) => [engine.name, engine]))
  }

  async require(names: readonly EngineName[]): Promise<void> {
    const java = names.includes('cassandra') || names.includes('kafka')
    const missingJars =
      (names.includes('cassandra') && !jarsAreCached(cassandraJars)) ||
      (names.includes('kafka') && !jarsAreCached(kafkaJars))
    requireTools({ java, maven: missingJars })
    await refuseTakenPorts(names.map((name) => this.#engine(name)))
  }

  isUp(name: EngineName): boolean {
    return this.#running(name) !== undefined
  }

  async start(name: EngineName, report: Report): Promise<void> {
    const engine = this.#engine(name)
    const record = this.#running(name)
    const { layout } = this.#site
    if (record === undefined) return startEngineProcess(engine, layout, report)
    return joinEngineProcess(engine, layout, { record, report })
  }

  async kill(name: EngineName): Promise<void> {
    const record = this.#running(name)
    if (record === undefined) throw new StackError(`${name} is not running`)
    await kill(record)
    dropRecord(pidFile(this.#site.layout, name))
  }

  /** For tests that stop an engine without ending it. */
  signal(name: EngineName, signal: 'SIGSTOP' | 'SIGCONT'): void {
    const record = this.#running(name)
    if (record === undefined) throw new StackError(`${name} is not running`)
    process.kill(record.pid, signal)
  }

  async stop(names: readonly EngineName[], report: Report): Promise<void> {
    await Promise.all(names.map((name) => this.#stopOne(name, report)))
  }

  async purge(): Promise<void> {
    const { data, logs, conf, pids } = this.#site.layout
    for (const folder of [data, logs, conf, pids]) rmSync(folder, { recursive: true, force: true })
  }

  describe(name: EngineName): string {
    const record = this.#running(name)
    const where = `${host}:${this.#engine(name).ports[0]}`
    const process = record ? `, pid ${record.pid}${residentMegabytes(record.pid)}` : ''
    return `${where}${process}, log ${logFile(this.#site.layout, name)}`
  }

  async #stopOne(name: EngineName, report: Report): Promise<void> {
    const record = this.#running(name)
    if (record !== undefined) {
      const startedAt = performance.now()
      const label = () => `waiting for ${name} (pid ${record.pid}) to end`
      await narrated({ report, label }, stop(record))
      report(`${name} stopped (${secondsSince(startedAt)})`)
    }
    dropRecord(pidFile(this.#site.layout, name))
  }

  #engine(name: EngineName): Engine {
    const engine = this.#engines.get(name)
    if (engine === undefined) throw new StackError(`there is no engine named ${name}`)
    return engine
  }

  #running(name: EngineName): ProcessRecord | undefined {
    const record = readRecord(pidFile(this.#site.layout, name))
    return isRunning(record) ? record : undefined
  }
}

/** Empty where the kernel does not tell. */
function residentMegabytes(pid: number): string {
  if (process.platform !== 'linux') return ''
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kilobytes ? `, ${Math.round(Number(kilobytes) / 1024)} MB` : ''
}
