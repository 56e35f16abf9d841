/**
 * Lists of posts: an author's, and the replies to one. A list says only which posts there are; each
 * is read and judged for the viewer. A page is filled from several slices where much of the list is
 * not for the viewer, within a bound: then it is short, and goes on where it stopped looking.
 */
import { BadInputError } from '../kernel/errors.ts'
import type { AccountId, PostId } from '../kernel/ids.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import type { ListPosition, PartedLists } from '../platform/parted-lists.ts'
import { pages, SLICE_MAX, type Tables } from '../platform/tables.ts'
import type { PostLimits } from './draft.ts'
import type { Post } from './post.ts'
import { authorBuckets, monthOf, postsByAuthor, repliesList } from './post-tables.ts'
import type { Sight } from './sight.ts'

export interface ListDependencies {
  readonly tables: Tables
  readonly lists: PartedLists
  readonly sight: Sight
  readonly settings: PostLimits
}

/** Some rows of a list, in order, each with its position. */
type Slice = readonly { readonly id: PostId; readonly position: string; readonly part?: number }[]

export class PostLists {
  readonly #own: ListDependencies

  constructor(dependencies: ListDependencies) {
    this.#own = dependencies
  }

  /** Newest first. */
  async ofAuthor(
    viewer: AccountId | undefined,
    author: AccountId,
    page: PageRequest,
  ): Promise<Page<Post>> {
    if (!(await this.#own.sight.mayList(viewer, author))) return { items: [] }
    return await this.#fill(viewer, this.#authorSlices(author, page), page.first)
  }

  /** Oldest first; of a post that the viewer has been found to see. */
  repliesOf(viewer: AccountId | undefined, post: PostId, page: PageRequest): Promise<Page<Post>> {
    return this.#fill(viewer, this.#replySlices(post, page), page.first)
  }

  async #fill(
    viewer: AccountId | undefined,
    slices: AsyncGenerator<Slice, void>,
    first: number,
  ): Promise<Page<Post>> {
    const items: Post[] = []
    let looked: string | undefined
    let read = 0
    for await (const slice of slices) {
      if (items.length === first) return { items, ...nextOf(looked) }
      const ids = slice.map(({ id }) => id)
      const seen = await this.#own.sight.see({ viewer, place: 'direct' }, ids)
      for (const [index, { position, part }] of slice.entries()) {
        // A row too many: there is a next page.
        if (items.length === first) return { items, ...nextOf(looked) }
        const post = seen[index]
        if (post && (part === undefined || part === post.replyTo?.part)) items.push(post)
        looked = position
      }
      read += 1
      if (read === this.#own.settings.slicesMax) return { items, ...nextOf(looked) }
    }
    return { items }
  }

  async *#authorSlices(
    authorId: AccountId,
    { first, after }: PageRequest,
  ): AsyncGenerator<Slice, void> {
    const start = after === undefined ? undefined : parseAuthorPosition(after)
    const months = await this.#own.tables.slice(
      authorBuckets,
      { authorId },
      { limit: SLICE_MAX, ...(start ? { from: { month: monthOf(start.orderedAt) } } : {}) },
    )
    for (const { month } of months) {
      const inMonth = start && monthOf(start.orderedAt) === month ? { after: start } : {}
      const slice = { limit: first + 1, ...inMonth }
      for await (const rows of pages(this.#own.tables, postsByAuthor, { authorId, month }, slice)) {
        yield rows.map(({ id, orderedAt }) => ({
          id: id as PostId,
          position: `${orderedAt}.${id}`,
        }))
      }
    }
  }

  async *#replySlices(postId: PostId, { first, after }: PageRequest): AsyncGenerator<Slice, void> {
    let from = after === undefined ? undefined : parseReplyPosition(after)
    do {
      const page = await this.#own.lists.page(repliesList, postId, { first: first + 1, from })
      if (page.entries.length > 0) yield page.entries.map(({ row }) => replyEntry(row))
      from = page.next
    } while (from)
  }
}

const nextOf = (looked: string | undefined): Pick<Page<Post>, 'next'> =>
  looked === undefined ? {} : { next: looked }

interface ReplyRow {
  readonly part: number
  readonly orderedAt: number
  readonly id: bigint
}

const replyEntry = ({ part, orderedAt, id }: ReplyRow) => ({
  id: id as PostId,
  part,
  position: `${part}.${orderedAt}.${id}`,
})

/** Where a post stands in its author's list. */
export const authorPosition = ({ orderedAt, id }: Post): string => `${orderedAt}.${id}`

/** Where a reply stands among the replies. */
export const replyPosition = ({ replyTo, orderedAt, id }: Post): string =>
  `${replyTo?.part ?? 0}.${orderedAt}.${id}`

const parseAuthorPosition = (text: string): { orderedAt: number; id: bigint } => {
  const [, orderedAt, id] = /^(\d{1,15})\.(\d{19})$/.exec(text) ?? []
  if (orderedAt === undefined || id === undefined) throw wrongPosition()
  return { orderedAt: Number(orderedAt), id: BigInt(id) }
}

const parseReplyPosition = (text: string): ListPosition<typeof repliesList.table> => {
  const [, part, orderedAt, id] = /^(\d{1,9})\.(\d{1,15})\.(\d{19})$/.exec(text) ?? []
  if (part === undefined || orderedAt === undefined || id === undefined) throw wrongPosition()
  return { part: Number(part), after: { orderedAt: Number(orderedAt), id: BigInt(id) } }
}

const wrongPosition = (): BadInputError =>
  new BadInputError('this is no position in a list of posts', { field: 'after' })
