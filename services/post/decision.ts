/** What becomes of a post when its author changes it; pure. */
import { ForbiddenError } from '../kernel/errors.ts'
import type { EventId } from '../kernel/ids.ts'
import { type Content, checkContent, isEmpty, NO_CONTENT } from './content.ts'
import { nothingSaid } from './draft.ts'
import type { Visibility } from './visibility.ts'

/** The part of a post that can change. */
export interface PostState {
  readonly version: bigint
  readonly visibility: Visibility
  readonly content: Content
  readonly edits: number
  readonly editedAt?: number
  readonly deletedAt?: number
}

/** An edit names what it changes: a text with what was found in it, a link or the end of one. */
export type Change =
  | {
      readonly name: 'edit'
      readonly writing?: Pick<Content, 'text' | 'mentions' | 'hashtags'>
      readonly link?: { readonly to: string | undefined }
    }
  | { readonly name: 'visibility'; readonly visibility: Visibility }
  | { readonly name: 'delete' }
export type ChangeName = Change['name']

/** What was decided last, with all that has to follow from it. */
export interface Decision {
  readonly state: PostState
  readonly change: ChangeName
  /** Of what announces it. */
  readonly eventId: EventId
  readonly previous: Pick<PostState, 'version' | 'visibility' | 'content'> & {
    /** When that content was written. */
    readonly writtenAt: number
  }
}

export interface Circumstances {
  /** Above that of the state. */
  readonly version: bigint
  readonly at: number
  readonly eventId: EventId
  readonly createdAt: number
  readonly editsMax: number
}

/** The decision; nothing, where the post is so already. */
export const decide = (
  state: PostState,
  change: Change,
  circumstances: Circumstances,
): Decision | undefined => {
  const next = state.deletedAt === undefined ? nextState(state, change, circumstances) : undefined
  if (!next) return undefined
  const { version, visibility, content } = state
  const writtenAt = state.editedAt ?? circumstances.createdAt
  return {
    state: { ...next, version: circumstances.version },
    change: change.name,
    eventId: circumstances.eventId,
    previous: { version, visibility, content, writtenAt },
  }
}

const nextState = (
  state: PostState,
  change: Change,
  { at, editsMax }: Circumstances,
): PostState | undefined => {
  if (change.name === 'delete') return { ...state, content: NO_CONTENT, deletedAt: at }
  if (change.name === 'visibility') {
    return change.visibility === state.visibility
      ? undefined
      : { ...state, visibility: change.visibility }
  }
  const content = edited(state.content, change)
  if (content.text === state.content.text && content.link === state.content.link) return undefined
  if (isEmpty(content)) throw nothingSaid()
  if (state.edits < editsMax) return { ...state, content, edits: state.edits + 1, editedAt: at }
  throw new ForbiddenError(`a post can be edited ${editsMax} times`, { field: 'postId' })
}

const edited = (
  { link: standing, ...content }: Content,
  { writing, link }: Extract<Change, { name: 'edit' }>,
): Content => {
  const to = link ? link.to : standing
  return checkContent({ ...content, ...writing, ...(to === undefined ? {} : { link: to }) })
}
