/**
 * One life of a group member: a kafkajs consumer from its connection to its stop or crash.
 *
 * kafkajs fetches, hands over, waits until all of it is handled and fetches again, so that one slow
 * partition would hold up the others, and the heartbeat with them. Here `eachBatch` waits for a
 * handler only for the time of a fetch; after that the partition is paused for kafkajs and its lane
 * goes on alone, while the loop keeps fetching the others and keeps the membership alive. Nothing is
 * resolved before it is done, so a partition that is resumed is fetched from its first undone event.
 *
 * Before a member joins again in a rebalance, all its handlers are stopped and what they did is
 * committed: the partition's next holder begins where this one ended. kafkajs has no hook for that,
 * but looks up the group's coordinator first each time, on a cluster object that our assigner sees.
 */
import {
  type Consumer,
  type ConsumerGroupJoinEvent,
  type EachBatchPayload,
  type Kafka,
  type PartitionAssigner,
  PartitionAssigners,
} from 'kafkajs'
import type { Assignment, Subscription, TopicPartition } from '../log.ts'
import { type BackOff, backOffMs } from '../progress.ts'
import type { Telemetry } from '../telemetry.ts'
import type { KafkaSettings } from './kafka-client.ts'
import { KafkaLane, sleep } from './kafka-lane.ts'
import { toRecord } from './kafka-records.ts'
import { Turns } from './turns.ts'

export interface MemberOptions {
  readonly kafka: Kafka
  readonly groupId: string
  readonly subscription: Subscription
  /** Names on the brokers to names of ours. */
  readonly topics: ReadonlyMap<string, string>
  readonly settings: KafkaSettings
  readonly backOff: BackOff
  readonly telemetry: Telemetry
  readonly isPaused: () => boolean
}

const HEARTBEATS_PER_SESSION = 20
const HEARTBEAT_MS_MAX = 3_000
/** A member that has not even asked for events for this many sessions is given up. */
const SILENT_SESSIONS = 3

export class KafkaMember {
  readonly #options: MemberOptions
  readonly #consumer: Consumer
  readonly #turns: Turns
  readonly #crash: Promise<Error>
  readonly #joined: Promise<void>
  #generation = new Generation()
  #isStopping: boolean = false
  #watcher: NodeJS.Timeout | undefined

