/**
 * The connection to Redis that cache and feeds share: one server or a Redis Cluster.
 *
 * Calls are sent at once or fail at once; nothing is queued for a server that is away, and nothing
 * is sent a second time by itself once it may have been carried out, since a retry could take tokens
 * twice. Only what the server refused before doing anything goes out again: a redirection (MOVED,
 * ASK, TRYAGAIN, CLUSTERDOWN) and a call of a function it has lost, after loading it.
 *
 * `run` sends any number of calls in one round trip to each shard and answers each in its place.
 */
import { Cluster, Redis } from 'ioredis'
import { OverloadedError, UnavailableError } from '../../kernel/errors.ts'
import type { Values } from '../../kernel/settings.ts'
import type { redisSettings } from '../settings.ts'
import type { Telemetry } from '../telemetry.ts'
import { keySlot } from './key-slot.ts'
import { isFunctionMissing, isRedirect, messageOf } from './redis-errors.ts'
import type { FunctionLibrary } from './redis-functions.ts'

export type RedisValues = Values<typeof redisSettings>
export type RedisArgument = string | number | Buffer
/** As ioredis gives it with `callBuffer`: text is bytes, an array is an array. */
export type RedisReply = Buffer | number | null | readonly RedisReply[]

export interface RedisCall {
  readonly command: string
  readonly args: readonly RedisArgument[]
  /** Chooses the shard; with its prefix. */
  readonly key: string
}

export interface RedisLinkOptions {
  readonly settings: RedisValues
  readonly namespace: string
  readonly telemetry: Telemetry
  /** How long to wait for the first connection. */
  readonly startWaitMs?: number
}

const OLDEST_MAJOR = 7
const RECONNECT_MAX_MS = 1_000
const CONNECT_TIMEOUT_MS = 3_000
const SLOTS_REFRESH_MS = 10_000

export class RedisLink implements AsyncDisposable {
  readonly clustered: boolean
  readonly #options: RedisLinkOptions
  readonly #client: Redis | Cluster
  readonly #libraries: FunctionLibrary[] = []
  readonly #failures
  #loading: Promise<void> | undefined
  #inFlight = 0

  constructor(options: RedisLinkOptions) {
    this.#options = options
    this.clustered = options.settings.cluster
    this.#failures = options.telemetry.counter(
      'tributary_redis_connection_errors_total',
      'errors of connections to Redis',
    )
    this.#client = connect(options.settings)
    this.#client.on('error', () => this.noteConnectionError())
  }

  /** Waits for the server, or for all masters, and checks that each is new enough. */
  static async open(options: RedisLinkOptions): Promise<RedisLink> {
    const link = new RedisLink(options)
    try {
      await link.#ready(options.startWaitMs ?? 10_000)
      await Promise.all(link.masters().map(checkVersion))
      return link
    } catch (error) {
      await link[Symbol.asyncDispose]()
      throw error
    }
  }

  /** A key inside our namespace. */
  key(name: string): string {
    return `${this.#options.namespace}:${name}`
  }

  noteConnectionError(): void {
    this.#failures.inc()
  }

  masters(): Redis[] {
    return this.#client instanceof Cluster ? this.#client.nodes('master') : [this.#client]
  }

  /** Loads a library everywhere, now and whenever a server turns out not to have it. */
  async use(library: FunctionLibrary): Promise<void> {
    this.#libraries.push(library)
    await this.#load()
  }

  /** Sends the calls in one round trip to each shard. Rejects with the first failure, untranslated. */
  async run(calls: readonly RedisCall[]): Promise<RedisReply[]> {
    const { inFlightMax } = this.#options.settings
    if (this.#inFlight > 0 && this.#inFlight + calls.length > inFlightMax) {
      throw new OverloadedError(`${this.#inFlight} calls to Redis are under way`)
    }
    this.#inFlight += calls.length
    try {
      return await this.#settle(calls, await this.#send(calls))
    } finally {
      this.#inFlight -= calls.length
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.disconnect()
  }

  /** Sends again what was refused before it did anything. */
  async #settle(calls: readonly RedisCall[], outcomes: readonly Outcome[]): Promise<RedisReply[]> {
    if (outcomes.some(({ error }) => isFunctionMissing(error))) await this.#load()
    return Promise.all(
      outcomes.map(({ error, reply }, index) => {
        const call = calls[index]
        if (error === null) return reply ?? null
        if (!call || !(isFunctionMissing(error) || isRedirect(error))) throw this.#noted(error)
        return this.#client.callBuffer(call.command, ...call.args) as Promise<RedisReply>
      }),
    )
  }

  /** A lost connection may mean a failover: the slots are asked for again. */
  #noted(error: unknown): unknown {
    if (this.#client instanceof Cluster && /connection is closed/i.test(messageOf(error))) {
      this.#client.refreshSlotsCache()
    }
    return error
  }

  async #send(calls: readonly RedisCall[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = new Array(calls.length)
    await Promise.all(
      this.#byShard(calls).map(async ({ server, indices }) => {
        const together = indices.flatMap((index) => calls[index] ?? [])
        const answers = await sendTogether(server, together)
        for (const [at, index] of indices.entries()) {
          outcomes[index] = answers[at] ?? { error: new Error('a reply is missing') }
        }
      }),
    )
    return outcomes
  }

  /**
   * Which calls go where. Pipelines are made on a shard's own connection: the cluster client would
   * repeat a whole pipeline for one redirection in it.
   */
  #byShard(calls: readonly RedisCall[]): Shard[] {
    const client = this.#client
    if (client instanceof Redis) return [{ server: client, indices: [...calls.keys()] }]
    const shards = new Map<string, Shard>()
    const servers = new Map(client.nodes('master').map((node) => [addressOf(node), node]))
    for (const [index, { key }] of calls.entries()) {
      const address = client.slots[keySlot(key)]?.[0] ?? ''
      const server = servers.get(address)
      const shard = shards.get(address)
      // Nobody is known to have the slot: the cluster client finds out, call by call.
      if (!server) shards.set(`${index}`, { server: client, indices: [index] })
      else if (shard) shard.indices.push(index)
      else shards.set(address, { server, indices: [index] })
    }
    return [...shards.values()]
  }

  async #load(): Promise<void> {
    this.#loading ??= this.#loadEverywhere().finally(() => {
      this.#loading = undefined
    })
    await this.#loading
  }

  async #loadEverywhere(): Promise<void> {
    for (const { source } of this.#libraries) {
      await Promise.all(this.masters().map((master) => loadLibrary(master, source)))
    }
  }

  async #ready(waitMs: number): Promise<void> {
    const { nodes } = this.#options.settings
    const { promise, resolve, reject } = deferred()
    let reason: unknown
    const fail = () =>
      reject(
        new UnavailableError(`Redis at ${nodes.join(', ')} did not answer within ${waitMs} ms`, {
          cause: reason,
        }),
      )
    const timer = setTimeout(fail, waitMs)
    const note = (error: unknown) => {
      reason = error
    }
    this.#client.on('error', note).once('ready', resolve)
    // Its rejection is one failed attempt of many; `ready` or the timer decide.
    this.#client.connect().catch(note)
    try {
      await promise
    } finally {
      clearTimeout(timer)
      this.#client.off('error', note)
    }
  }
}

