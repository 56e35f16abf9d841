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

/**
 * A row is put before a thing is decided and removed when all that follows from it is done. Each is
 * written once, by who made its id, and removed by it or by a sweep.
 */
export interface PendingRow {
  readonly shard: number
  readonly id: bigint
  readonly kind: string | null
  readonly subject: string | null
}

export const pending: Table<PendingRow, 'shard', 'id'> = {
  name: 'pending',
  partition: [{ name: 'shard', column: 'shard', type: 'int' }],
  clustering: [{ name: 'id', column: 'id', type: 'bigint' }],
  order: 'asc',
  columns: [
    { name: 'kind', column: 'kind', type: 'text' },
    { name: 'subject', column: 'subject', type: 'text' },
  ],
}

/**
 * Below which id each shard of `pending` is known to be empty. Written by the holder of the lease.
 */
export interface PendingMarksRow {
  readonly shard: number
  readonly mark: bigint | null
}

export const pendingMarks: Table<PendingMarksRow, 'shard', never> = {
  name: 'pending_marks',
  partition: [{ name: 'shard', column: 'shard', type: 'int' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'mark', column: 'mark', type: 'bigint' },
  ],
}

/**
 * The parts of a list that was opened a second time: the newest takes new entries. A list without a
 * row here has part 0 alone. Written only conditionally.
 */
export interface ListPartsRow {
  readonly list: string
  readonly owner: bigint
  readonly part: number
  readonly openedAt: number | null
}

export const listParts: Table<ListPartsRow, 'list' | 'owner', 'part'> = {
  name: 'list_parts',
  partition: [{ name: 'list', column: 'list', type: 'text' }, { name: 'owner', column: 'owner', type: 'bigint' }],
  clustering: [{ name: 'part', column: 'part', type: 'int' }],
  order: 'desc',
  columns: [
    { name: 'openedAt', column: 'opened_at', type: 'timestamp' },
  ],
}

/**
 * All that two accounts have decided about each other; low is the smaller id. Written only
 * conditionally, by the version. Each thing decided has the version and the event of its own last
 * change, so that what follows from it can be written again by anyone. A time and its parts say where
 * a request or a follow lies, or lay, in the lists below.
 */
export interface RelationsRow {
  readonly low: bigint
  readonly high: bigint
  readonly version: bigint | null
  readonly lowFollow: string | null
  readonly lowFollowVersion: bigint | null
  readonly lowFollowEvent: bigint | null
  readonly lowRequestedAt: number | null
  readonly lowRequestsPart: number | null
  readonly lowFollowedAt: number | null
  readonly lowFollowingPart: number | null
  readonly lowFollowersPart: number | null
  readonly lowBlocks: boolean | null
  readonly lowBlockVersion: bigint | null
  readonly lowBlockEvent: bigint | null
  readonly lowMutes: boolean | null
  readonly lowMuteVersion: bigint | null
  readonly lowMuteEvent: bigint | null
  readonly highFollow: string | null
  readonly highFollowVersion: bigint | null
  readonly highFollowEvent: bigint | null
  readonly highRequestedAt: number | null
  readonly highRequestsPart: number | null
  readonly highFollowedAt: number | null
  readonly highFollowingPart: number | null
  readonly highFollowersPart: number | null
  readonly highBlocks: boolean | null
  readonly highBlockVersion: bigint | null
  readonly highBlockEvent: bigint | null
  readonly highMutes: boolean | null
  readonly highMuteVersion: bigint | null
  readonly highMuteEvent: bigint | null
}

