/**
 * kafkajs, made quiet and bounded: its lines go to our telemetry, its errors become ours, and one
 * flaw is mended.
 *
 * The flaw: kafkajs 2.2.4 keeps a timer of 1 ms running on every connection that has answered once
 * (`scheduleCheckPendingRequests` computes a time in the past when nothing waits). `mendTimers`
 * replaces that method by one that sets a timer only while requests wait. kafkajs has no newer
 * release; the version is pinned, and the test of idle processor time fails if this stops working.
 */
import { createRequire } from 'node:module'
import { type Cluster, Kafka, type KafkaConfig, logLevel } from 'kafkajs'
import { DomainError } from '../../kernel/errors.ts'
import type { Values } from '../../kernel/settings.ts'
import { LogUnavailableError } from '../log.ts'
import type { kafkaSettings } from '../settings.ts'
import type { Telemetry } from '../telemetry.ts'

export type KafkaSettings = Values<typeof kafkaSettings>

export interface KafkaClientOptions {
  readonly settings: KafkaSettings
  readonly telemetry: Telemetry
}

/**
 * A client of its own for each consumer: clients share committed offsets by group, so two members
 * of one group in one client would clear each other's.
 */
export const makeKafka = (
  { settings, telemetry }: KafkaClientOptions,
  overrides: Pick<KafkaConfig, 'retry' | 'socketFactory'> = {},
): Kafka => {
  mendTimers()
  return new Kafka({
    clientId: 'tributary',
    brokers: [...settings.brokers],
    connectionTimeout: 3_000,
    requestTimeout: settings.appendTimeoutMs,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 5 },
    logLevel: logLevel.WARN,
    logCreator: toTelemetry(telemetry),
    ...overrides,
  })
}

/** What kafkajs calls an error is retried and, when it matters, reaches us as a rejection. */
const toTelemetry =
  (telemetry: Telemetry): NonNullable<KafkaConfig['logCreator']> =>
  () =>
  ({ namespace, log: { message, timestamp: _, logger: __, ...details } }) => {
    telemetry.log.debug({ client: 'kafkajs', namespace, details }, message)
  }

/** The metadata and brokers behind a client, for requests that kafkajs has no call for. */
export const clusterOf = (kafka: Kafka, groupId: string): Cluster => {
  let captured: Cluster | undefined
  kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    // Assigners are made with the cluster at hand: the one public way to it.
    partitionAssigners: [
      ({ cluster }) => {
        captured = cluster
        return { name: 'none', version: 0, assign: async () => [], protocol: noProtocol }
      },
    ],
  })
  if (!captured) throw new Error('assertion failed: kafkajs makes its assigners at once')
  return captured
}

const noProtocol = () => ({ name: 'none', metadata: Buffer.alloc(0) })

/** An error of the driver as one of ours; what is ours already passes. */
export const translate = (error: unknown, doing: string): DomainError => {
  if (error instanceof DomainError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new LogUnavailableError(`Kafka failed to ${doing}: ${reason}`, { cause: error })
}

/** The protocol's name of an error, however deep kafkajs has wrapped it. */
export const errorType = (error: unknown): string | undefined => {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('type' in at && typeof at.type === 'string') return at.type
  }
  return undefined
}

interface RequestQueue {
  readonly pending: readonly unknown[]
  readonly throttledUntil: number
  throttleCheckTimeoutId: NodeJS.Timeout | null
  checkPendingRequests(): void
}

const CHECK_EVERY_MS = 10
let isMended = false

const mendTimers = (): void => {
  if (isMended) return
  isMended = true
  const load = createRequire(import.meta.url)
  const queue = load('kafkajs/src/network/requestQueue') as { prototype: object }
  Object.assign(queue.prototype, {
    scheduleCheckPendingRequests(this: RequestQueue): void {
      if (this.throttleCheckTimeoutId || this.pending.length === 0) return
      const throttledMs = this.throttledUntil - Date.now()
      this.throttleCheckTimeoutId = setTimeout(
        () => {
          this.throttleCheckTimeoutId = null
          this.checkPendingRequests()
        },
        throttledMs > 0 ? throttledMs : CHECK_EVERY_MS,
      )
    },
  })
}
