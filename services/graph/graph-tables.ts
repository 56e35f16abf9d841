/** How relations, and the lists copied from them, lie in their tables. */
import type { AccountId, EventId } from '../kernel/ids.ts'
import {
  blockedAccounts,
  followers,
  following,
  followRequests,
  mutedAccounts,
  type RelationsRow,
  relations,
} from '../platform/generated/tables.ts'
import type { PartedList } from '../platform/parted-lists.ts'
import { type KeyOf, put, remove, type Write } from '../platform/tables.ts'
import type { Facet, Follow, FollowState, Mark, Relation, Side } from './relation.ts'
import { otherEnd } from './relation.ts'

export { blockedAccounts, mutedAccounts, relations }

/** The lists that have no end; all have one shape. */
export type FollowTable = typeof followers | typeof following | typeof followRequests
export type MarkTable = typeof blockedAccounts | typeof mutedAccounts

const partition = (accountId: bigint, part: number) => ({ accountId, part })

export const followersList: PartedList<typeof followers> = {
  name: 'followers',
  table: followers,
  partition,
}
export const followingList: PartedList<typeof following> = {
  name: 'following',
  table: following,
  partition,
}
export const requestsList: PartedList<typeof followRequests> = {
  name: 'follow-requests',
  table: followRequests,
  partition,
}

const MARK_TABLES = { block: blockedAccounts, mute: mutedAccounts } as const

/** The rows that follow from one thing decided, as it stands. */
export const copiesOf = (relation: Relation, { by, what }: Facet): readonly Write[] => {
  const owner = relation[by]
  const other = relation[otherEnd(by)]
  const side = relation.sides[by]
  if (what === 'follow') return followCopies(side.follow, owner, other)
  const { isOn, version } = side[what]
  return [markCopy(MARK_TABLES[what], { accountId: owner, otherId: other }, { isOn, version })]
}

const followCopies = (follow: Follow, owner: AccountId, other: AccountId): Write[] => [
  ...requestCopies(follow, owner, other),
  ...followedCopies(follow, owner, other),
]

const requestCopies = (follow: Follow, owner: AccountId, other: AccountId): Write[] => {
  const { state, version, requested } = follow
  if (!requested) return []
  const key = { accountId: other, part: requested.part, since: requested.at, otherId: owner }
  return [copy(followRequests, key, { isOn: state === 'requested', version })]
}

const followedCopies = (follow: Follow, owner: AccountId, other: AccountId): Write[] => {
  const { state, version, followed } = follow
  if (!followed) return []
  const { at: since, followingPart, followersPart } = followed
  const standing = { isOn: state === 'following', version }
  const mine = { accountId: owner, part: followingPart, since, otherId: other }
  const theirs = { accountId: other, part: followersPart, since, otherId: owner }
  return [copy(following, mine, standing), copy(followers, theirs, standing)]
}

/**
 * The rows of what is over, where a new follow or request takes the place that leads to them: they
 * are removed before it does, lest a removal that a crash left out be forgotten with it.
 */
export const leftoversOf = (before: Relation, after: Relation, { by, what }: Facet): Write[] => {
  if (what !== 'follow') return []
  const [old, next] = [before.sides[by].follow, after.sides[by].follow]
  const [owner, other] = [before[by], before[otherEnd(by)]]
  const isMoved = {
    request: old.requested !== next.requested,
    follow: old.followed !== next.followed,
  }
  return [
    ...(isMoved.request && old.state !== 'requested' ? requestCopies(old, owner, other) : []),
    ...(isMoved.follow && old.state !== 'following' ? followedCopies(old, owner, other) : []),
  ]
}

interface Standing {
  readonly isOn: boolean
  readonly version: bigint
}

const copy = (table: FollowTable, key: KeyOf<FollowTable>, { isOn, version }: Standing): Write =>
  isOn ? put(table, { ...key, version }, { version }) : remove(table, key, { version })

const markCopy = (table: MarkTable, key: KeyOf<MarkTable>, { isOn, version }: Standing): Write =>
  isOn ? put(table, { ...key, version }, { version }) : remove(table, key, { version })

