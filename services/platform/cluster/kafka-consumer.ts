/**
 * A consumer that goes on: when its member crashes, for whatever reason, another one is started
 * after a wait, until it is disposed.
 */
import { SystemClock } from '../clock.ts'
import { type Consumer, LogUnavailableError, type Subscription } from '../log.ts'
import { type BackOff, backOffMs } from '../progress.ts'
import { type KafkaClientOptions, makeKafka, translate } from './kafka-client.ts'
import { sleep } from './kafka-lane.ts'
import { KafkaMember } from './kafka-member.ts'

export interface KafkaConsumerOptions {
  readonly client: KafkaClientOptions
  readonly groupId: string
  readonly subscription: Subscription
  /** Names on the brokers to names of ours. */
  readonly topics: ReadonlyMap<string, string>
  readonly backOff: BackOff
  onClosed(consumer: KafkaConsumer): void
}

const JOIN_WAIT_MS = 15_000
const RESTART: BackOff = { minMs: 200, maxMs: 10_000 }

export class KafkaConsumer implements Consumer {
  readonly #options: KafkaConsumerOptions
  readonly #closing = new AbortController()
  #member: KafkaMember
  #isPaused: boolean = false
  #life: Promise<void> | undefined

  constructor(options: KafkaConsumerOptions) {
    this.#options = options
    this.#member = this.#newMember()
  }

  /** Resolves when it is a member of its group. */
  async start(): Promise<void> {
    const deadline = performance.now() + JOIN_WAIT_MS
    for (;;) {
      try {
        await this.#member.start()
        break
      } catch (cause) {
        await this.#member.stop()
        const error = translate(cause, `join group ${this.#options.groupId}`)
        // A broker that has just started answers while it still loads its groups.
        if (!(error instanceof LogUnavailableError) || performance.now() > deadline) throw error
        await new SystemClock().sleep(RESTART.minMs, this.#closing.signal)
        this.#member = this.#newMember()
      }
    }
    this.#life = this.#goOn()
  }

  pause(): void {
    this.#isPaused = true
    this.#member.refresh()
  }

  resume(): void {
    this.#isPaused = false
    this.#member.refresh()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await this.#life
    this.#options.onClosed(this)
  }

  async #goOn(): Promise<void> {
    const { signal } = this.#closing
    const closed = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    while (!signal.aborted) {
      const crash = await Promise.race([this.#member.crashed(), closed])
      if (crash) await this.#restart(crash)
    }
    await this.#member.stop()
  }

  async #restart(crash: Error): Promise<void> {
    const { groupId, client } = this.#options
    const { log } = client.telemetry
    log.error({ err: crash, groupId }, 'a consumer crashed and is started again')
    this.#abandon(this.#member)
    for (let attempt = 1; ; attempt += 1) {
      await sleep(backOffMs(attempt, RESTART), this.#closing.signal)
      if (this.#closing.signal.aborted) return
      this.#member = this.#newMember()
      try {
        await this.#member.start()
        log.info({ groupId, attempt }, 'a consumer is back')
        return
      } catch (error) {
        log.warn({ err: error, groupId, attempt }, 'a consumer could not be started')
        await this.#member.stop()
      }
    }
  }

  /** A crashed member has closed its connections already, a silent one perhaps never will. */
  #abandon(member: KafkaMember): void {
    const { log } = this.#options.client.telemetry
    member.stop().catch((error: unknown) => log.debug({ err: error }, 'a lost consumer stays open'))
  }

  #newMember(): KafkaMember {
    const { client, groupId, subscription, topics, backOff } = this.#options
    return new KafkaMember({
      // One client each: see makeKafka.
      kafka: makeKafka(client),
      groupId,
      subscription,
      topics,
      settings: client.settings,
      backOff,
      telemetry: client.telemetry,
      isPaused: () => this.#isPaused,
    })
  }
}
