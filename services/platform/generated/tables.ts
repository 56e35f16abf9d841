// Written by `npm run codegen` from cql/*.cql. Do not edit.
import type { Table } from '../tables.ts'

/**
 * Unique things (a handle, an idempotency key): whoever inserts the row first owns the name.
 * Written only conditionally.
 */
export interface ClaimsRow {
  readonly kind: string
  readonly name: string
  readonly owner: bigint | null
  readonly draftHash: string | null
  readonly claimedAt: number | null
}

export const claims: Table<ClaimsRow, 'kind' | 'name', never> = {
  name: 'claims',
  partition: [{ name: 'kind', column: 'kind', type: 'text' }, { name: 'name', column: 'name', type: 'text' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'owner', column: 'owner', type: 'bigint' },
    { name: 'draftHash', column: 'draft_hash', type: 'text' },
    { name: 'claimedAt', column: 'claimed_at', type: 'timestamp' },
  ],
}

/**
 * Node numbers of the id generator, each leased by one process. Written only conditionally.
 * high_ms: no id of this node was or will be issued after it by the holder named here.
 */
export interface NodeLeasesRow {
  readonly node: number
  readonly holder: string | null
  readonly version: bigint | null
  readonly expiresAt: number | null
  readonly highMs: number | null
}

export const nodeLeases: Table<NodeLeasesRow, 'node', never> = {
  name: 'node_leases',
  partition: [{ name: 'node', column: 'node', type: 'int' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'holder', column: 'holder', type: 'text' },
    { name: 'version', column: 'version', type: 'bigint' },
    { name: 'expiresAt', column: 'expires_at', type: 'timestamp' },
    { name: 'highMs', column: 'high_ms', type: 'timestamp' },
  ],
}

/**
 * Named leases: who may do a thing now (a shard of the outbox, a sweep). Written only conditionally.
 */
export interface LeasesRow {
  readonly name: string
  readonly holder: string | null
  readonly version: bigint | null
  readonly expiresAt: number | null
}

export const leases: Table<LeasesRow, 'name', never> = {
  name: 'leases',
  partition: [{ name: 'name', column: 'name', type: 'text' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'holder', column: 'holder', type: 'text' },
    { name: 'version', column: 'version', type: 'bigint' },
    { name: 'expiresAt', column: 'expires_at', type: 'timestamp' },
  ],
}

/**
 * Events committed and not yet on the log (cluster only). A row is removed once published and
 * never expires by itself. minute: minutes since 1970 of the commit.
 */
export interface OutboxRow {
  readonly shard: number
  readonly minute: number
  readonly id: bigint
  readonly topic: string | null
  readonly eventKey: string | null
  readonly event: string | null
  readonly headers: string | null
}

export const outbox: Table<OutboxRow, 'shard' | 'minute', 'id'> = {
  name: 'outbox',
  partition: [{ name: 'shard', column: 'shard', type: 'int' }, { name: 'minute', column: 'minute', type: 'int' }],
  clustering: [{ name: 'id', column: 'id', type: 'bigint' }],
  order: 'asc',
  columns: [
    { name: 'topic', column: 'topic', type: 'text' },
    { name: 'eventKey', column: 'event_key', type: 'text' },
    { name: 'event', column: 'event', type: 'text' },
    { name: 'headers', column: 'headers', type: 'text' },
  ],
}

/**
 * How far each shard of the outbox is known to be empty. Written by the holder of its lease.
 */
export interface OutboxMarksRow {
  readonly shard: number
  readonly lowMinute: number | null
}

export const outboxMarks: Table<OutboxMarksRow, 'shard', never> = {
  name: 'outbox_marks',
  partition: [{ name: 'shard', column: 'shard', type: 'int' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'lowMinute', column: 'low_minute', type: 'int' },
  ],
}

/**
 * The minutes in which a shard of the outbox may hold events: a row is there before the first event
 * of its minute, and goes when the minute is empty and too old for an interrupted write to come to
 * light in it.
 */
