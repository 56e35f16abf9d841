/** What an author asks to be posted, checked and put into one form. */
import { BadInputError } from '../kernel/errors.ts'
import type { PostId } from '../kernel/ids.ts'
import type { Values } from '../kernel/settings.ts'
import { digest } from '../platform/fingerprint.ts'
import { isEmpty } from './content.ts'
import { checkLink } from './link.ts'
import type { postSettings } from './settings.ts'
import { checkText, findPointers, type Pointers } from './text.ts'
import type { Visibility } from './visibility.ts'

export type PostLimits = Values<typeof postSettings>

/** What is null is as if it were not named. */
export interface PostInput {
  readonly text?: string | null | undefined
  readonly link?: string | null | undefined
  readonly visibility?: Visibility | null | undefined
  readonly replyToId?: PostId | null | undefined
  /** With a text or a link it is quoted, with neither it is reshared. */
  readonly reshareOfId?: PostId | null | undefined
  /** When it was written, by the author's clock. */
  readonly clientTs?: number | null | undefined
  readonly idempotencyKey?: string | null | undefined
}

/** What is written, before anybody is asked who its mentions are. */
export interface Writing {
  readonly text: string
  readonly link?: string
  readonly pointers: Pointers
}

export interface PostDraft extends Writing {
  readonly visibility: Visibility
  readonly replyToId?: PostId
  readonly reshareOfId?: PostId
  readonly clientTs?: number
}

export const checkDraft = (input: PostInput, limits: PostLimits): PostDraft => {
  const { visibility, replyToId, reshareOfId, clientTs } = input
  const writing = checkWriting(input, limits)
  if (isEmpty(writing) && reshareOfId == null) throw nothingSaid()
  if (isEmpty(writing) && replyToId != null) {
    throw new BadInputError('a reply says something: a text or a link', { field: 'text' })
  }
  return {
    ...writing,
    visibility: visibility ?? 'PUBLIC',
    ...(replyToId == null ? {} : { replyToId }),
    ...(reshareOfId == null ? {} : { reshareOfId }),
    ...(clientTs == null ? {} : { clientTs }),
  }
}

export const nothingSaid = (): BadInputError =>
  new BadInputError('a post has a text, a link or something it reshares', { field: 'text' })

export const checkWriting = (
  { text, link }: Pick<PostInput, 'text' | 'link'>,
  limits: PostLimits,
): Writing => {
  const checked = checkText(text ?? '', limits.textMax)
  const pointers = findPointers(checked)
  checkCount(pointers.handles, limits.mentionsMax, 'accounts are mentioned')
  checkCount(pointers.hashtags, limits.hashtagsMax, 'hashtags are used')
  return {
    text: checked,
    ...(link == null || link.trim() === '' ? {} : { link: checkLink(link, limits.linkMax) }),
    pointers,
  }
}

const checkCount = (found: readonly string[], max: number, what: string): void => {
  if (found.length <= max) return
  throw new BadInputError(`at most ${max} ${what} in one post`, { field: 'text' })
}

/** Whether its author may date it so; what lies in the future counts as now. */
export const checkClientTime = (
  { clientTs }: PostDraft,
  now: number,
  { clientLagMs }: PostLimits,
): void => {
  if (clientTs === undefined || (clientTs >= 0 && now - clientTs <= clientLagMs)) return
  const hours = Math.floor(clientLagMs / 3_600_000)
  throw new BadInputError(`a post is dated back ${hours} hours at most`, { field: 'clientTs' })
}

const KEY = /^[\x21-\x7e]{1,128}$/

export const checkKey = (key: string): string => {
  if (KEY.test(key)) return key
  throw new BadInputError('an idempotency key is 1 to 128 characters of ASCII without spaces', {
    field: 'idempotencyKey',
  })
}

/** Equal for equal drafts: what makes the second use of a key the same post. */
export const draftHash = (draft: PostDraft): string => {
  const { text, link, visibility, replyToId, reshareOfId, clientTs } = draft
  const parts = [text, link, visibility, replyToId?.toString(), reshareOfId?.toString(), clientTs]
  return digest(JSON.stringify(parts.map((part) => part ?? null)))
}