export const relations: Table<RelationsRow, 'low' | 'high', never> = {
  name: 'relations',
  partition: [{ name: 'low', column: 'low', type: 'bigint' }, { name: 'high', column: 'high', type: 'bigint' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'version', column: 'version', type: 'bigint' },
    { name: 'lowFollow', column: 'low_follow', type: 'text' },
    { name: 'lowFollowVersion', column: 'low_follow_version', type: 'bigint' },
    { name: 'lowFollowEvent', column: 'low_follow_event', type: 'bigint' },
    { name: 'lowRequestedAt', column: 'low_requested_at', type: 'timestamp' },
    { name: 'lowRequestsPart', column: 'low_requests_part', type: 'int' },
    { name: 'lowFollowedAt', column: 'low_followed_at', type: 'timestamp' },
    { name: 'lowFollowingPart', column: 'low_following_part', type: 'int' },
    { name: 'lowFollowersPart', column: 'low_followers_part', type: 'int' },
    { name: 'lowBlocks', column: 'low_blocks', type: 'boolean' },
    { name: 'lowBlockVersion', column: 'low_block_version', type: 'bigint' },
    { name: 'lowBlockEvent', column: 'low_block_event', type: 'bigint' },
    { name: 'lowMutes', column: 'low_mutes', type: 'boolean' },
    { name: 'lowMuteVersion', column: 'low_mute_version', type: 'bigint' },
    { name: 'lowMuteEvent', column: 'low_mute_event', type: 'bigint' },
    { name: 'highFollow', column: 'high_follow', type: 'text' },
    { name: 'highFollowVersion', column: 'high_follow_version', type: 'bigint' },
    { name: 'highFollowEvent', column: 'high_follow_event', type: 'bigint' },
    { name: 'highRequestedAt', column: 'high_requested_at', type: 'timestamp' },
    { name: 'highRequestsPart', column: 'high_requests_part', type: 'int' },
    { name: 'highFollowedAt', column: 'high_followed_at', type: 'timestamp' },
    { name: 'highFollowingPart', column: 'high_following_part', type: 'int' },
    { name: 'highFollowersPart', column: 'high_followers_part', type: 'int' },
    { name: 'highBlocks', column: 'high_blocks', type: 'boolean' },
    { name: 'highBlockVersion', column: 'high_block_version', type: 'bigint' },
    { name: 'highBlockEvent', column: 'high_block_event', type: 'bigint' },
    { name: 'highMutes', column: 'high_mutes', type: 'boolean' },
    { name: 'highMuteVersion', column: 'high_mute_version', type: 'bigint' },
    { name: 'highMuteEvent', column: 'high_mute_event', type: 'bigint' },
  ],
}

/**
 * Copies of the relations by who is concerned, newest first. Written only with versions.
 */
export interface FollowersRow {
  readonly accountId: bigint
  readonly part: number
  readonly since: number
  readonly otherId: bigint
  readonly version: bigint | null
}

export const followers: Table<FollowersRow, 'accountId' | 'part', 'since' | 'otherId'> = {
  name: 'followers',
  partition: [{ name: 'accountId', column: 'account_id', type: 'bigint' }, { name: 'part', column: 'part', type: 'int' }],
  clustering: [{ name: 'since', column: 'since', type: 'timestamp' }, { name: 'otherId', column: 'other_id', type: 'bigint' }],
  order: 'desc',
  columns: [
    { name: 'version', column: 'version', type: 'bigint' },
  ],
}

/**
 * 
 */
export interface FollowingRow {
  readonly accountId: bigint
  readonly part: number
  readonly since: number
  readonly otherId: bigint
  readonly version: bigint | null
}

export const following: Table<FollowingRow, 'accountId' | 'part', 'since' | 'otherId'> = {
  name: 'following',
  partition: [{ name: 'accountId', column: 'account_id', type: 'bigint' }, { name: 'part', column: 'part', type: 'int' }],
  clustering: [{ name: 'since', column: 'since', type: 'timestamp' }, { name: 'otherId', column: 'other_id', type: 'bigint' }],
  order: 'desc',
  columns: [
    { name: 'version', column: 'version', type: 'bigint' },
  ],
}

/**
 * 
 */
export interface FollowRequestsRow {
  readonly accountId: bigint
  readonly part: number
  readonly since: number
  readonly otherId: bigint
  readonly version: bigint | null
}

export const followRequests: Table<FollowRequestsRow, 'accountId' | 'part', 'since' | 'otherId'> = {
  name: 'follow_requests',
  partition: [{ name: 'accountId', column: 'account_id', type: 'bigint' }, { name: 'part', column: 'part', type: 'int' }],
  clustering: [{ name: 'since', column: 'since', type: 'timestamp' }, { name: 'otherId', column: 'other_id', type: 'bigint' }],
  order: 'desc',
  columns: [
    { name: 'version', column: 'version', type: 'bigint' },
  ],
}

/**
 * Whom an account blocks, and whom it mutes. A setting bounds how many.
 */
export interface BlockedAccountsRow {
  readonly accountId: bigint
  readonly otherId: bigint
  readonly version: bigint | null
}

export const blockedAccounts: Table<BlockedAccountsRow, 'accountId', 'otherId'> = {
  name: 'blocked_accounts',
  partition: [{ name: 'accountId', column: 'account_id', type: 'bigint' }],
  clustering: [{ name: 'otherId', column: 'other_id', type: 'bigint' }],
  order: 'desc',
  columns: [
    { name: 'version', column: 'version', type: 'bigint' },
  ],
}

/**
 * 
 */
export interface MutedAccountsRow {
  readonly accountId: bigint
  readonly otherId: bigint
  readonly version: bigint | null
}

