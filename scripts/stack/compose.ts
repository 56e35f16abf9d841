/**
 * Engines as containers, from the checkout's own `docker-compose.yml`: the same images, settings
 * and health checks a deployment starts from, published on this stack's loopback ports.
 * The ring stays with processes: its masters tell clients their own address, and only a process
 * of this machine can truthfully say 127.0.0.1.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import path from 'node:path'
import type { Backend } from './backend.ts'
import { StackError } from './failures.ts'
import { ProcessBackend } from './local.ts'
import { cassandraAnswers, kafkaAnswers, redisAnswers } from './probes.ts'
import type { Command } from './processes.ts'
import { eventually, narrated, type Report, secondsSince } from './progress.ts'
import { coreEngines, type EngineName, limitsMs, repositoryRoot, type Site } from './settings.ts'
import { runTool } from './tools.ts'

/** The client may be installed without a daemon; only the daemon's own version counts. */
export function dockerAnswers(): boolean {
  return (
    succeeds('docker', ['info', '--format', '{{.ServerVersion}}']) && composeTool() !== undefined
  )
}

function succeeds(file: string, args: readonly string[]): boolean {
  const result = spawnSync(file, args, { encoding: 'utf8', timeout: 10_000 })
  return result.status === 0 && result.stdout.trim() !== ''
}

function composeTool(): Command | undefined {
  if (succeeds('docker', ['compose', 'version'])) return { file: 'docker', args: ['compose'] }
  if (succeeds('docker-compose', ['version'])) return { file: 'docker-compose', args: [] }
  return undefined
}

/** One project per folder, so that two checkouts never share a container or a volume. */
export function projectName(dir: string): string {
  return `tributary-stack-${createHash('sha256').update(dir).digest('hex').slice(0, 8)}`
}

export function composeEnvironment({ ports }: Site): Record<string, string> {
  return {
    TRIBUTARY_STACK_REDIS_PORT: String(ports.redis),
    TRIBUTARY_STACK_CASSANDRA_PORT: String(ports.cassandra),
    TRIBUTARY_STACK_KAFKA_PORT: String(ports.kafka),
  }
}

export class ComposeBackend implements Backend {
  readonly #site: Site
  readonly #ring: ProcessBackend
  #tool: Command | undefined
  /** The command before: two at once would race for the project's network. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(site: Site) {
    this.#site = site
    this.#ring = new ProcessBackend(site)
  }

  /** Compose itself says which port is taken. */
  async require(names: readonly EngineName[]): Promise<void> {
    const ring = names.filter((name) => !isContainer(name))
    if (ring.length > 0) await this.#ring.require(ring)
  }

  isUp(name: EngineName): boolean {
    if (!isContainer(name)) return this.#ring.isUp(name)
    const id = this.#capture(['ps', '-q', name])
    return id !== '' && succeeds('docker', ['ps', '-q', '--no-trunc', '--filter', `id=${id}`])
  }

  async start(name: EngineName, report: Report): Promise<void> {
    if (!isContainer(name)) return this.#ring.start(name, report)
    const startedAt = performance.now()
    await this.#run(['up', '-d', '--no-deps', name], report)
    const serving = eventually({ limitMs: limitsMs.composeStart, everyMs: 250 }, this.#probe(name))
    const label = () => `waiting for the ${name} container to serve`
    if (!(await narrated({ report, label }, serving))) {
      const tail = this.#capture(['logs', '--tail=20', name])
      throw new StackError(`the ${name} container does not serve. The end of its log:\n${tail}`)
    }
    report(`${name} is up (${secondsSince(startedAt)})`)
  }

  async kill(name: EngineName): Promise<void> {
    if (!isContainer(name)) return this.#ring.kill(name)
    await this.#run(['kill', '-s', 'SIGKILL', name], () => undefined)
  }

  async stop(names: readonly EngineName[], report: Report): Promise<void> {
    await this.#ring.stop(
      names.filter((name) => !isContainer(name)),
      report,
    )
    const timeout = String(limitsMs.stop / 1000)
    await this.#run(['stop', '-t', timeout, ...names.filter(isContainer)], report)
  }

  async purge(): Promise<void> {
    await this.#run(['down', '-v', '--remove-orphans'], () => undefined)
    await this.#ring.purge()
  }

  describe(name: EngineName): string {
    if (!isContainer(name)) return this.#ring.describe(name)
    return `container of project ${projectName(this.#site.layout.dir)}`
  }

  #probe(name: EngineName): () => Promise<boolean> {
    const { ports } = this.#site
    if (name === 'redis') return () => redisAnswers(ports.redis)
    if (name === 'kafka') return () => kafkaAnswers(ports.kafka)
    return () => cassandraAnswers(ports.cassandra)
  }

  #command(args: readonly string[]): Command {
    this.#tool ??= composeTool()
    const tool = this.#tool
    if (tool === undefined) throw new StackError('Docker Compose does not answer any more')
    const file = path.join(repositoryRoot, 'docker-compose.yml')
    const project = ['-f', file, '-p', projectName(this.#site.layout.dir)]
    return { file: tool.file, args: [...tool.args, ...project, ...args] }
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, ...composeEnvironment(this.#site) }
  }

  #capture(args: readonly string[]): string {
    const command = this.#command(args)
    const options = { encoding: 'utf8', env: this.#environment(), timeout: limitsMs.tool } as const
    return spawnSync(command.file, command.args, options).stdout.trim()
  }

  async #run(args: readonly string[], report: Report): Promise<void> {
    const run = this.#turn.then(() => this.#runNow(args, report))
    this.#turn = Promise.allSettled([run])
    await run
  }

  /** The last line of Compose's own progress (layers pulled, containers made) is the label. */
  async #runNow(args: readonly string[], report: Report): Promise<void> {
    let last = ''
    const run = runTool({
      ...this.#command(args),
      purpose: `compose ${args.join(' ')}`,
      limitMs: limitsMs.composeCommand,
      env: this.#environment(),
      onOutput: (text) => {
        last = text.trimEnd().split('\n').at(-1)?.trim() ?? last
      },
    })
    await narrated({ report, label: () => `compose ${args[0]}: ${last}` }, run)
  }
}

function isContainer(name: EngineName): boolean {
  return coreEngines.some((core) => core === name)
}
