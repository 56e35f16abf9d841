/**
 * Questions to the brokers besides producing and consuming: where partitions begin and end, where a
 * group is, moving it, reading without one. kafkajs' own calls for some of these join the group
 * (10 s for a seek); the protocol needs one request, so it is sent directly.
 *
 * A leader that moved or a connection that broke is ordinary: the question is asked some more times,
 * on a new connection, before the caller hears of it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster, TopicOffsets } from 'kafkajs'
import { DomainError } from '../../kernel/errors.ts'
import { GroupBusyError, type LogRecord } from '../log.ts'
import { backOffMs } from '../progress.ts'
import {
  clusterOf,
  errorType,
  type KafkaClientOptions,
  makeKafka,
  translate,
} from './kafka-client.ts'
import { type StoredMessage, toRecord } from './kafka-records.ts'

/** The offset of each partition, by its number. */
export type Offsets = ReadonlyMap<number, bigint>

/** The answer to a fetch, as far as it is read; kafkajs has no type for it. */
interface FetchAnswer {
  readonly responses: readonly {
    readonly partitions: readonly {
      readonly highWatermark: string
      readonly messages: readonly (StoredMessage & { readonly isControlRecord?: boolean })[]
    }[]
  }[]
}

const FETCH_BYTES_MAX = 4 * 1024 * 1024
const FETCH_WAIT_MS = 100
const ATTEMPTS = 5
const BACK_OFF = { minMs: 50, maxMs: 1_000 }
/** A commit from outside the group, which brokers accept only while it has no members. */
const NO_GENERATION = -1
const BUSY = ['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS']

export class KafkaWire implements AsyncDisposable {
  readonly #options: KafkaClientOptions
  #cluster: Promise<Cluster> | undefined

  constructor(options: KafkaClientOptions) {
    this.#options = options
  }

  starts(topic: string): Promise<Offsets> {
    return this.#ask('find the start of partitions', (cluster) =>
      offsets(cluster, topic, { fromBeginning: true }),
    )
  }

  ends(topic: string): Promise<Offsets> {
    return this.#ask('find the end of partitions', (cluster) =>
      offsets(cluster, topic, { fromBeginning: false }),
    )
  }

  /** Of the first events at or after a time; −1 where there is none. */
  offsetsAt(topic: string, timeMs: number): Promise<Offsets> {
    return this.#ask('find a time', (cluster) => offsets(cluster, topic, { fromTimestamp: timeMs }))
  }

  /** Where a group is; −1 where it has committed nothing. */
  committed(groupId: string, topic: string): Promise<Offsets> {
    return this.#ask('find the offsets of a group', async (cluster) => {
      const coordinator = await cluster.findGroupCoordinator({ groupId })
      const partitions = await partitionsOf(cluster, topic)
      const asked = partitions.map((partition) => ({ partition, offset: '-1' }))
      const { responses } = await coordinator.offsetFetch({
        groupId,
        topics: [{ topic, partitions: asked }],
      })
      return toOffsets(responses)
    })
  }

  /** Moves a group that has no members. */
  commit(groupId: string, topic: string, places: Offsets): Promise<void> {
    return this.#ask('move a group', async (cluster) => {
      const coordinator = await cluster.findGroupCoordinator({ groupId })
      const partitions = [...places].map(([partition, offset]) => ({
        partition,
        offset: String(offset),
      }))
      try {
        await coordinator.offsetCommit({
          groupId,
          groupGenerationId: NO_GENERATION,
          memberId: '',
          topics: [{ topic, partitions }],
        })
      } catch (error) {
        if (!BUSY.includes(errorType(error) ?? '')) throw error
        const message = `group ${groupId} has running consumers: stop them before a seek`
        throw new GroupBusyError(message, { cause: error })
      }
    })
  }

  /** Some records from `offset` on, in order; none at the end of the partition. */
  fetch(topic: string, partition: number, offset: bigint): Promise<LogRecord[]> {
    return this.#ask('read', async (cluster) => {
      await partitionsOf(cluster, topic)
      const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
      const broker = await cluster.findBroker({ nodeId: nodeId ?? '' })
      const place = { partition, fetchOffset: String(offset), maxBytes: FETCH_BYTES_MAX }
      const answer: FetchAnswer = await broker.fetch({
        maxWaitTime: FETCH_WAIT_MS,
        minBytes: 1,
        maxBytes: FETCH_BYTES_MAX,
        topics: [{ topic, partitions: [place] }],
      })
      const messages = answer.responses[0]?.partitions[0]?.messages ?? []
      return messages
        .filter((message) => !message.isControlRecord && BigInt(message.offset) >= offset)
        .map(toRecord)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const cluster = await this.#cluster?.catch(() => undefined)
    this.#cluster = undefined
    await cluster?.disconnect()
  }

  async #ask<Answer>(doing: string, ask: (cluster: Cluster) => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#cluster ??= this.#connect()
        return await ask(await this.#cluster)
      } catch (error) {
        if (error instanceof DomainError) throw error
        await this[Symbol.asyncDispose]()
        if (attempt === ATTEMPTS) throw translate(error, doing)
        await sleep(backOffMs(attempt, BACK_OFF))
      }
    }
  }

  async #connect(): Promise<Cluster> {
    const cluster = clusterOf(makeKafka(this.#options), 'none')
    await cluster.connect()
    return cluster
  }
}

const partitionsOf = async (cluster: Cluster, topic: string): Promise<number[]> => {
  await cluster.addTargetTopic(topic)
  await cluster.refreshMetadataIfNecessary()
  return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId)
}

const offsets = async (
  cluster: Cluster,
  topic: string,
  where: { readonly fromBeginning: boolean } | { readonly fromTimestamp: number },
): Promise<Offsets> => {
  const partitions = (await partitionsOf(cluster, topic)).map((partition) => ({ partition }))
  const asked = { topic, partitions, ...where }
  return toOffsets(await cluster.fetchTopicsOffset([asked]))
}

const toOffsets = (answer: readonly TopicOffsets[]): Offsets =>
  new Map(
    answer.flatMap(({ partitions }) =>
      partitions.map(({ partition, offset }) => [partition, BigInt(offset)] as const),
    ),
  )