  constructor(options: MemberOptions) {
    const { settings, subscription } = options
    this.#options = options
    this.#turns = new Turns(subscription.partitionsAtOnce)
    this.#consumer = options.kafka.consumer({
      groupId: options.groupId,
      allowAutoTopicCreation: false,
      partitionAssigners: [this.#assigner],
      sessionTimeout: settings.sessionTimeoutMs,
      rebalanceTimeout: settings.sessionTimeoutMs,
      heartbeatInterval: Math.min(
        HEARTBEAT_MS_MAX,
        settings.sessionTimeoutMs / HEARTBEATS_PER_SESSION,
      ),
      maxWaitTimeInMs: settings.fetchWaitMs,
      // Whoever runs this member starts another when it crashes, whatever the reason.
      retry: { restartOnFailure: () => Promise.resolve(false) },
    })
    const { GROUP_JOIN, CRASH } = this.#consumer.events
    this.#joined = new Promise((resolve) => {
      this.#consumer.on(GROUP_JOIN, (event) => {
        this.#onJoin(event)
        resolve()
      })
    })
    this.#crash = new Promise((resolve) => {
      this.#consumer.on(CRASH, ({ payload }) => resolve(payload.error))
      this.#watch(resolve)
    })
  }

  /** Resolves when it has joined the group; rejects when it cannot. */
  async start(): Promise<void> {
    const topics = [...this.#options.topics.keys()]
    await this.#consumer.connect()
    await this.#consumer.subscribe({ topics, fromBeginning: true })
    const partitions = this.#options.subscription.topics.map((topic) => topic.partitions)
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: partitions.reduce((sum, count) => sum + count, 0),
      eachBatch: (payload) => this.#onBatch(payload),
    })
    const failure = await Promise.race([this.#joined, this.#crash])
    if (failure) throw failure
  }

  /** Resolves with the reason when it is no longer a member against its will. */
  async crashed(): Promise<Error> {
    const error = await this.#crash
    clearInterval(this.#watcher)
    await this.#endGeneration()
    return error
  }

  /** Hands everything back, waits for handlers and leaves the group. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#watcher)
    await this.#generation.revoke()
    await this.#consumer.disconnect()
  }

  /**
   * To a broker that keeps its connections and says nothing, kafkajs is patient for six times the
   * time of a request, and then tells of it only when its connections are closed.
   */
  #watch(giveUp: (reason: Error) => void): void {
    const { sessionTimeoutMs } = this.#options.settings
    let isHeard = true
    let silent = 0
    this.#consumer.on(this.#consumer.events.FETCH_START, () => {
      isHeard = true
    })
    this.#watcher = setInterval(() => {
      silent = isHeard ? 0 : silent + 1
      isHeard = false
      if (silent >= SILENT_SESSIONS) giveUp(new Error('the consumer fell silent'))
    }, sessionTimeoutMs)
  }

  /** Follows a change of `isPaused`. */
  refresh(): void {
    for (const [at, lane] of this.#generation.lanes) this.#setFlow(at, lane)
  }

  readonly #assigner: PartitionAssigner = (config) => {
    const { cluster } = config
    const find = cluster.findGroupCoordinator.bind(cluster)
    cluster.findGroupCoordinator = async (group) => {
      await this.#endGeneration()
      return find(group)
    }
    return PartitionAssigners.roundRobin(config)
  }

  /** Stops all handlers; waits for them as long as the session may last without a heartbeat. */
  async #endGeneration(): Promise<void> {
    const generation = this.#generation
    const waiting = new AbortController()
    await Promise.race([
      generation.revoke().finally(() => waiting.abort()),
      sleep(this.#options.settings.sessionTimeoutMs / 2, waiting.signal),
    ])
    for (const lane of generation.lanes.values()) lane.forget()
  }

  #onJoin({ payload: { memberAssignment } }: ConsumerGroupJoinEvent): void {
    const generation = new Generation()
    this.#generation = generation
    const places = Object.entries(memberAssignment).flatMap(([stored, partitions]) =>
      partitions.map((partition) => ({ stored, partition })),
    )
    const { signal } = generation
    const ready = this.#admit(
      generation,
      places.map(({ stored, partition }) => ({ topic: this.#topicOf(stored), partition, signal })),
    )
    for (const place of places) this.#addLane(generation, place, ready)
  }

  /** Tells the subscriber of its partitions, until it has heard or they are gone. */
  async #admit({ signal }: Generation, given: readonly Assignment[]): Promise<void> {
    const { subscription, backOff, telemetry } = this.#options
    for (let attempt = 1; given.length > 0 && !signal.aborted; attempt += 1) {
      try {
        await subscription.assigned?.(given)
        return
      } catch (error) {
        telemetry.log.warn({ err: error, group: subscription.group }, 'assigned failed')
        await sleep(backOffMs(attempt, backOff), signal)
      }
    }
  }

  #addLane(
    generation: Generation,
    { stored, partition }: { readonly stored: string; readonly partition: number },
    ready: Promise<void>,
  ): void {
    const { subscription, backOff, telemetry, isPaused } = this.#options
    const commit = (next: bigint) =>
      this.#consumer.commitOffsets([{ topic: stored, partition, offset: String(next) }])
    const lane = new KafkaLane(
      { at: { topic: this.#topicOf(stored), partition }, ready, commit },
      { subscription, backOff, telemetry, isPaused, turns: this.#turns },
    )
    const key = keyOf(stored, partition)
    generation.lanes.set(key, lane)
    this.#setFlow(key, lane)
  }

  async #onBatch({ batch, resolveOffset, isRunning, isStale }: EachBatchPayload): Promise<void> {
    const key = keyOf(batch.topic, batch.partition)
    const lane = this.#generation.lanes.get(key)
    if (!lane || lane.isRevoked || lane.isBusy || !isRunning() || isStale()) return
    const from = BigInt(batch.messages[0]?.offset ?? 0)
    const handled = lane.handle(batch.messages.map(toRecord), from).then((next) => {
      if (lane.isRevoked) return
      if (next > from) resolveOffset(String(next - 1n))
      this.#setFlow(key, lane)
    })
    const waiting = new AbortController()
    await Promise.race([
      handled.finally(() => waiting.abort()),
      sleep(this.#options.settings.fetchWaitMs, waiting.signal),
    ])
    this.#setFlow(key, lane)
  }

  /** A partition is fetched while its lane is idle and nobody has paused us. */
  #setFlow(key: string, lane: KafkaLane): void {
    if (lane.isRevoked || this.#isStopping) return
    const { topic, partition } = placeOf(key)
    const flow = [{ topic, partitions: [partition] }]
    try {
      if (lane.isBusy || this.#options.isPaused()) this.#consumer.pause(flow)
      else this.#consumer.resume(flow)
    } catch (error) {
      // It has just crashed, so there is nothing to hold back; the next life begins anew.
      this.#options.telemetry.log.debug({ err: error }, 'no flow to change')
    }
  }

  #topicOf(stored: string): string {
    return this.#options.topics.get(stored) ?? stored
  }
}

/** What a member holds between two rebalances. */
class Generation {
  /** By topic, as the brokers name it, and partition. */
  readonly lanes = new Map<string, KafkaLane>()
  readonly #ended = new AbortController()

  get signal(): AbortSignal {
    return this.#ended.signal
  }

  async revoke(): Promise<void> {
    this.#ended.abort()
    await Promise.all([...this.lanes.values()].map((lane) => lane.revoke()))
  }
}

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`

const placeOf = (key: string): TopicPartition => {
  const at = key.lastIndexOf('/')
  return { topic: key.slice(0, at), partition: Number(key.slice(at + 1)) }
}