export interface OutboxMinutesRow {
  readonly shard: number
  readonly minute: number
  readonly notedAt: number | null
}

export const outboxMinutes: Table<OutboxMinutesRow, 'shard', 'minute'> = {
  name: 'outbox_minutes',
  partition: [{ name: 'shard', column: 'shard', type: 'int' }],
  clustering: [{ name: 'minute', column: 'minute', type: 'int' }],
  order: 'asc',
  columns: [
    { name: 'notedAt', column: 'noted_at', type: 'timestamp' },
  ],
}

/**
 * Events whose handler keeps failing, and those of the same key behind them, in order.
 */
export interface ParkedEventsRow {
  readonly consumerGroup: string
  readonly topic: string
  readonly topicPartition: number
  readonly eventKey: string
  readonly logOffset: bigint
  readonly event: string | null
  readonly headers: string | null
  readonly attempts: number | null
  readonly retryAt: number | null
  readonly parkedAt: number | null
  readonly reason: string | null
}

export const parkedEvents: Table<ParkedEventsRow, 'consumerGroup' | 'topic' | 'topicPartition', 'eventKey' | 'logOffset'> = {
  name: 'parked_events',
  partition: [{ name: 'consumerGroup', column: 'consumer_group', type: 'text' }, { name: 'topic', column: 'topic', type: 'text' }, { name: 'topicPartition', column: 'topic_partition', type: 'int' }],
  clustering: [{ name: 'eventKey', column: 'event_key', type: 'text' }, { name: 'logOffset', column: 'log_offset', type: 'bigint' }],
  order: 'asc',
  columns: [
    { name: 'event', column: 'event', type: 'text' },
    { name: 'headers', column: 'headers', type: 'text' },
    { name: 'attempts', column: 'attempts', type: 'int' },
    { name: 'retryAt', column: 'retry_at', type: 'timestamp' },
    { name: 'parkedAt', column: 'parked_at', type: 'timestamp' },
    { name: 'reason', column: 'reason', type: 'text' },
  ],
}

/**
 * Events given up, until a person replays or drops them.
 */
export interface DeadLettersRow {
  readonly consumerGroup: string
  readonly id: bigint
  readonly topic: string | null
  readonly topicPartition: number | null
  readonly logOffset: bigint | null
  readonly eventKey: string | null
  readonly event: string | null
  readonly headers: string | null
  readonly attempts: number | null
  readonly reason: string | null
  readonly traceId: string | null
  readonly firstFailedAt: number | null
  readonly diedAt: number | null
}

export const deadLetters: Table<DeadLettersRow, 'consumerGroup', 'id'> = {
  name: 'dead_letters',
  partition: [{ name: 'consumerGroup', column: 'consumer_group', type: 'text' }],
  clustering: [{ name: 'id', column: 'id', type: 'bigint' }],
  order: 'desc',
  columns: [
    { name: 'topic', column: 'topic', type: 'text' },
    { name: 'topicPartition', column: 'topic_partition', type: 'int' },
    { name: 'logOffset', column: 'log_offset', type: 'bigint' },
    { name: 'eventKey', column: 'event_key', type: 'text' },
    { name: 'event', column: 'event', type: 'text' },
    { name: 'headers', column: 'headers', type: 'text' },
    { name: 'attempts', column: 'attempts', type: 'int' },
    { name: 'reason', column: 'reason', type: 'text' },
    { name: 'traceId', column: 'trace_id', type: 'text' },
    { name: 'firstFailedAt', column: 'first_failed_at', type: 'timestamp' },
    { name: 'diedAt', column: 'died_at', type: 'timestamp' },
  ],
}

/**
 * The groups that have or had dead letters.
 */
export interface DeadLetterGroupsRow {
  readonly scope: string
  readonly consumerGroup: string
  readonly lastDiedAt: number | null
}

