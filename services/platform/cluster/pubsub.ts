/**
 * Messages over Redis. One connection listens for the whole process, however many subscribers there
 * are; a channel is subscribed on the server while it has at least one. Publishing goes over the
 * connection of the cache. A message published anywhere in a Redis Cluster reaches every node, so
 * any of them will do to listen on.
 *
 * The listening connection is made anew by hand, on the next address, whenever it breaks or stops
 * answering: then all channels are subscribed again and every subscriber is told to resync.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Mailbox, mailboxMetrics } from '../mailbox.ts'
import { checkMessage, type PubSub, PubSubUnavailableError, type Subscriber } from '../pubsub.ts'
import type { Telemetry } from '../telemetry.ts'
import { pubsubLibrary } from './lua/pubsub-library.ts'
import {
  backOff,
  connectionOptions,
  parseAddress,
  type RedisLink,
  type RedisValues,
} from './redis.ts'
import { translate } from './redis-errors.ts'

const PING_MS = 2_000
/** The server was there a moment ago, for the cache. */
const START_WAIT_MS = 10_000
const CHANNELS_PER_CALL = 500

interface Channel {
  readonly mailboxes: Set<Mailbox>
}

export interface RedisPubSubOptions {
  readonly link: RedisLink
  readonly settings: RedisValues
  readonly telemetry: Telemetry
}

const unavailable = (message: string, details: { readonly cause: unknown }): Error =>
  new PubSubUnavailableError(message, details)

export class RedisPubSub implements PubSub {
  readonly #link: RedisLink
  readonly #settings: RedisValues
  readonly #channels = new Map<string, Channel>()
  readonly #events
  readonly #resyncs
  readonly #log
  readonly #closing = new AbortController()
  #listener: Redis | undefined
  #listening: Promise<void> = Promise.resolve()

  private constructor({ link, settings, telemetry }: RedisPubSubOptions) {
    this.#link = link
    this.#settings = settings
    this.#log = telemetry.log
    this.#events = mailboxMetrics(telemetry)
    this.#resyncs = telemetry.counter(
      'tributary_pubsub_resyncs_total',
      'times the listening connection was made anew',
    )
  }

  static async open(options: RedisPubSubOptions): Promise<RedisPubSub> {
    const pubsub = new RedisPubSub(options)
    if (options.link.clustered) await options.link.use(pubsubLibrary)
    const started = new Promise<void>((resolve, reject) => {
      pubsub.#listening = pubsub.#keepListening(resolve).catch(reject)
      setTimeout(() => reject(new Error('no connection for messages')), START_WAIT_MS).unref()
    })
    try {
      await started
      return pubsub
    } catch (error) {
      await pubsub[Symbol.asyncDispose]()
      throw translate(error, unavailable)
    }
  }

  async publish(channel: string, text: string): Promise<void> {
    checkMessage(text)
    const key = this.#link.key(channel)
    const call = this.#link.clustered
      ? { command: 'FCALL', args: [pubsubLibrary.functions.publish, 1, key, text], key }
      : { command: 'PUBLISH', args: [key, text], key }
    try {
      await this.#link.run([call])
    } catch (error) {
      throw translate(error, unavailable)
    }
  }

  async subscribe(channel: string, subscriber: Subscriber): Promise<AsyncDisposable> {
    const name = this.#link.key(channel)
    const mailbox = new Mailbox(subscriber, this.#events)
    this.#join(name, mailbox)
    try {
      // Also when others listen already: their own call may still be under way.
      await this.#live().subscribe(name)
    } catch (error) {
      await this.#leave(name, mailbox)
      throw translate(error, unavailable)
    }
    return { [Symbol.asyncDispose]: () => this.#leave(name, mailbox) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await this.#listening
    for (const { mailboxes } of this.#channels.values()) {
      for (const mailbox of mailboxes) mailbox.close()
    }
    this.#channels.clear()
  }

  #join(name: string, mailbox: Mailbox): void {
    const channel = this.#channels.get(name) ?? { mailboxes: new Set() }
    channel.mailboxes.add(mailbox)
    this.#channels.set(name, channel)
  }

  async #leave(name: string, mailbox: Mailbox): Promise<void> {
    mailbox.close()
    const channel = this.#channels.get(name)
    if (!channel?.mailboxes.delete(mailbox) || channel.mailboxes.size > 0) return
    this.#channels.delete(name)
    if (this.#listener?.status !== 'ready') return
    // Lost with its connection otherwise: a new one subscribes what is left.
    await this.#listener.unsubscribe(name).catch((error: unknown) => {
      if (this.#listener?.status === 'ready') throw translate(error, unavailable)
    })
  }

  #live(): Redis {
    if (this.#listener?.status === 'ready') return this.#listener
    throw new Error('the connection for messages is being made anew')
  }

  /** One connection after the other, until closed; `onFirst` once the first one listens. */
  async #keepListening(onFirst: () => void): Promise<void> {
    const { signal } = this.#closing
    let failures = 0
    let connections = 0
    for (let turn = 0; !signal.aborted; turn += 1) {
      const listener = this.#connect(turn)
      const hangUp = () => listener.disconnect()
      signal.addEventListener('abort', hangUp, { once: true })
      try {
        await listener.connect()
        await this.#subscribeAll(listener)
        this.#listener = listener
        failures = 0
        connections += 1
        if (connections === 1) onFirst()
        else this.#resyncAll()
        await broken(listener, this.#settings.commandTimeoutMs)
      } catch (error) {
        failures += 1
        if (signal.aborted) return
        this.#log.warn({ err: error, failures }, 'no connection for messages, trying again')
      } finally {
        signal.removeEventListener('abort', hangUp)
        listener.disconnect()
      }
      await delay(backOff(failures), undefined, { signal }).catch(() => undefined)
    }
  }

  #connect(turn: number): Redis {
    const { nodes } = this.#settings
    const { host, port } = parseAddress(nodes[turn % nodes.length] ?? '')
    const listener = new Redis(port, host, {
      ...connectionOptions(this.#settings),
      autoResubscribe: false,
      retryStrategy: null,
    })
    listener.on('error', () => this.#link.noteConnectionError())
    listener.on('message', (name: string, text: string) => {
      for (const mailbox of this.#channels.get(name)?.mailboxes ?? []) mailbox.put(text)
    })
    return listener
  }

  async #subscribeAll(listener: Redis): Promise<void> {
    const names = [...this.#channels.keys()]
    for (let from = 0; from < names.length; from += CHANNELS_PER_CALL) {
      await listener.subscribe(...names.slice(from, from + CHANNELS_PER_CALL))
    }
  }

  #resyncAll(): void {
    this.#resyncs.inc()
    for (const { mailboxes } of this.#channels.values()) {
      for (const mailbox of mailboxes) mailbox.resync()
    }
  }
}

/** Resolves when the connection has closed, or has stopped answering and was closed for it. */
const broken = (listener: Redis, answerMs: number): Promise<void> =>
  new Promise((resolve) => {
    const ping = () => {
      listener.ping().catch(() => listener.disconnect())
    }
    const timer = setInterval(ping, Math.max(PING_MS, answerMs))
    const finish = () => {
      clearInterval(timer)
      resolve()
    }
    listener.once('close', finish)
    // It may have closed before anyone listened.
    if (listener.status !== 'ready') finish()
  })
