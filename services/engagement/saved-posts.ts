/**
 * The posts an actor has saved, newest save first.
 *
 * The list only says where to look: an entry counts if the state of its save names the same time and
 * part. So two saves that raced, or an entry that outlived its save, show nothing twice or wrongly.
 */
import { CursorInvalidError } from '../kernel/errors.ts'
import { type AccountId, type PostId, parseId } from '../kernel/ids.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import type { SavesByActorRow } from '../platform/generated/tables.ts'
import type { ListPosition, PartedLists } from '../platform/parted-lists.ts'
import type { Tables } from '../platform/tables.ts'
import type { Post, PostService } from '../post/post.ts'
import { engagements, type savesByActor, savesList } from './engagement-tables.ts'

export interface Saved {
  readonly post: Post
  readonly savedAt: number
  /** Its place in the list, to go on after it. */
  readonly position: string
}

export interface SavedPostsDependencies {
  readonly tables: Tables
  readonly lists: PartedLists
  readonly posts: Pick<PostService, 'byIds'>
}

type Position = ListPosition<typeof savesByActor>

export class SavedPosts {
  readonly #own: SavedPostsDependencies

  constructor(dependencies: SavedPostsDependencies) {
    this.#own = dependencies
  }

  async page(actorId: AccountId, { first, after }: PageRequest): Promise<Page<Saved>> {
    const from = after === undefined ? undefined : parsePosition(after)
    const page = await this.#own.lists.page(savesList, actorId, { first, from })
    const rows = await this.#standing(page.entries.map(({ row }) => row))
    const ids = rows.map(({ postId }) => postId as PostId)
    const posts = ids.length === 0 ? [] : await this.#own.posts.byIds(actorId, ids)
    const items = rows.flatMap((row, index) => {
      const post = posts[index]
      return post ? [{ post, savedAt: row.savedAt, position: positionOf(row) }] : []
    })
    return { items, ...(page.next ? { next: formatPosition(page.next) } : {}) }
  }

  async #standing(rows: readonly SavesByActorRow[]): Promise<readonly SavesByActorRow[]> {
    if (rows.length === 0) return []
    const keys = rows.map(({ actorId, postId }) => ({ actorId, postId, kind: 'save' }))
    const states = await this.#own.tables.getMany(engagements, keys)
    return rows.filter((row, index) => {
      const state = states[index]
      return state?.isOn && state.changedAt === row.savedAt && state.part === row.part
    })
  }
}

const positionOf = ({ part, savedAt, postId }: SavesByActorRow): string =>
  formatPosition({ part, after: { savedAt, postId } })

const formatPosition = ({ part, after }: Position): string =>
  after === undefined ? `${part}` : `${part}/${after.savedAt}/${after.postId}`

const POSITION = /^(\d{1,9})(?:\/(\d{1,16})\/(\d{19}))?$/

const parsePosition = (text: string): Position => {
  const [, part, savedAt, postId] = POSITION.exec(text) ?? []
  if (part === undefined) throw new CursorInvalidError('this cursor names no place in the list')
  if (savedAt === undefined || postId === undefined) return { part: Number(part) }
  return { part: Number(part), after: { savedAt: Number(savedAt), postId: parseId(postId) } }
}
