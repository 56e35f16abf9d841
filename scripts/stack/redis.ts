/** Redis: the shared server, the ring of three cluster masters, and private ones for fault tests. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Engine } from './engine.ts'
import { StackError } from './failures.ts'
import { freePort, portIsFree, redisAnswers, ringIsUnformed, ringIsWhole } from './probes.ts'
import { eventually, narrated, type Report } from './progress.ts'
import { host, limitsMs, ringEngines, type Site } from './settings.ts'
import { lastWords, tieToThisProcess } from './tools.ts'

/**
 * `--save ''` because the shared server is a cache: a fork to write a dump would disturb every
 * measurement taken on it, and an old dump coming back would be a fault no test asked for.
 */
export function redisArguments(port: number, dir: string): string[] {
  return ['--port', String(port), '--bind', host, '--dir', dir, '--save', '', '--appendonly', 'no']
}

export function redisEngine({ layout, ports }: Site): Engine {
  const dir = path.join(layout.data, 'redis')
  return {
    name: 'redis',
    ports: [ports.redis],
    startLimitMs: limitsMs.redisStart,
    async prepare() {
      mkdirSync(dir, { recursive: true })
      return { file: 'redis-server', args: redisArguments(ports.redis, dir) }
    },
    probe: () => redisAnswers(ports.redis),
  }
}

function ringArguments(port: number, dir: string): string[] {
  return [
    ...redisArguments(port, dir),
    '--cluster-enabled',
    'yes',
    '--cluster-node-timeout',
    '2000',
  ]
}

/** The bus port, 10,000 above the client's, is where the masters talk to each other. */
export function ringNodes({ layout, ports }: Site): Engine[] {
  return ringEngines.map((name, index): Engine => {
    const port = ports.ring[index] ?? 0
    const dir = path.join(layout.data, name)
    return {
      name,
      ports: [port, port + 10_000],
      startLimitMs: limitsMs.redisStart,
      async prepare() {
        mkdirSync(dir, { recursive: true })
        return { file: 'redis-server', args: ringArguments(port, dir) }
      },
      probe: () => redisAnswers(port),
    }
  })
}

/** Hands out the slots once; later starts find them in each node's own file. */
export async function formRing({ ports }: Site, report: Report): Promise<void> {
  const unformed = await Promise.all(ports.ring.map(ringIsUnformed))
  if (unformed.every(Boolean)) createRing(ports.ring)
  const whole = async () => (await Promise.all(ports.ring.map(ringIsWhole))).every(Boolean)
  const waiting = eventually({ limitMs: limitsMs.ringFormation, everyMs: 100 }, whole)
  const label = () => 'waiting for the ring to agree on its slots'
  if (await narrated({ report, label }, waiting)) return
  throw new StackError('the ring does not come together; `reset` and `up --ring` start it afresh')
}

function createRing(ports: readonly number[]): void {
  const nodes = ports.map((port) => `${host}:${port}`)
  const args = ['--cluster', 'create', ...nodes, '--cluster-replicas', '0', '--cluster-yes']
  const result = spawnSync('redis-cli', args, { encoding: 'utf8', timeout: limitsMs.ringFormation })
  if (result.status === 0) return
  throw new StackError(`redis-cli could not create the ring:\n${result.stdout}${result.stderr}`)
}

export interface PrivateRedisOptions {
  readonly dir: string
  /** Any free one unless told. */
  readonly port?: number
  readonly extraArgs?: readonly string[]
}

export interface PrivateRedis extends AsyncDisposable {
  readonly port: number
  readonly pid: number
  kill(): Promise<void>
  stop(): Promise<void>
}

/** A server of one test's own; it ends with the test's process at the latest. */
export async function startRedis(options: PrivateRedisOptions): Promise<PrivateRedis> {
  const port = options.port ?? (await freePort())
  // Otherwise the server that has the port would answer in the new one's name.
  if (!(await portIsFree(port))) throw new StackError(`port ${port} is taken`)
  mkdirSync(options.dir, { recursive: true })
  const args = [...redisArguments(port, path.resolve(options.dir)), ...(options.extraArgs ?? [])]
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  tieToThisProcess(child)
  const words = lastWords(child)
  const ready = async () => hasEnded(child) || (await redisAnswers(port))
  const answered = await eventually({ limitMs: limitsMs.redisStart, everyMs: 20 }, ready)
  if (!answered || hasEnded(child) || child.pid === undefined) {
    await end(child, 'SIGKILL')
    throw new StackError(`redis-server on port ${port} does not serve:\n${words()}`)
  }
  const kill = () => end(child, 'SIGKILL')
  const stop = () => end(child, 'SIGTERM')
  return { port, pid: child.pid, kill, stop, [Symbol.asyncDispose]: stop }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal)
  const gone = () => hasEnded(child)
  if (await eventually({ limitMs: limitsMs.stop, everyMs: 10 }, gone)) return
  child.kill('SIGKILL')
  await eventually({ limitMs: limitsMs.kill, everyMs: 10 }, gone)
}
