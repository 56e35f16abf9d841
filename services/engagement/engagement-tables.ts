/** How engagement lies in its tables, and what is announced of it. */
import { EngagementChanged, type Event, makeEvent } from '../kernel/events.ts'
import type { AccountId, EventId, PostId } from '../kernel/ids.ts'
import { type EngagementsRow, engagements, savesByActor } from '../platform/generated/tables.ts'
import type { PartedList } from '../platform/parted-lists.ts'
import { put, remove, type Write } from '../platform/tables.ts'
import { type Complaint, REASONS } from './complaint.ts'

export { engagements, savesByActor }

export const KINDS = ['like', 'save', 'hide', 'report'] as const
export type Kind = (typeof KINDS)[number]

/** What an actor did with a post, and has not undone or has. */
export interface Engagement {
  readonly actorId: AccountId
  readonly postId: PostId
  readonly kind: Kind
  readonly isOn: boolean
  readonly version: bigint
  /** When it was turned on or off. */
  readonly changedAt: number
  readonly authorId: AccountId
  /** Of a save: where it lies in the list. */
  readonly part: number
  /** Of a report. */
  readonly complaint?: Complaint | undefined
}

export const savesList: PartedList<typeof savesByActor> = {
  name: 'saves',
  table: savesByActor,
  partition: (actorId, part) => ({ actorId, part }),
}

/** All rows of a change. `current` is what it was made upon. */
export const changeWrites = (
  next: Engagement,
  current: Engagement | undefined,
): readonly Write[] => [putEngagement(next), ...listWrites(next, current)]

const putEngagement = ({ version, complaint, ...state }: Engagement): Write =>
  put(
    engagements,
    { ...state, version, reason: complaint?.reason ?? null, note: complaint?.note ?? null },
    { version },
  )

const listWrites = (next: Engagement, current: Engagement | undefined): readonly Write[] => {
  const { version } = next
  if (next.kind !== 'save') return []
  if (next.isOn) return [put(savesByActor, { ...entryKey(next), version }, { version })]
  return current?.isOn ? [remove(savesByActor, entryKey(current), { version })] : []
}

const entryKey = ({ actorId, part, changedAt, postId }: Engagement) => ({
  ...{ actorId, part, postId },
  savedAt: changedAt,
})

export const fromEngagementRow = (row: EngagementsRow): Engagement => ({
  actorId: row.actorId as AccountId,
  postId: row.postId as PostId,
  kind: row.kind as Kind,
  isOn: row.isOn ?? false,
  version: row.version ?? 0n,
  changedAt: row.changedAt ?? 0,
  authorId: (row.authorId ?? 0n) as AccountId,
  part: row.part ?? 0,
  ...complaintOf(row),
})

const complaintOf = ({ reason, note }: EngagementsRow): Pick<Engagement, 'complaint'> => {
  const known = REASONS.find((each) => each === reason)
  return known === undefined ? {} : { complaint: { reason: known, note: note ?? '' } }
}

export const changedEvent = (
  id: EventId,
  { actorId, postId, authorId, kind, isOn, version, changedAt, complaint }: Engagement,
): Event =>
  makeEvent(
    EngagementChanged,
    { id, at: changedAt },
    {
      ...{ actorId, postId, authorId, kind, on: isOn, version },
      ...(complaint ? { reason: complaint.reason } : {}),
    },
  )