export const deadLetterGroups: Table<DeadLetterGroupsRow, 'scope', 'consumerGroup'> = {
  name: 'dead_letter_groups',
  partition: [{ name: 'scope', column: 'scope', type: 'text' }],
  clustering: [{ name: 'consumerGroup', column: 'consumer_group', type: 'text' }],
  order: 'asc',
  columns: [
    { name: 'lastDiedAt', column: 'last_died_at', type: 'timestamp' },
  ],
}

/**
 * Settings changed at run time: they stand over the environment of every process.
 */
export interface LiveSettingsRow {
  readonly scope: string
  readonly name: string
  readonly value: string | null
  readonly actor: string | null
  readonly changedAt: number | null
}

export const liveSettings: Table<LiveSettingsRow, 'scope', 'name'> = {
  name: 'live_settings',
  partition: [{ name: 'scope', column: 'scope', type: 'text' }],
  clustering: [{ name: 'name', column: 'name', type: 'text' }],
  order: 'asc',
  columns: [
    { name: 'value', column: 'value', type: 'text' },
    { name: 'actor', column: 'actor', type: 'text' },
    { name: 'changedAt', column: 'changed_at', type: 'timestamp' },
  ],
}

/**
 * What operators did, by month, newest first; append-only.
 */
export interface AuditLogRow {
  readonly month: string
  readonly id: bigint
  readonly actor: string | null
  readonly action: string | null
  readonly subject: string | null
  readonly detail: string | null
  readonly happenedAt: number | null
}

export const auditLog: Table<AuditLogRow, 'month', 'id'> = {
  name: 'audit_log',
  partition: [{ name: 'month', column: 'month', type: 'text' }],
  clustering: [{ name: 'id', column: 'id', type: 'bigint' }],
  order: 'desc',
  columns: [
    { name: 'actor', column: 'actor', type: 'text' },
    { name: 'action', column: 'action', type: 'text' },
    { name: 'subject', column: 'subject', type: 'text' },
    { name: 'detail', column: 'detail', type: 'text' },
    { name: 'happenedAt', column: 'happened_at', type: 'timestamp' },
  ],
}

/**
 * Exact counts: who contributes to a number, and the number. Member 0 holds the total of its shard
 * and, as version, how often it was changed; another member holds its contribution (0 or 1) by its
 * highest version so far. writer: the change that wrote the total. Written only by compareAndWrite.
 */
export interface TalliesRow {
  readonly subject: bigint
  readonly kind: string
  readonly shard: number
  readonly member: bigint
  readonly contribution: number | null
  readonly version: bigint | null
  readonly total: bigint | null
  readonly writer: string | null
}

export const tallies: Table<TalliesRow, 'subject' | 'kind' | 'shard', 'member'> = {
  name: 'tallies',
  partition: [{ name: 'subject', column: 'subject', type: 'bigint' }, { name: 'kind', column: 'kind', type: 'text' }, { name: 'shard', column: 'shard', type: 'int' }],
  clustering: [{ name: 'member', column: 'member', type: 'bigint' }],
  order: 'asc',
  columns: [
    { name: 'contribution', column: 'contribution', type: 'int' },
    { name: 'version', column: 'version', type: 'bigint' },
    { name: 'total', column: 'total', type: 'bigint' },
    { name: 'writer', column: 'writer', type: 'text' },
  ],
}

/**
 * scopes: what sessions of this account may be granted, separated by spaces.
 */
export interface AccountsRow {
  readonly id: bigint
  readonly handle: string | null
  readonly displayName: string | null
  readonly bio: string | null
  readonly isPrivate: boolean | null
  readonly scopes: string | null
  readonly createdAt: number | null
}

export const accounts: Table<AccountsRow, 'id', never> = {
  name: 'accounts',
  partition: [{ name: 'id', column: 'id', type: 'bigint' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'handle', column: 'handle', type: 'text' },
    { name: 'displayName', column: 'display_name', type: 'text' },
    { name: 'bio', column: 'bio', type: 'text' },
    { name: 'isPrivate', column: 'is_private', type: 'boolean' },
    { name: 'scopes', column: 'scopes', type: 'text' },
    { name: 'createdAt', column: 'created_at', type: 'timestamp' },
  ],
}

