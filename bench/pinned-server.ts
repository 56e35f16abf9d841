/**
 * Servers in processes of their own, on one core of their own: the first; the load runs on the
 * others. What cannot be pinned runs where it may, alike for both sides.
 */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { Child } from '../test/kit/child.ts'
import type { Place } from '../test/kit/place.ts'
import { Program } from '../test/kit/program.ts'

const SERVER_CORE = '0'
const others = `1-${availableParallelism() - 1}`
const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true']).status === 0

/** The command that keeps a server on its core. */
const pinned = canPin ? ['taskset', '-c', SERVER_CORE] : []

/** Takes this process off the servers' core. */
export const stepAside = (): void => {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', others, String(process.pid)])
}

export interface Served extends AsyncDisposable {
  readonly address: string
}

/** The product. */
export const serveProduct = (script: string, variables: Place['variables']): Promise<Program> =>
  Program.serve({ variables, script, under: pinned })

/** A reference: a script that says where it listens. */
export const serveReference = async (script: string, args: readonly string[]): Promise<Served> => {
  const child = new Child(script, { args, under: pinned })
  const line = await child.says('listening ')
  return {
    address: line.replace('listening ', ''),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