/** Every column but the key: a relation is always written whole. */
export const relationColumns = ({
  version,
  sides,
}: Relation): Omit<RelationsRow, 'low' | 'high'> => {
  const { low, high } = sides
  return {
    version,
    lowFollow: low.follow.state,
    lowFollowVersion: low.follow.version,
    lowFollowEvent: low.follow.eventId,
    lowRequestedAt: low.follow.requested?.at ?? null,
    lowRequestsPart: low.follow.requested?.part ?? null,
    lowFollowedAt: low.follow.followed?.at ?? null,
    lowFollowingPart: low.follow.followed?.followingPart ?? null,
    lowFollowersPart: low.follow.followed?.followersPart ?? null,
    lowBlocks: low.block.isOn,
    lowBlockVersion: low.block.version,
    lowBlockEvent: low.block.eventId,
    lowMutes: low.mute.isOn,
    lowMuteVersion: low.mute.version,
    lowMuteEvent: low.mute.eventId,
    highFollow: high.follow.state,
    highFollowVersion: high.follow.version,
    highFollowEvent: high.follow.eventId,
    highRequestedAt: high.follow.requested?.at ?? null,
    highRequestsPart: high.follow.requested?.part ?? null,
    highFollowedAt: high.follow.followed?.at ?? null,
    highFollowingPart: high.follow.followed?.followingPart ?? null,
    highFollowersPart: high.follow.followed?.followersPart ?? null,
    highBlocks: high.block.isOn,
    highBlockVersion: high.block.version,
    highBlockEvent: high.block.eventId,
    highMutes: high.mute.isOn,
    highMuteVersion: high.mute.version,
    highMuteEvent: high.mute.eventId,
  }
}

export const fromRelationRow = (row: RelationsRow): Relation => ({
  low: row.low as AccountId,
  high: row.high as AccountId,
  version: row.version ?? 0n,
  sides: { low: lowSide(row), high: highSide(row) },
})

const lowSide = (row: RelationsRow): Side => ({
  follow: follow({
    state: row.lowFollow,
    version: row.lowFollowVersion,
    event: row.lowFollowEvent,
    requestedAt: row.lowRequestedAt,
    requestsPart: row.lowRequestsPart,
    followedAt: row.lowFollowedAt,
    followingPart: row.lowFollowingPart,
    followersPart: row.lowFollowersPart,
  }),
  block: mark(row.lowBlocks, row.lowBlockVersion, row.lowBlockEvent),
  mute: mark(row.lowMutes, row.lowMuteVersion, row.lowMuteEvent),
})

const highSide = (row: RelationsRow): Side => ({
  follow: follow({
    state: row.highFollow,
    version: row.highFollowVersion,
    event: row.highFollowEvent,
    requestedAt: row.highRequestedAt,
    requestsPart: row.highRequestsPart,
    followedAt: row.highFollowedAt,
    followingPart: row.highFollowingPart,
    followersPart: row.highFollowersPart,
  }),
  block: mark(row.highBlocks, row.highBlockVersion, row.highBlockEvent),
  mute: mark(row.highMutes, row.highMuteVersion, row.highMuteEvent),
})

interface FollowCells {
  readonly state: string | null
  readonly version: bigint | null
  readonly event: bigint | null
  readonly requestedAt: number | null
  readonly requestsPart: number | null
  readonly followedAt: number | null
  readonly followingPart: number | null
  readonly followersPart: number | null
}

const follow = (cells: FollowCells): Follow => ({
  state: (cells.state ?? 'none') as FollowState,
  version: cells.version ?? 0n,
  eventId: (cells.event ?? 0n) as EventId,
  requested:
    cells.requestedAt === null
      ? undefined
      : { at: cells.requestedAt, part: cells.requestsPart ?? 0 },
  followed:
    cells.followedAt === null
      ? undefined
      : {
          at: cells.followedAt,
          followingPart: cells.followingPart ?? 0,
          followersPart: cells.followersPart ?? 0,
        },
})

const mark = (isOn: boolean | null, version: bigint | null, event: bigint | null): Mark => ({
  isOn: isOn ?? false,
  version: version ?? 0n,
  eventId: (event ?? 0n) as EventId,
})
