/** What a viewer has done with posts, as a page of them needs it: one read for all. */
import type { AccountId, PostId } from '../kernel/ids.ts'
import type { Tables } from '../platform/tables.ts'
import { engagements, type Kind } from './engagement-tables.ts'

/** What shows on a post. A report does not. */
const SHOWN = ['like', 'save', 'hide'] as const satisfies readonly Kind[]
type Shown = (typeof SHOWN)[number]

export interface PostMarks {
  readonly hasLiked: boolean
  readonly hasSaved: boolean
  readonly hasHidden: boolean
}

/** Of somebody who is not signed in. */
export const NO_MARKS: PostMarks = { hasLiked: false, hasSaved: false, hasHidden: false }

/** Needs nothing but the tables, so that posts can ask what is hidden before engagement is there. */
export class Marks {
  readonly #tables: Tables

  constructor({ tables }: { readonly tables: Tables }) {
    this.#tables = tables
  }

  /** In the order of the posts. */
  async of(viewer: AccountId | undefined, posts: readonly PostId[]): Promise<PostMarks[]> {
    const on = await this.#read(viewer, posts, SHOWN)
    return posts.map((post) => ({
      hasLiked: on.has(nameOf(post, 'like')),
      hasSaved: on.has(nameOf(post, 'save')),
      hasHidden: on.has(nameOf(post, 'hide')),
    }))
  }

  async hidden(viewer: AccountId | undefined, posts: readonly PostId[]): Promise<boolean[]> {
    const on = await this.#read(viewer, posts, ['hide'])
    return posts.map((post) => on.has(nameOf(post, 'hide')))
  }

  async #read(
    actorId: AccountId | undefined,
    posts: readonly PostId[],
    kinds: readonly Shown[],
  ): Promise<ReadonlySet<string>> {
    if (actorId === undefined || posts.length === 0) return new Set()
    const keys = [...new Set(posts)].flatMap((postId) =>
      kinds.map((kind) => ({ actorId, postId, kind })),
    )
    const rows = await this.#tables.getMany(engagements, keys)
    return new Set(rows.flatMap((row) => (row?.isOn ? [nameOf(row.postId, row.kind)] : [])))
  }
}

const nameOf = (post: bigint, kind: string): string => `${post}/${kind}`
