/** How posts lie in their tables. */
import { type AccountId, arrivalMs, type EventId, type PostId } from '../kernel/ids.ts'
import {
  authorBuckets,
  type PostChangesRow,
  type PostHistoryRow,
  type PostsByIdRow,
  postChanges,
  postHistory,
  postsByAuthor,
  postsById,
  type ResharesRow,
  replies,
  reshares,
} from '../platform/generated/tables.ts'
import type { PartedList } from '../platform/parted-lists.ts'
import { put, VERSION_MAX, type Write } from '../platform/tables.ts'
import { type Content, decodeContent, encodeContent, hashesOf } from './content.ts'
import type { ChangeName, Decision } from './decision.ts'
import type { Post, Revision } from './post.ts'
import type { ReshareDecision } from './reshare.ts'
import { VISIBILITIES, type Visibility } from './visibility.ts'

export { authorBuckets, postChanges, postHistory, postsByAuthor, postsById, reshares }

export const repliesList: PartedList<typeof replies> = {
  name: 'replies',
  table: replies,
  partition: (postId, part) => ({ postId, part }),
}

/** Months since 1970, in UTC: the bucket of an author's posts. */
export const monthOf = (ms: number): number => {
  const date = new Date(ms)
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
}

const monthBegins = (month: number): number => Date.UTC(1970, month)

/** Everything that is there once a post is made; the same however often it is made. */
export const createdWrites = (post: Post): readonly Write[] => {
  const { authorId, orderedAt, replyTo } = post
  const month = monthOf(orderedAt)
  return [
    ...standingWrites(post),
    put(authorBuckets, { authorId, month, beginsAt: monthBegins(month) }),
    ...(replyTo ? [putReply(post, replyTo)] : []),
  ]
}

/** The copies of a post that follow its changes. Nothing stands above those of a deleted one. */
export const standingWrites = (post: Post): readonly Write[] => {
  const version = post.deletedAt === undefined ? post.version : VERSION_MAX
  return [
    put(postsById, toPostRow(post), { version }),
    put(postsByAuthor, toAuthorRow(post), { version }),
  ]
}

const toPostRow = (post: Post): PostsByIdRow => {
  const { content, replyTo, original } = post
  const deleted = post.deletedAt !== undefined
  const hashes = deleted
    ? {}
    : hashesOf(content, { replyToId: replyTo?.id, originalId: original?.id })
  return {
    id: post.id,
    version: post.version,
    authorId: post.authorId,
    orderedAt: post.orderedAt,
    visibility: post.visibility,
    content: deleted ? null : encodeContent(content),
    contentHash: hashes.contentHash ?? null,
    linkHash: hashes.linkHash ?? null,
    replyToId: replyTo?.id ?? null,
    replyToAuthorId: replyTo?.authorId ?? null,
    rootId: replyTo?.rootId ?? null,
    replyPart: replyTo?.part ?? null,
    originalId: original?.id ?? null,
    originalAuthorId: original?.authorId ?? null,
    isReshare: post.isReshare,
    edits: post.edits,
    editedAt: post.editedAt ?? null,
    deletedAt: post.deletedAt ?? null,
  }
}

const toAuthorRow = ({ authorId, orderedAt, id, ...post }: Post) => ({
  ...{ authorId, month: monthOf(orderedAt), orderedAt, id },
  visibility: post.visibility,
  isReply: post.replyTo !== undefined,
  isReshare: post.isReshare,
  isDeleted: post.deletedAt !== undefined,
})

const putReply = (
  { id, authorId, orderedAt }: Post,
  { id: postId, part }: { readonly id: PostId; readonly part: number },
): Write => put(replies, { postId, part, orderedAt, id, authorId }, { version: id })

export const fromPostRow = (row: PostsByIdRow): Post => ({
  id: row.id as PostId,
  version: row.version ?? row.id,
  authorId: (row.authorId ?? 0n) as AccountId,
  orderedAt: row.orderedAt ?? arrivalMs(row.id),
  visibility: toVisibility(row.visibility),
  content: decodeContent(row.content),
  ...replyOf(row),
  ...originalOf(row),
  isReshare: row.isReshare ?? false,
  edits: row.edits ?? 0,
  ...(row.editedAt === null ? {} : { editedAt: row.editedAt }),
  ...(row.deletedAt === null ? {} : { deletedAt: row.deletedAt }),
})

