/** Engines as processes of this machine, known by their pid files. */
import { readFileSync, rmSync } from 'node:fs'
import type { Backend } from './backend.ts'
import { cassandraEngine } from './cassandra.ts'
import { cassandraJars } from './cassandra-command.ts'
import { type Engine, logFile, pidFile, startEngineProcess } from './engine.ts'
import { StackError } from './failures.ts'
import { jarsAreCached } from './jars.ts'
import { kafkaEngine, kafkaJars } from './kafka.ts'
import { dropRecord, isRunning, kill, type ProcessRecord, readRecord, stop } from './processes.ts'
import { narrated, type Report, secondsSince } from './progress.ts'
import { redisEngine, ringNodes } from './redis.ts'
import { requireTools } from './requirements.ts'
import type { EngineName, Site } from './settings.ts'

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

  require(names: readonly EngineName[]): void {
    const java = names.includes('cassandra') || names.includes('kafka')
    const missingJars =
      (names.includes('cassandra') && !jarsAreCached(cassandraJars)) ||
      (names.includes('kafka') && !jarsAreCached(kafkaJars))
    requireTools({ java, maven: missingJars })
  }

  isUp(name: EngineName): boolean {
    return this.#running(name) !== undefined
  }

  async start(name: EngineName, report: Report): Promise<void> {
    const engine = this.#engines.get(name)
    if (engine === undefined) throw new StackError(`there is no engine named ${name}`)
    await startEngineProcess(engine, this.#site.layout, report)
  }

  async kill(name: EngineName): Promise<void> {
    const record = this.#running(name)
    if (record === undefined) throw new StackError(`${name} is not running`)
    await kill(record)
    dropRecord(pidFile(this.#site.layout, name))
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
    if (record === undefined) return `log ${logFile(this.#site.layout, name)}`
    return `pid ${record.pid}, ${residentMegabytes(record.pid)}log ${logFile(this.#site.layout, name)}`
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

  #running(name: EngineName): ProcessRecord | undefined {
    const record = readRecord(pidFile(this.#site.layout, name))
    return isRunning(record) ? record : undefined
  }
}

/** Empty where the kernel does not tell. */
function residentMegabytes(pid: number): string {
  if (process.platform !== 'linux') return ''
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kilobytes ? `${Math.round(Number(kilobytes) / 1024)} MB, ` : ''
}
