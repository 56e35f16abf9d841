/** The settings of the engines. An adapter takes its section's values, never the environment. */
import { choice, declare, flag, int, list, text } from '../kernel/settings.ts'

export const engineSettings = declare('engine', {
  kind: choice(['embedded', 'cluster'], {
    default: 'embedded',
    about: 'where data lives: in this process and its data folder, or on servers',
  }),
  dataFolder: text({ default: '.data', about: 'the folder of the embedded engines' }),
  namespace: text({
    default: 'tributary',
    pattern: /^[a-z][a-z0-9_]{0,30}$/,
    shape: 'lower-case letters, digits and _, at most 31',
    about: 'keyspace, topic prefix and cache key prefix on a cluster',
  }),
  startWaitMs: int({
    default: 60_000,
    min: 0,
    max: 3_600_000,
    unit: 'ms',
    about: 'how long a start waits for its engines',
  }),
})

export const embeddedSettings = declare('embedded', {
  mapBytes: int({
    default: 64 * 1024 ** 3,
    min: 64 * 1024 ** 2,
    max: 2 ** 44,
    unit: 'bytes',
    about: 'most the data file may grow to',
  }),
  cacheBytes: int({
    default: 512 * 1024 ** 2,
    min: 1024 ** 2,
    max: 2 ** 40,
    unit: 'bytes',
    about: 'memory for cached keys, least recently used ones go first',
  }),
  writesQueuedMax: int({
    default: 100_000,
    min: 100,
    max: 10_000_000,
    about: 'writes waiting for the disk before new ones are refused',
  }),
  bytesQueuedMax: int({
    default: 256 * 1024 ** 2,
    min: 1024 ** 2,
    max: 2 ** 36,
    unit: 'bytes',
    about: 'bytes of writes waiting for the disk before new ones are refused',
  }),
  sweepMs: int({
    default: 10_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    about: 'how often rows past their TTL are swept',
  }),
  sweepMax: int({
    default: 1_000,
    min: 1,
    max: 10_000,
    about: 'rows past their TTL removed in one transaction',
  }),
})

export const cassandraSettings = declare('cassandra', {
  hosts: list({ default: ['127.0.0.1:9042'], about: 'contact points, host:port' }),
  dataCenter: text({ default: 'datacenter1', about: 'the local data centre' }),
  username: text({ default: '', about: 'who to sign in as; empty for none' }),
  password: text({ default: '', secret: true, about: 'password of that user' }),
  requestTimeoutMs: int({
    default: 5_000,
    min: 100,
    max: 60_000,
    unit: 'ms',
    about: 'time allowed for one request',
  }),
  inFlightMax: int({
    default: 2_000,
    min: 1,
    max: 100_000,
    about: 'requests under way before new ones are refused',
  }),
  speculativeReads: flag({
    default: false,
    about: 'send a slow read to a second replica as well',
  }),
  speculativeDelayMs: int({
    default: 100,
    min: 1,
    max: 10_000,
    unit: 'ms',
    about: 'how slow a read must be for that',
  }),
  replication: int({
    default: 1,
    min: 1,
    max: 9,
    about: 'copies of each row, when migrate creates the keyspace',
  }),
  serialScope: choice(['global', 'local'], {
    default: 'global',
    about: 'whether conditional writes agree over all data centres or the local one alone',
  }),
})

export const redisSettings = declare('redis', {
  nodes: list({ default: ['127.0.0.1:6379'], about: 'one server, or some of a Redis Cluster' }),
  cluster: flag({ default: false, about: 'whether they form a Redis Cluster' }),
  username: text({ default: '', about: 'who to sign in as; empty for the default user' }),
  password: text({ default: '', secret: true, about: 'password of that user' }),
  commandTimeoutMs: int({
    default: 1_000,
    min: 10,
    max: 60_000,
    unit: 'ms',
    about: 'time allowed for one command',
  }),
  inFlightMax: int({
    default: 10_000,
    min: 1,
    max: 1_000_000,
    about: 'calls under way before new ones are refused',
  }),
})

export const kafkaSettings = declare('kafka', {
  brokers: list({ default: ['127.0.0.1:9092'], about: 'bootstrap brokers, host:port' }),
  replication: int({
    default: 1,
    min: 1,
    max: 9,
    about: 'copies of each topic, when migrate creates it',
  }),
  appendTimeoutMs: int({
    default: 10_000,
    min: 500,
    max: 120_000,
    unit: 'ms',
    about: 'when an append that was not acknowledged is given up',
  }),
  queuedBytesMax: int({
    default: 64 * 1024 ** 2,
    min: 1024 ** 2,
    max: 2 ** 34,
    unit: 'bytes',
    about: 'events waiting for the brokers before new ones are refused',
  }),
  sessionTimeoutMs: int({
    default: 30_000,
    min: 6_000,
    max: 300_000,
    unit: 'ms',
    about: 'silence after which a consumer loses its partitions',
  }),
  fetchWaitMs: int({
    default: 20,
    min: 1,
    max: 5_000,
    unit: 'ms',
    about: 'how long a broker may hold an empty fetch',
  }),
})