interface Shard {
  readonly server: Redis | Cluster
  readonly indices: number[]
}

type Outcome =
  | { readonly error: null; readonly reply: RedisReply }
  | { readonly error: unknown; readonly reply?: undefined }

const sendTogether = async (
  server: Redis | Cluster,
  calls: readonly RedisCall[],
): Promise<Outcome[]> => {
  try {
    const [only] = calls
    if (only && calls.length === 1) {
      const reply = await server.callBuffer(only.command, ...only.args)
      return [{ error: null, reply: reply as RedisReply }]
    }
    const pipeline = server.pipeline()
    for (const { command, args } of calls) pipeline.callBuffer(command, ...args)
    const replies = (await pipeline.exec()) ?? []
    return replies.map(([error, reply]) =>
      error ? { error } : { error: null, reply: reply as RedisReply },
    )
  } catch (error) {
    return calls.map(() => ({ error }))
  }
}

const addressOf = ({ options }: Redis): string => `${options.host}:${options.port}`

const deferred = () => {
  let resolve: () => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<void>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  return { promise, resolve, reject }
}

const connect = (settings: RedisValues): Redis | Cluster => {
  const options = connectionOptions(settings)
  const addresses = settings.nodes.map(parseAddress)
  const [first] = addresses
  if (!first) throw new Error('no address of a Redis is set')
  if (!settings.cluster) return new Redis(first.port, first.host, options)
  return new Cluster([...addresses], {
    lazyConnect: true,
    enableOfflineQueue: false,
    redisOptions: options,
    // A call on a connection that was lost may have been carried out: never sent again.
    retryDelayOnFailover: 0,
    clusterRetryStrategy: backOff,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
  })
}

export const connectionOptions = (settings: RedisValues) => ({
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  commandTimeout: settings.commandTimeoutMs,
  // A peer that vanished without a word: calls time out one by one, then the connection goes.
  socketTimeout: settings.commandTimeoutMs * 5,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: backOff,
  // A master that became a replica refuses writes: look again where the address leads.
  reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
  ...(settings.username ? { username: settings.username } : {}),
  ...(settings.password ? { password: settings.password } : {}),
})

export const backOff = (attempt: number): number =>
  Math.min(RECONNECT_MAX_MS, 2 ** Math.min(attempt, 10) * 10) * (0.5 + Math.random() / 2)

export const parseAddress = (address: string): { host: string; port: number } => {
  const colon = address.lastIndexOf(':')
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '')
  const port = Number(address.slice(colon + 1))
  if (colon < 1 || !Number.isInteger(port)) throw new Error(`'${address}' is not host:port`)
  return { host, port }
}

const checkVersion = async (server: Redis): Promise<void> => {
  const info = await server.info('server')
  const version = /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown'
  if (Number.parseInt(version, 10) >= OLDEST_MAJOR) return
  const { host, port } = server.options
  throw new Error(
    `Redis at ${host}:${port} is version ${version}; functions, which feeds are built on, need ` +
      `${OLDEST_MAJOR}.0 or newer: upgrade that server, or point TRIBUTARY_REDIS_NODES at another`,
  )
}

const loadLibrary = async (server: Redis, source: string): Promise<void> => {
  try {
    await server.call('FUNCTION', 'LOAD', source)
  } catch (error) {
    if (!/already exists/i.test(messageOf(error))) throw error
  }
}
