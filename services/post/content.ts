/** What a post says: the part of it that its author can change. */
import { TooLargeError } from '../kernel/errors.ts'
import type { AccountId } from '../kernel/ids.ts'
import { fingerprint } from '../platform/fingerprint.ts'
import { canonicalLink } from './link.ts'
import { foldText } from './text.ts'

/** An account that a text names; the handle as it was then. */
export interface Mention {
  readonly accountId: AccountId
  readonly handle: string
}

export interface Content {
  /** Empty where there is none. */
  readonly text: string
  /** The address as its author gave it. */
  readonly link?: string
  readonly mentions: readonly Mention[]
  /** Without the sign, in one spelling, each once. */
  readonly hashtags: readonly string[]
}

export const NO_CONTENT: Content = { text: '', mentions: [], hashtags: [] }

export const isEmpty = ({ text, link }: Pick<Content, 'text' | 'link'>): boolean =>
  text === '' && link === undefined

export interface ContentHashes {
  /** Of the text with what it stands under: the same words to another post are not the same. */
  readonly contentHash?: bigint
  /** Of the page that the link leads to. */
  readonly linkHash?: bigint
}

export interface Context {
  readonly replyToId?: bigint | undefined
  readonly originalId?: bigint | undefined
}

export const hashesOf = ({ text, link }: Content, context: Context): ContentHashes => ({
  ...(text === '' ? {} : { contentHash: fingerprint(`${contextOf(context)} ${foldText(text)}`) }),
  ...(link === undefined ? {} : { linkHash: fingerprint(canonicalLink(link)) }),
})

const contextOf = ({ replyToId, originalId }: Context): string =>
  `${replyToId ?? ''}/${originalId ?? ''}`

/**
 * A change of a post writes its content and the one before in one batch, which has a limit: what is
 * accepted must fit it twice, or what was decided could never be written.
 */
export const CONTENT_BYTES_MAX = 20 * 1024

export const checkContent = (content: Content): Content => {
  if (Buffer.byteLength(encodeContent(content)) <= CONTENT_BYTES_MAX) return content
  throw new TooLargeError(`what a post says takes at most ${CONTENT_BYTES_MAX} bytes`, {
    field: 'text',
  })
}

/** As it is stored; what is not there takes no room. */
export const encodeContent = ({ text, link, mentions, hashtags }: Content): string =>
  JSON.stringify({
    text,
    link,
    ...(mentions.length === 0
      ? {}
      : { mentions: mentions.map(({ accountId, handle }) => [String(accountId), handle]) }),
    ...(hashtags.length === 0 ? {} : { hashtags }),
  })

interface StoredContent {
  readonly text: string
  readonly link?: string
  readonly mentions?: readonly (readonly [accountId: string, handle: string])[]
  readonly hashtags?: readonly string[]
}

/** What was deleted says nothing. */
export const decodeContent = (stored: string | null): Content => {
  if (stored === null) return NO_CONTENT
  const { text, link, mentions = [], hashtags = [] } = JSON.parse(stored) as StoredContent
  return {
    text,
    ...(link === undefined ? {} : { link }),
    mentions: mentions.map(([id, handle]) => ({ accountId: BigInt(id) as AccountId, handle })),
    hashtags,
  }
}
