/**
 * One producer, from its connection to its end. kafkajs' own `disconnect` waits for answers and its
 * retries connect again, so a producer given up on would go on and store events late: `retire`
 * destroys its sockets, and its partitioner refuses any further attempt.
 */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ICustomPartitioner, ISocketFactory, Producer, TopicMessages } from 'kafkajs'
import { type KafkaClientOptions, makeKafka } from './kafka-client.ts'

const KEEP_ALIVE_MS = 60_000
const RETRY_MS_MAX = 500

export interface RetirableProducer {
  /** Resolves when all replicas in sync have the messages, which carry their partition. */
  send(topicMessages: TopicMessages[]): Promise<void>
  /** Ends it at once, whatever is under way. */
  retire(): void
  close(): Promise<void>
}

export const openProducer = async (options: KafkaClientOptions): Promise<RetirableProducer> => {
  const opened = new KafkaProducer(options)
  await opened.connect()
  return opened
}

/** What makes kafkajs give up: see its retry and sendMessages. */
class RetiredError extends Error {
  readonly retriable = false

  constructor() {
    super('the producer is retired')
  }
}

class KafkaProducer implements RetirableProducer {
  readonly #options: KafkaClientOptions
  readonly #producer: Producer
  readonly #sockets = new Set<Socket>()
  #isRetired: boolean = false

  constructor(options: KafkaClientOptions) {
    this.#options = options
    const { appendTimeoutMs } = options.settings
    // The default of an idempotent producer is to retry for ever.
    const retries = Math.ceil(appendTimeoutMs / RETRY_MS_MAX)
    const retry = { initialRetryTime: 50, maxRetryTime: RETRY_MS_MAX, retries }
    this.#producer = makeKafka(options, { retry, socketFactory: this.#socketFactory }).producer({
      idempotent: true,
      allowAutoTopicCreation: false,
      createPartitioner: this.#partitioner,
      retry,
    })
  }

  connect(): Promise<void> {
    return this.#producer.connect()
  }

  async send(topicMessages: TopicMessages[]): Promise<void> {
    const timeout = this.#options.settings.appendTimeoutMs
    await this.#producer.sendBatch({ acks: -1, timeout, topicMessages })
  }

  retire(): void {
    this.#isRetired = true
    for (const socket of this.#sockets) socket.destroy(new RetiredError())
    this.close().catch((error: unknown) => {
      this.#options.telemetry.log.debug({ err: error }, 'a retired producer did not close')
    })
  }

  close(): Promise<void> {
    return this.#producer.disconnect()
  }

  readonly #partitioner: ICustomPartitioner =
    () =>
    ({ message }) => {
      if (this.#isRetired) throw new RetiredError()
      return message.partition ?? 0
    }

  readonly #socketFactory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    const socket = ssl
      ? connectTls({ host, port, servername: host, ...ssl }, onConnect)
      : connect({ host, port }, onConnect)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.setNoDelay(true)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    return socket
  }
}