export const mutedAccounts: Table<MutedAccountsRow, 'accountId', 'otherId'> = {
  name: 'muted_accounts',
  partition: [{ name: 'accountId', column: 'account_id', type: 'bigint' }],
  clustering: [{ name: 'otherId', column: 'other_id', type: 'bigint' }],
  order: 'desc',
  columns: [
    { name: 'version', column: 'version', type: 'bigint' },
  ],
}

/**
 * What changed of whom a reader follows, blocks and mutes. Number 0 holds in latest how often it has
 * changed, and the change that was last; the other rows say what changed, the newest ones only.
 * Written only by compareAndWrite.
 */
export interface GraphChangesRow {
  readonly readerId: bigint
  readonly number: bigint
  readonly latest: bigint | null
  readonly authorId: bigint | null
  readonly what: string | null
  readonly version: bigint | null
}

export const graphChanges: Table<GraphChangesRow, 'readerId', 'number'> = {
  name: 'graph_changes',
  partition: [{ name: 'readerId', column: 'reader_id', type: 'bigint' }],
  clustering: [{ name: 'number', column: 'number', type: 'bigint' }],
  order: 'asc',
  columns: [
    { name: 'latest', column: 'latest', type: 'bigint' },
    { name: 'authorId', column: 'author_id', type: 'bigint' },
    { name: 'what', column: 'what', type: 'text' },
    { name: 'version', column: 'version', type: 'bigint' },
  ],
}

/**
 * How an author's posts reach readers, where that is not by push alone. goal: where it is on its way
 * to. event: announced the last change of the mode. Written only conditionally.
 */
export interface AuthorModesRow {
  readonly authorId: bigint
  readonly mode: string | null
  readonly goal: string | null
  readonly version: bigint | null
  readonly event: bigint | null
  readonly changedAt: number | null
}

export const authorModes: Table<AuthorModesRow, 'authorId', never> = {
  name: 'author_modes',
  partition: [{ name: 'authorId', column: 'author_id', type: 'bigint' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'mode', column: 'mode', type: 'text' },
    { name: 'goal', column: 'goal', type: 'text' },
    { name: 'version', column: 'version', type: 'bigint' },
    { name: 'event', column: 'event', type: 'bigint' },
    { name: 'changedAt', column: 'changed_at', type: 'timestamp' },
  ],
}

/**
 * version: of the decision this row shows; the id of the post until it is first changed.
 * ordered_at: its place in time, which its author may have dated back; its arrival is in the id.
 * content: text, link, mentions and hashtags as JSON; null once deleted.
 * reply_part: the part of `replies` that lists it. root_id: the post that began the thread.
 * is_reshare: a reshare without words; with words (a quote) only original_id is set.
 */
export interface PostsByIdRow {
  readonly id: bigint
  readonly version: bigint | null
  readonly authorId: bigint | null
  readonly orderedAt: number | null
  readonly visibility: string | null
  readonly content: string | null
  readonly contentHash: bigint | null
  readonly linkHash: bigint | null
  readonly replyToId: bigint | null
  readonly replyToAuthorId: bigint | null
  readonly rootId: bigint | null
  readonly replyPart: number | null
  readonly originalId: bigint | null
  readonly originalAuthorId: bigint | null
  readonly isReshare: boolean | null
  readonly edits: number | null
  readonly editedAt: number | null
  readonly deletedAt: number | null
}

export const postsById: Table<PostsByIdRow, 'id', never> = {
  name: 'posts_by_id',
  partition: [{ name: 'id', column: 'id', type: 'bigint' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'version', column: 'version', type: 'bigint' },
    { name: 'authorId', column: 'author_id', type: 'bigint' },
    { name: 'orderedAt', column: 'ordered_at', type: 'timestamp' },
    { name: 'visibility', column: 'visibility', type: 'text' },
    { name: 'content', column: 'content', type: 'text' },
    { name: 'contentHash', column: 'content_hash', type: 'bigint' },
    { name: 'linkHash', column: 'link_hash', type: 'bigint' },
    { name: 'replyToId', column: 'reply_to_id', type: 'bigint' },
    { name: 'replyToAuthorId', column: 'reply_to_author_id', type: 'bigint' },
    { name: 'rootId', column: 'root_id', type: 'bigint' },
    { name: 'replyPart', column: 'reply_part', type: 'int' },
    { name: 'originalId', column: 'original_id', type: 'bigint' },
    { name: 'originalAuthorId', column: 'original_author_id', type: 'bigint' },
    { name: 'isReshare', column: 'is_reshare', type: 'boolean' },
    { name: 'edits', column: 'edits', type: 'int' },
    { name: 'editedAt', column: 'edited_at', type: 'timestamp' },
    { name: 'deletedAt', column: 'deleted_at', type: 'timestamp' },
  ],
}

