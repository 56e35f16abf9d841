/** Redis servers that a test may kill, demote, flush and restore; each in a folder of its own. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { type PrivateRedis, startRedis } from '../../scripts/stack/control.ts'
import type { Address } from './engines.ts'
import { holds } from './holds.ts'

export class RedisServer implements AsyncDisposable {
  readonly #dir: string
  readonly #args: readonly string[]
  #process: PrivateRedis

  private constructor(dir: string, args: readonly string[], process: PrivateRedis) {
    this.#dir = dir
    this.#args = args
    this.#process = process
  }

  static async start(...args: string[]): Promise<RedisServer> {
    const dir = mkdtempSync(path.join(tmpdir(), 'tributary-redis-'))
    // A replica is served at once: by default Redis waits 5 s for others to come.
    const extraArgs = ['--repl-diskless-sync-delay', '0', ...args]
    return new RedisServer(dir, extraArgs, await startRedis({ dir, extraArgs }))
  }

  get address(): Address {
    return { host: '127.0.0.1', port: this.#process.port }
  }

  /** Stops answering without closing anything. */
  stall(): void {
    process.kill(this.#process.pid, 'SIGSTOP')
  }

  resume(): void {
    process.kill(this.#process.pid, 'SIGCONT')
  }

  kill(): Promise<void> {
    return this.#process.kill()
  }

  /** Starts on the same port and what was left in the folder. */
  async restart(): Promise<void> {
    const { port } = this.#process
    this.#process = await startRedis({ dir: this.#dir, port, extraArgs: this.#args })
  }

  /** Sends one command over a connection of its own. */
  async command(...words: readonly string[]): Promise<unknown> {
    const { host, port } = this.address
    const client = new Redis(port, host, { retryStrategy: null })
    try {
      return await client.call(...(words as [string, ...string[]]))
    } finally {
      client.disconnect()
    }
  }

  async follow(master: RedisServer): Promise<void> {
    const { host, port } = master.address
    await this.command('REPLICAOF', host, String(port))
    await holds(async () => {
      const info = String(await this.command('INFO', 'replication'))
      if (!info.includes('master_link_status:up')) throw new Error('not in sync yet')
    }, 30_000)
  }

  /** Breaks the link to the master without being promoted: what comes now is lost. */
  async loseMaster(): Promise<void> {
    await this.command('REPLICAOF', '127.0.0.1', '1')
  }

  async promote(): Promise<void> {
    await this.command('REPLICAOF', 'NO', 'ONE')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stop()
    rmSync(this.#dir, { recursive: true, force: true })
  }
}

/** Makes a Redis Cluster of servers started with --cluster-enabled yes. */
export const formPrivateRing = async (servers: readonly RedisServer[]): Promise<void> => {
  const nodes = servers.map(({ address }) => `${address.host}:${address.port}`)
  const args = ['--cluster', 'create', ...nodes, '--cluster-yes']
  const { status, stdout } = spawnSync('redis-cli', args, { encoding: 'utf8', timeout: 30_000 })
  if (status !== 0) throw new Error(`redis-cli could not make a ring:\n${stdout}`)
  await holds(async () => {
    for (const server of servers) {
      const info = String(await server.command('CLUSTER', 'INFO'))
      if (!info.includes('cluster_state:ok')) throw new Error('the ring is not whole yet')
    }
  }, 30_000)
}
