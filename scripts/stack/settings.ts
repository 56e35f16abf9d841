/**
 * Everything about the stack that a reader may want to change, in one place: versions, ports,
 * folders and time limits. The engines' own files hold only what their configuration needs.
 */
import { homedir } from 'node:os'
import path from 'node:path'

export const coreEngines = ['redis', 'cassandra', 'kafka'] as const
export const ringEngines = ['ring-1', 'ring-2', 'ring-3'] as const
export const engineNames = [...coreEngines, ...ringEngines] as const
export type EngineName = (typeof engineNames)[number]

export const versions = { cassandra: '5.0.9', kafka: '4.3.1', log4j: '2.25.3', java: 17 }

export const host = '127.0.0.1'
export const dataCenter = 'datacenter1'

/** Upper bounds, several times what a busy two-core machine needs; reaching one is a failure. */
export const limitsMs = {
  cassandraStart: 180_000,
  kafkaStart: 120_000,
  redisStart: 15_000,
  ringFormation: 30_000,
  composeStart: 300_000,
  composeCommand: 600_000,
  stop: 20_000,
  kill: 5_000,
  download: 900_000,
  tool: 60_000,
  lock: 1_200_000,
}

export interface Ports {
  readonly redis: number
  readonly cassandra: number
  readonly cassandraStorage: number
  readonly kafka: number
  readonly kafkaController: number
  readonly ring: readonly [number, number, number]
}

export function portsAt(offset: number): Ports {
  return {
    redis: 16379 + offset,
    cassandra: 19042 + offset,
    cassandraStorage: 17000 + offset,
    kafka: 19092 + offset,
    kafkaController: 19093 + offset,
    ring: [17001 + offset, 17002 + offset, 17003 + offset],
  }
}

/**
 * Offsets go in hundreds because no two of the ports above are equal modulo 100, so two stacks can
 * never meet; with an offset of 50 the second Cassandra would take the first Kafka's port.
 */
export const offsetStep = 100
export const offsetMax = 9900

/** Where one stack keeps its things. `reset` deletes exactly these, never the folder wholesale. */
export interface Layout {
  readonly dir: string
  readonly data: string
  readonly logs: string
  readonly conf: string
  readonly pids: string
  readonly planFile: string
  readonly addressFile: string
  readonly lockFile: string
}

export function layoutOf(dir: string): Layout {
  const root = path.resolve(dir)
  return {
    dir: root,
    data: path.join(root, 'data'),
    logs: path.join(root, 'logs'),
    conf: path.join(root, 'conf'),
    pids: path.join(root, 'pids'),
    planFile: path.join(root, 'plan.json'),
    addressFile: path.join(root, 'stack.json'),
    lockFile: path.join(root, 'lock'),
  }
}

/** One stack: where it lives and which ports it uses. Every engine is built from this. */
export interface Site {
  readonly layout: Layout
  readonly ports: Ports
}

export const repositoryRoot = path.resolve(import.meta.dirname, '../..')

/** Jars live outside the checkout: a fresh clone or a `reset` must not download them again. */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  const base = env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache')
  return path.join(base, 'tributary', 'stack')
}
