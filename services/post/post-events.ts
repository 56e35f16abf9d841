/** What is announced of posts. None of it carries their text. */
import {
  makeEvent,
  PostCreated,
  PostDeleted,
  PostEdited,
  VisibilityChanged,
} from '../kernel/events.ts'
import { arrivalMs, type EventId } from '../kernel/ids.ts'
import type { Post } from './post.ts'
import type { Visibility } from './visibility.ts'

interface Envelope {
  readonly id: EventId
  readonly at: number
}

export const createdEvent = ({ id, authorId, orderedAt, replyTo, original, ...post }: Post) =>
  makeEvent(
    PostCreated,
    { id: id as bigint as EventId, at: arrivalMs(id) },
    {
      ...{ postId: id, authorId, orderedAt },
      visibility: post.visibility,
      isReshare: post.isReshare,
      ...(replyTo ? { replyToId: replyTo.id, replyToAuthorId: replyTo.authorId } : {}),
      ...(original ? { originalId: original.id, originalAuthorId: original.authorId } : {}),
    },
  )

export const editedEvent = ({ id, authorId, version }: Post, envelope: Envelope) =>
  makeEvent(PostEdited, envelope, { postId: id, authorId, version })

export const deletedEvent = (post: Post, envelope: Envelope) => {
  const { id, authorId, orderedAt, isReshare, replyTo, original } = post
  return makeEvent(PostDeleted, envelope, {
    ...{ postId: id, authorId, orderedAt, isReshare },
    ...(replyTo ? { replyToId: replyTo.id } : {}),
    ...(original ? { originalId: original.id } : {}),
  })
}

export const visibilityEvent = (
  { id, authorId, visibility, version }: Post,
  previous: Visibility,
  envelope: Envelope,
) => makeEvent(VisibilityChanged, envelope, { postId: id, authorId, visibility, previous, version })