export const logSettings = declare('log', {
  visibilityMs: int({
    default: 600_000,
    min: 1_000,
    max: 86_400_000,
    unit: 'ms',
    about: 'how long a claim of the embedded log stays with a silent consumer',
  }),
  sweepMs: int({
    default: 60_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    about: 'how often expired claims and old events are swept',
  }),
  purgeMax: int({
    default: 10_000,
    min: 1,
    max: 100_000,
    about: 'events removed in one transaction by retention',
  }),
  redeliverMinMs: int({
    default: 200,
    min: 1,
    max: 60_000,
    unit: 'ms',
    about: 'wait before what a handler failed on comes again, doubled each time',
  }),
  redeliverMaxMs: int({
    default: 30_000,
    min: 1,
    max: 3_600_000,
    unit: 'ms',
    about: 'longest such wait',
  }),
})

export const outboxSettings = declare('outbox', {
  relayGraceMs: int({
    default: 5_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    about: 'age at which a relay publishes what its writer has not',
  }),
  relayPollMs: int({
    default: 2_000,
    min: 50,
    max: 60_000,
    unit: 'ms',
    about: 'how often a relay looks at its shards',
  }),
  leaseMs: int({
    default: 15_000,
    min: 1_000,
    max: 600_000,
    unit: 'ms',
    about: 'how long a relay keeps its shards without renewing',
  }),
  queuedMax: int({
    default: 10_000,
    min: 1,
    max: 1_000_000,
    about: 'events waiting to be published by their writer; more are left to the relay',
  }),
  markDelayMs: int({
    default: 250,
    min: 0,
    max: 60_000,
    unit: 'ms',
    about: 'how long published events gather before their outbox rows are removed together',
  }),
  lateMs: int({
    default: 3_600_000,
    min: 60_000,
    max: 86_400_000,
    unit: 'ms',
    about: 'how late a write that was interrupted may still come to light',
  }),
})

export const tallySettings = declare('tallies', {
  joinMax: int({
    default: 250,
    min: 1,
    max: 900,
    about: 'changes of one shard written together',
  }),
  queuedMax: int({
    default: 10_000,
    min: 1,
    max: 1_000_000,
    about: 'changes waiting for their shard before new ones are refused',
  }),
  attemptsMax: int({
    default: 50,
    min: 1,
    max: 1_000,
    about: 'how often a change that others overtake is tried',
  }),
})

export const countSettings = declare('counts', {
  totalTtlMs: int({
    default: 600_000,
    min: 1_000,
    max: 86_400_000,
    unit: 'ms',
    about: 'how long a total stays in the cache when nothing changes it',
  }),
  tokenTtlMs: int({
    default: 10_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    about: 'time allowed for a total to be read after a change, or it is not cached',
  }),
  waitingMax: int({
    default: 10_000,
    min: 1,
    max: 1_000_000,
    about: 'subjects of one kind waiting to be counted before new ones are refused',
  }),
})

export const pendingSettings = declare('pending', {
  sweepAfterMs: int({
    default: 60_000,
    min: 15_000,
    max: 3_600_000,
    unit: 'ms',
    about: 'age at which what a writer left behind is resumed by others',
  }),
  lateMs: int({
    default: 120_000,
    min: 1_000,
    max: 86_400_000,
    unit: 'ms',
    about: 'how late such a row may still come to light',
  }),
  leaseMs: int({
    default: 60_000,
    min: 1_000,
    max: 600_000,
    unit: 'ms',
    about: 'how long a silent process keeps the others from sweeping',
  }),
})

export const listSettings = declare('lists', {
  partRows: int({
    default: 10_000,
    min: 1,
    max: 1_000_000,
    live: true,
    about: 'entries of a long list after which its next part is opened',
  }),
  measureEvery: int({
    default: 256,
    min: 1,
    max: 1_000_000,
    live: true,
    about: 'entries of which about one measures the part it went to',
  }),
})

export const idSettings = declare('ids', {
  leaseMs: int({
    default: 60_000,
    min: 1_000,
    max: 3_600_000,
    unit: 'ms',
    about: 'how long ids go on when the tables do not answer',
  }),
})

export const platformSections = [
  engineSettings,
  embeddedSettings,
  cassandraSettings,
  redisSettings,
  kafkaSettings,
  logSettings,
  outboxSettings,
  tallySettings,
  countSettings,
  pendingSettings,
  listSettings,
  idSettings,
] as const
