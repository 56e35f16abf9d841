/**
 * Reading posts for somebody: rows, what must be known to judge them, and the judgement.
 *
 * However many posts are asked for, it takes the posts, the originals of reshares, their authors, the
 * viewer's ties to these and, for a feed, what the viewer hid: one read each. What the viewer may not
 * see and what is not there look the same.
 */
import type { Account, AccountService } from '../accounts/accounts.ts'
import { type GraphService, NO_TIE, type Tie } from '../graph/graph.ts'
import { NotFoundError } from '../kernel/errors.ts'
import type { AccountId, PostId } from '../kernel/ids.ts'
import type { Tables } from '../platform/tables.ts'
import type { Post } from './post.ts'
import { fromPostRow, postsById } from './post-tables.ts'
import { judge, type Place, type SightFacts } from './visibility.ts'

/** Which of the posts the viewer has hidden, in their order. */
export type HiddenReader = (
  viewer: AccountId,
  ids: readonly PostId[],
) => Promise<readonly boolean[]>

export interface SightDependencies {
  readonly tables: Tables
  readonly accounts: Pick<AccountService, 'byIds'>
  readonly graph: Pick<GraphService, 'ties'>
  readonly hidden?: HiddenReader
}

export interface Looking {
  readonly viewer: AccountId | undefined
  readonly place: Place
}

type PostsById = ReadonlyMap<PostId, Post>

interface Surroundings {
  readonly authors: ReadonlyMap<AccountId, Account>
  readonly ties: ReadonlyMap<AccountId, Tie>
  readonly hidden: ReadonlySet<PostId>
}

export class Sight {
  readonly #own: SightDependencies

  constructor(dependencies: SightDependencies) {
    this.#own = dependencies
  }

  /** As they are stored, deleted ones too, for nobody's eyes; in the order of the ids. */
  async facts(ids: readonly PostId[]): Promise<(Post | undefined)[]> {
    if (ids.length === 0) return []
    const rows = await this.#own.tables.getMany(
      postsById,
      ids.map((id) => ({ id })),
    )
    return rows.map((row) => row && fromPostRow(row))
  }

  async fact(id: PostId): Promise<Post | undefined> {
    const [post] = await this.facts([id])
    return post
  }

  /** Those that may be seen, in the order of the ids; at most 500. */
  async see(looking: Looking, ids: readonly PostId[]): Promise<(Post | undefined)[]> {
    const posts = await this.#withOriginals(ids)
    const around = await this.#surroundings(looking, [...posts.values()])
    const isSeen = (id: PostId): boolean => {
      const post = posts.get(id)
      return post !== undefined && judge(sightFacts(post, looking, around)) === 'visible'
    }
    return ids.map((id) => {
      const post = posts.get(id)
      const original = post?.isReshare ? post.original : undefined
      return isSeen(id) && (!original || isSeen(original.id)) ? post : undefined
    })
  }

  /** What to answer or reshare when this post is named: a reshare stands for its original. */
  async target(viewer: AccountId, id: PostId, field: string): Promise<Post> {
    const [post] = await this.see({ viewer, place: 'direct' }, [id])
    const original = post?.isReshare ? post.original : undefined
    const found = original ? await this.fact(original.id) : post
    if (!found) throw noSuchPost(field)
    return found
  }

  /** Whether anything of an author can be seen at all: spares reading a list in vain. */
  async mayList(viewer: AccountId | undefined, author: AccountId): Promise<boolean> {
    const [accounts, ties] = await Promise.all([
      this.#authors([author]),
      this.#ties(viewer, [author]),
    ])
    const account = accounts.get(author)
    const facts = {
      ...{ viewer, author, tie: ties.get(author) ?? NO_TIE, place: 'direct' as const },
      ...{ visibility: 'PUBLIC' as const, isDeleted: account === undefined, isHidden: false },
      authorIsPrivate: account?.isPrivate ?? true,
    }
    return judge(facts) === 'visible'
  }

  async #withOriginals(ids: readonly PostId[]): Promise<PostsById> {
    const posts = byId(await this.facts(distinct(ids)))
    const missing = distinct(
      [...posts.values()].flatMap(({ isReshare, original }) =>
        isReshare && original && !posts.has(original.id) ? [original.id] : [],
      ),
    )
    return new Map([...posts, ...byId(await this.facts(missing))])
  }

  async #surroundings(looking: Looking, posts: readonly Post[]): Promise<Surroundings> {
    const { viewer, place } = looking
    const authorIds = distinct(posts.map(({ authorId }) => authorId))
    const ids = posts.map(({ id }) => id)
    const [authors, ties, hidden] = await Promise.all([
      this.#authors(authorIds),
      this.#ties(viewer, authorIds),
      place === 'feed' ? this.#hidden(viewer, ids) : NOTHING_HIDDEN,
    ])
    return { authors, ties, hidden }
  }

  async #authors(ids: readonly AccountId[]): Promise<Surroundings['authors']> {
    if (ids.length === 0) return new Map()
    const found = await this.#own.accounts.byIds(ids)
    return new Map(found.flatMap((account) => (account ? [[account.id, account]] : [])))
  }

  async #ties(
    viewer: AccountId | undefined,
    authors: readonly AccountId[],
  ): Promise<Surroundings['ties']> {
    const others = authors.filter((author) => author !== viewer)
    if (viewer === undefined || others.length === 0) return new Map()
    const ties = await this.#own.graph.ties(viewer, others)
    return new Map(others.map((other, index) => [other, ties[index] ?? NO_TIE]))
  }

  async #hidden(
    viewer: AccountId | undefined,
    ids: readonly PostId[],
  ): Promise<Surroundings['hidden']> {
    if (viewer === undefined || ids.length === 0) return NOTHING_HIDDEN
    const read: HiddenReader = this.#own.hidden ?? hidesNothing
    const flags: readonly boolean[] = await read(viewer, ids)
    return new Set(ids.filter((_id, index) => flags[index]))
  }
}

const NOTHING_HIDDEN: ReadonlySet<PostId> = new Set()
const hidesNothing: HiddenReader = async () => []

/** The same words for what is not there and what is not for this viewer. */
export const noSuchPost = (field = 'postId'): NotFoundError =>
  new NotFoundError('there is no such post, or it is not for you', { field })

const sightFacts = (post: Post, { viewer, place }: Looking, around: Surroundings): SightFacts => {
  const author = around.authors.get(post.authorId)
  return {
    ...{ viewer, place, author: post.authorId, visibility: post.visibility },
    authorIsPrivate: author?.isPrivate ?? true,
    tie: around.ties.get(post.authorId) ?? NO_TIE,
    isDeleted: post.deletedAt !== undefined || author === undefined,
    isHidden: around.hidden.has(post.id),
  }
}

const byId = (posts: readonly (Post | undefined)[]): PostsById =>
  new Map(posts.flatMap((post) => (post ? [[post.id, post]] : [])))

const distinct = <Value>(values: readonly Value[]): Value[] => [...new Set(values)]