/** What cannot be read is for nobody else. */
export const toVisibility = (stored: string | null): Visibility =>
  VISIBILITIES.find((each) => each === stored) ?? 'PRIVATE'

const replyOf = (row: PostsByIdRow): Pick<Post, 'replyTo'> => {
  const { replyToId, replyToAuthorId, rootId, replyPart } = row
  if (replyToId === null) return {}
  return {
    replyTo: {
      id: replyToId as PostId,
      authorId: (replyToAuthorId ?? 0n) as AccountId,
      rootId: (rootId ?? replyToId) as PostId,
      part: replyPart ?? 0,
    },
  }
}

const originalOf = ({ originalId, originalAuthorId }: PostsByIdRow): Pick<Post, 'original'> =>
  originalId === null
    ? {}
    : {
        original: {
          id: originalId as PostId,
          authorId: (originalAuthorId ?? 0n) as AccountId,
        },
      }

/** Every column but the key: a decision is always written whole. */
export const changeColumns = (decision: Decision): Omit<PostChangesRow, 'postId'> => {
  const { state, previous } = decision
  const deleted = state.deletedAt !== undefined
  return {
    version: state.version,
    visibility: state.visibility,
    content: deleted ? null : encodeContent(state.content),
    edits: state.edits,
    editedAt: state.editedAt ?? null,
    deletedAt: state.deletedAt ?? null,
    change: decision.change,
    eventId: decision.eventId,
    previousVersion: previous.version,
    previousVisibility: previous.visibility,
    previousContent: deleted ? null : encodeContent(previous.content),
    previousAt: previous.writtenAt,
  }
}

export const fromChangeRow = (row: PostChangesRow): Decision => ({
  state: {
    version: row.version ?? row.postId,
    visibility: toVisibility(row.visibility),
    content: decodeContent(row.content),
    edits: row.edits ?? 0,
    ...(row.editedAt === null ? {} : { editedAt: row.editedAt }),
    ...(row.deletedAt === null ? {} : { deletedAt: row.deletedAt }),
  },
  change: (row.change ?? 'edit') as ChangeName,
  eventId: (row.eventId ?? row.postId) as EventId,
  previous: {
    version: row.previousVersion ?? row.postId,
    visibility: toVisibility(row.previousVisibility),
    content: decodeContent(row.previousContent),
    writtenAt: row.previousAt ?? 0,
  },
})

/** What an edit has replaced, under the number of the edit. */
export const historyWrites = (postId: PostId, { change, state, previous }: Decision): Write[] => {
  if (change === 'delete') return emptiedHistory(postId, state.edits)
  if (change !== 'edit') return []
  const { version, content, writtenAt } = previous
  const row = { postId, edit: state.edits - 1, content: encodeContent(content), writtenAt }
  return [put(postHistory, row, { version })]
}

/** Whatever of the history comes to light late, nothing of it is readable. */
const emptiedHistory = (postId: PostId, edits: number): Write[] =>
  Array.from({ length: edits }, (_none, edit) =>
    put(postHistory, { postId, edit, content: null, writtenAt: null }, { version: VERSION_MAX }),
  )

export const fromHistoryRow = ({ content, writtenAt }: PostHistoryRow): Revision | undefined => {
  if (content === null) return undefined
  const { text, link }: Content = decodeContent(content)
  return { text, ...(link === undefined ? {} : { link }), writtenAt: writtenAt ?? 0 }
}

export const reshareColumns = (
  decision: ReshareDecision,
): Omit<ResharesRow, 'actorId' | 'originalId'> => ({
  version: decision.version,
  isOn: decision.isOn,
  postId: decision.postId,
  originalAuthorId: decision.original.authorId,
  decidedAt: decision.decidedAt,
  eventId: decision.eventId,
})

export const fromReshareRow = (row: ResharesRow): ReshareDecision => ({
  actorId: row.actorId as AccountId,
  original: {
    id: row.originalId as PostId,
    authorId: (row.originalAuthorId ?? 0n) as AccountId,
  },
  version: row.version ?? 0n,
  isOn: row.isOn ?? false,
  postId: (row.postId ?? 0n) as PostId,
  decidedAt: row.decidedAt ?? 0,
  eventId: (row.eventId ?? 0n) as EventId,
})