/**
 * password: the function, its parameters, the salt and the hash, as one text. A row of an id that
 * has no account belongs to a sign-up under way.
 */
export interface CredentialsRow {
  readonly accountId: bigint
  readonly password: string | null
  readonly changedAt: number | null
}

export const credentials: Table<CredentialsRow, 'accountId', never> = {
  name: 'credentials',
  partition: [{ name: 'accountId', column: 'account_id', type: 'bigint' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'password', column: 'password', type: 'text' },
    { name: 'changedAt', column: 'changed_at', type: 'timestamp' },
  ],
}

/**
 * The families of refresh tokens. An account has a fixed number of slots, used again and again, so
 * that this never grows. Written only conditionally.
 * family_hash: of what all tokens of the family carry; refresh_hash: of the token that is good now;
 * spent_hash: of the one before it; seed: from which the good one was derived of the one before.
 */
export interface SessionsRow {
  readonly accountId: bigint
  readonly slot: number
  readonly sessionId: bigint | null
  readonly familyHash: string | null
  readonly refreshHash: string | null
  readonly spentHash: string | null
  readonly seed: string | null
  readonly scopes: string | null
  readonly createdAt: number | null
  readonly rotatedAt: number | null
  readonly expiresAt: number | null
  readonly endedAt: number | null
  readonly endReason: string | null
}

export const sessions: Table<SessionsRow, 'accountId', 'slot'> = {
  name: 'sessions',
  partition: [{ name: 'accountId', column: 'account_id', type: 'bigint' }],
  clustering: [{ name: 'slot', column: 'slot', type: 'int' }],
  order: 'asc',
  columns: [
    { name: 'sessionId', column: 'session_id', type: 'bigint' },
    { name: 'familyHash', column: 'family_hash', type: 'text' },
    { name: 'refreshHash', column: 'refresh_hash', type: 'text' },
    { name: 'spentHash', column: 'spent_hash', type: 'text' },
    { name: 'seed', column: 'seed', type: 'text' },
    { name: 'scopes', column: 'scopes', type: 'text' },
    { name: 'createdAt', column: 'created_at', type: 'timestamp' },
    { name: 'rotatedAt', column: 'rotated_at', type: 'timestamp' },
    { name: 'expiresAt', column: 'expires_at', type: 'timestamp' },
    { name: 'endedAt', column: 'ended_at', type: 'timestamp' },
    { name: 'endReason', column: 'end_reason', type: 'text' },
  ],
}

/**
 * The key pairs that sign access tokens, one generation after another. Written only conditionally.
 */
export interface SigningKeysRow {
  readonly purpose: string
  readonly generation: number
  readonly kid: string | null
  readonly publicJwk: string | null
  readonly privateJwk: string | null
  readonly createdAt: number | null
}

export const signingKeys: Table<SigningKeysRow, 'purpose', 'generation'> = {
  name: 'signing_keys',
  partition: [{ name: 'purpose', column: 'purpose', type: 'text' }],
  clustering: [{ name: 'generation', column: 'generation', type: 'int' }],
  order: 'desc',
  columns: [
    { name: 'kid', column: 'kid', type: 'text' },
    { name: 'publicJwk', column: 'public_jwk', type: 'text' },
    { name: 'privateJwk', column: 'private_jwk', type: 'text' },
    { name: 'createdAt', column: 'created_at', type: 'timestamp' },
  ],
}

export const allTables = [
  claims,
  nodeLeases,
  leases,
  outbox,
  outboxMarks,
  outboxMinutes,
  parkedEvents,
  deadLetters,
  deadLetterGroups,
  liveSettings,
  auditLog,
  tallies,
  accounts,
  credentials,
  sessions,
  signingKeys,
] as const