/**
 * An author's posts by month, newest first: no text. month: months since 1970, of ordered_at.
 */
export interface PostsByAuthorRow {
  readonly authorId: bigint
  readonly month: number
  readonly orderedAt: number
  readonly id: bigint
  readonly visibility: string | null
  readonly isReply: boolean | null
  readonly isReshare: boolean | null
  readonly isDeleted: boolean | null
}

export const postsByAuthor: Table<PostsByAuthorRow, 'authorId' | 'month', 'orderedAt' | 'id'> = {
  name: 'posts_by_author',
  partition: [{ name: 'authorId', column: 'author_id', type: 'bigint' }, { name: 'month', column: 'month', type: 'int' }],
  clustering: [{ name: 'orderedAt', column: 'ordered_at', type: 'timestamp' }, { name: 'id', column: 'id', type: 'bigint' }],
  order: 'desc',
  columns: [
    { name: 'visibility', column: 'visibility', type: 'text' },
    { name: 'isReply', column: 'is_reply', type: 'boolean' },
    { name: 'isReshare', column: 'is_reshare', type: 'boolean' },
    { name: 'isDeleted', column: 'is_deleted', type: 'boolean' },
  ],
}

/**
 * The months in which an author has posts. Written plainly, always the same.
 */
export interface AuthorBucketsRow {
  readonly authorId: bigint
  readonly month: number
  readonly beginsAt: number | null
}

export const authorBuckets: Table<AuthorBucketsRow, 'authorId', 'month'> = {
  name: 'author_buckets',
  partition: [{ name: 'authorId', column: 'author_id', type: 'bigint' }],
  clustering: [{ name: 'month', column: 'month', type: 'int' }],
  order: 'desc',
  columns: [
    { name: 'beginsAt', column: 'begins_at', type: 'timestamp' },
  ],
}

/**
 * What was decided of a post since it was made, and what followed from the last decision: change (edit,
 * visibility, delete), the id of its event, the content and the visibility before it. Written only
 * conditionally; absent until the first change.
 */
export interface PostChangesRow {
  readonly postId: bigint
  readonly version: bigint | null
  readonly visibility: string | null
  readonly content: string | null
  readonly edits: number | null
  readonly editedAt: number | null
  readonly deletedAt: number | null
  readonly change: string | null
  readonly eventId: bigint | null
  readonly previousVersion: bigint | null
  readonly previousVisibility: string | null
  readonly previousContent: string | null
  readonly previousAt: number | null
}

export const postChanges: Table<PostChangesRow, 'postId', never> = {
  name: 'post_changes',
  partition: [{ name: 'postId', column: 'post_id', type: 'bigint' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'version', column: 'version', type: 'bigint' },
    { name: 'visibility', column: 'visibility', type: 'text' },
    { name: 'content', column: 'content', type: 'text' },
    { name: 'edits', column: 'edits', type: 'int' },
    { name: 'editedAt', column: 'edited_at', type: 'timestamp' },
    { name: 'deletedAt', column: 'deleted_at', type: 'timestamp' },
    { name: 'change', column: 'change', type: 'text' },
    { name: 'eventId', column: 'event_id', type: 'bigint' },
    { name: 'previousVersion', column: 'previous_version', type: 'bigint' },
    { name: 'previousVisibility', column: 'previous_visibility', type: 'text' },
    { name: 'previousContent', column: 'previous_content', type: 'text' },
    { name: 'previousAt', column: 'previous_at', type: 'timestamp' },
  ],
}

/**
 * The texts of a post before each of its edits, the newest first. Its rows are known by their number, so
 * that a deletion empties them without looking.
 */
export interface PostHistoryRow {
  readonly postId: bigint
  readonly edit: number
  readonly content: string | null
  readonly writtenAt: number | null
}

export const postHistory: Table<PostHistoryRow, 'postId', 'edit'> = {
  name: 'post_history',
  partition: [{ name: 'postId', column: 'post_id', type: 'bigint' }],
  clustering: [{ name: 'edit', column: 'edit', type: 'int' }],
  order: 'desc',
  columns: [
    { name: 'content', column: 'content', type: 'text' },
    { name: 'writtenAt', column: 'written_at', type: 'timestamp' },
  ],
}

/**
 * The replies of a post in the order of time, in parts of bounded length.
 */
