/**
 * The topics on the brokers. `migrateTopics` creates what is missing and changes nothing else: the
 * count of partitions is what keeps keys in order. A program that finds a topic missing says so at
 * once instead of letting the client look for it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin } from 'kafkajs'
import { UnavailableError } from '../../kernel/errors.ts'
import type { Topic } from '../../kernel/events.ts'
import { TopicMismatchError, TopicMissingError } from '../log.ts'
import { errorType, type KafkaClientOptions, makeKafka, translate } from './kafka-client.ts'

export interface MigrateOptions extends KafkaClientOptions {
  readonly namespace: string
}

const VISIBLE_WITHIN_MS = 30_000
const LOOK_EVERY_MS = 100

export const topicName = (namespace: string, { name }: { readonly name: string }): string =>
  `${namespace}.${name}`

/** Creates missing topics as declared, and resolves when every broker's clients can see them. */
export const migrateTopics = async (
  topics: readonly Topic[],
  options: MigrateOptions,
): Promise<void> => {
  const admin = makeKafka(options).admin()
  try {
    await admin.connect()
    const missing = await findMissing(admin, topics, options)
    if (missing.length === 0) return
    await create(admin, missing, options)
    await untilVisible(admin, topics, options)
  } catch (error) {
    throw translate(error, 'create topics')
  } finally {
    await admin.disconnect()
  }
}

const create = async (
  admin: Admin,
  topics: readonly Topic[],
  { namespace, settings }: MigrateOptions,
): Promise<void> => {
  try {
    await admin.createTopics({
      waitForLeaders: false,
      topics: topics.map((topic) => ({
        topic: topicName(namespace, topic),
        numPartitions: topic.partitions,
        replicationFactor: settings.replication,
        configEntries: [
          { name: 'retention.ms', value: String(topic.retentionMs) },
          // Ages and replays go by the brokers' clock, not by each writer's.
          { name: 'message.timestamp.type', value: 'LogAppendTime' },
          ...(settings.replication > 2 ? [{ name: 'min.insync.replicas', value: '2' }] : []),
        ],
      })),
    })
  } catch (error) {
    // Another process migrates as well: what counts is that they are there in the end.
    if (!isAlreadyThere(error)) throw error
  }
}

const isAlreadyThere = (error: unknown): boolean => {
  if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) return false
  return error.errors.every((each) => errorType(each) === 'TOPIC_ALREADY_EXISTS')
}

const untilVisible = async (
  admin: Admin,
  topics: readonly Topic[],
  options: MigrateOptions,
): Promise<void> => {
  const deadline = Date.now() + VISIBLE_WITHIN_MS
  for (;;) {
    const missing = await findMissing(admin, topics, options)
    if (missing.length === 0) break
    if (Date.now() > deadline) throw new UnavailableError('new topics did not appear in time')
    await sleep(LOOK_EVERY_MS)
  }
  // A leader that is named may not know of it yet: it does when it can tell the offsets.
  for (const topic of topics) await leads(admin, topicName(options.namespace, topic), deadline)
}

const leads = async (admin: Admin, name: string, deadline: number): Promise<void> => {
  for (;;) {
    try {
      await admin.fetchTopicOffsets(name)
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
      await sleep(LOOK_EVERY_MS)
    }
  }
}

/** Those not there yet, or without a leader; rejects when one differs from its declaration. */
const findMissing = async (
  admin: Admin,
  topics: readonly Topic[],
  { namespace }: { readonly namespace: string },
): Promise<Topic[]> => {
  const there = new Set(await admin.listTopics())
  const [present, missing] = [[] as Topic[], [] as Topic[]]
  for (const topic of topics) {
    ;(there.has(topicName(namespace, topic)) ? present : missing).push(topic)
  }
  if (present.length === 0) return missing
  const names = present.map((topic) => topicName(namespace, topic))
  const { topics: found } = await admin.fetchTopicMetadata({ topics: names })
  for (const topic of present) {
    const metadata = found.find(({ name }) => name === topicName(namespace, topic))
    const partitions = metadata?.partitions ?? []
    if (partitions.length !== topic.partitions) throw mismatch(topic, partitions.length)
    if (partitions.some(({ leader }) => leader < 0)) missing.push(topic)
  }
  return missing
}

const mismatch = ({ name, partitions }: Topic, stored: number): TopicMismatchError =>
  new TopicMismatchError(
    `topic ${name} has ${stored} partitions on the brokers and is declared with ${partitions}; ` +
      'the order of its keys depends on them: use a new topic',
  )

/** Rejects unless every topic is there as declared. */
export const requireTopics = async (
  admin: Admin,
  topics: readonly Topic[],
  namespace: string,
): Promise<void> => {
  const missing = await findMissing(admin, topics, { namespace })
  if (missing.length === 0) return
  const names = missing.map((topic) => topicName(namespace, topic)).join(', ')
  throw new TopicMissingError(`the brokers have no topic ${names}: run \`tributary migrate\``)
}
