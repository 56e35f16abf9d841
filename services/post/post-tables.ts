/** How posts lie in their tables. */
import { type AccountId, arrivalMs, type PostId } from '../kernel/ids.ts'
import {
  authorBuckets,
  type PostsByIdRow,
  postsByAuthor,
  postsById,
  replies,
} from '../platform/generated/tables.ts'
import { put, VERSION_MAX, type Write } from '../platform/tables.ts'
import { decodeContent, encodeContent, hashesOf } from './content.ts'
import type { Post } from './post.ts'
import { VISIBILITIES, type Visibility } from './visibility.ts'

export { authorBuckets, postsByAuthor, postsById, replies }

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
  const hashes = deleted ? {} : hashesOf(content, { replyToId: replyTo?.id, originalId: original?.id })
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