export interface RepliesRow {
  readonly postId: bigint
  readonly part: number
  readonly orderedAt: number
  readonly id: bigint
  readonly authorId: bigint | null
}

export const replies: Table<RepliesRow, 'postId' | 'part', 'orderedAt' | 'id'> = {
  name: 'replies',
  partition: [{ name: 'postId', column: 'post_id', type: 'bigint' }, { name: 'part', column: 'part', type: 'int' }],
  clustering: [{ name: 'orderedAt', column: 'ordered_at', type: 'timestamp' }, { name: 'id', column: 'id', type: 'bigint' }],
  order: 'asc',
  columns: [
    { name: 'authorId', column: 'author_id', type: 'bigint' },
  ],
}

/**
 * Whether an account has reshared a post without words, and by which post of its own. Written only
 * conditionally. event_id: of the deletion when it is not on.
 */
export interface ResharesRow {
  readonly actorId: bigint
  readonly originalId: bigint
  readonly version: bigint | null
  readonly isOn: boolean | null
  readonly postId: bigint | null
  readonly originalAuthorId: bigint | null
  readonly decidedAt: number | null
  readonly eventId: bigint | null
}

export const reshares: Table<ResharesRow, 'actorId' | 'originalId', never> = {
  name: 'reshares',
  partition: [{ name: 'actorId', column: 'actor_id', type: 'bigint' }, { name: 'originalId', column: 'original_id', type: 'bigint' }],
  clustering: [],
  order: 'asc',
  columns: [
    { name: 'version', column: 'version', type: 'bigint' },
    { name: 'isOn', column: 'is_on', type: 'boolean' },
    { name: 'postId', column: 'post_id', type: 'bigint' },
    { name: 'originalAuthorId', column: 'original_author_id', type: 'bigint' },
    { name: 'decidedAt', column: 'decided_at', type: 'timestamp' },
    { name: 'eventId', column: 'event_id', type: 'bigint' },
  ],
}

/**
 * The state of each kind for one actor and one post. Versioned; an odd version is on, an even one off.
 * changed_at: when it was turned on or off. part: of saves_by_actor, where a save lies.
 */
export interface EngagementsRow {
  readonly actorId: bigint
  readonly postId: bigint
  readonly kind: string
  readonly version: bigint | null
  readonly isOn: boolean | null
  readonly changedAt: number | null
  readonly authorId: bigint | null
  readonly part: number | null
  readonly reason: string | null
  readonly note: string | null
}

export const engagements: Table<EngagementsRow, 'actorId' | 'postId', 'kind'> = {
  name: 'engagements',
  partition: [{ name: 'actorId', column: 'actor_id', type: 'bigint' }, { name: 'postId', column: 'post_id', type: 'bigint' }],
  clustering: [{ name: 'kind', column: 'kind', type: 'text' }],
  order: 'asc',
  columns: [
    { name: 'version', column: 'version', type: 'bigint' },
    { name: 'isOn', column: 'is_on', type: 'boolean' },
    { name: 'changedAt', column: 'changed_at', type: 'timestamp' },
    { name: 'authorId', column: 'author_id', type: 'bigint' },
    { name: 'part', column: 'part', type: 'int' },
    { name: 'reason', column: 'reason', type: 'text' },
    { name: 'note', column: 'note', type: 'text' },
  ],
}

/**
 * The saves of an actor in the order in which they were made, in parts. Versioned. An entry counts
 * if the row of its save above says the same time and part: a race may leave more entries than one.
 */
export interface SavesByActorRow {
  readonly actorId: bigint
  readonly part: number
  readonly savedAt: number
  readonly postId: bigint
  readonly version: bigint | null
}

export const savesByActor: Table<SavesByActorRow, 'actorId' | 'part', 'savedAt' | 'postId'> = {
  name: 'saves_by_actor',
  partition: [{ name: 'actorId', column: 'actor_id', type: 'bigint' }, { name: 'part', column: 'part', type: 'int' }],
  clustering: [{ name: 'savedAt', column: 'saved_at', type: 'timestamp' }, { name: 'postId', column: 'post_id', type: 'bigint' }],
  order: 'desc',
  columns: [
    { name: 'version', column: 'version', type: 'bigint' },
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
  pending,
  pendingMarks,
  listParts,
  relations,
  followers,
  following,
  followRequests,
  blockedAccounts,
  mutedAccounts,
  graphChanges,
  authorModes,
  postsById,
  postsByAuthor,
  authorBuckets,
  postChanges,
  postHistory,
  replies,
  reshares,
  engagements,
  savesByActor,
] as const
