/**
 * Posts: what people say, and who may see it (POS-1, 2, 3).
 *
 * The door of the module. Everything that hands out posts takes the viewer and judges each post for
 * them (visibility.ts); `facts` alone does not, and is for other modules, never for people's eyes.
 */
import type { AccountService } from '../accounts/accounts.ts'
import type { GraphService } from '../graph/graph.ts'
import { BadInputError } from '../kernel/errors.ts'
import type { AccountId, IdGenerator, PostId } from '../kernel/ids.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import type { Values } from '../kernel/settings.ts'
import type { Clock } from '../platform/clock.ts'
import type { Commit } from '../platform/commit.ts'
import type { Counts } from '../platform/counts.ts'
import type { PartedLists } from '../platform/parted-lists.ts'
import type { Pending } from '../platform/pending.ts'
import { SLICE_MAX, type Tables, VERSION_MAX } from '../platform/tables.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { Changes } from './changes.ts'
import { type Content, isEmpty } from './content.ts'
import { Creation } from './creation.ts'
import type { Change } from './decision.ts'
import { checkDraft, checkWriting, type PostInput } from './draft.ts'
import { PostLists } from './lists.ts'
import { PostMetrics } from './post-metrics.ts'
import { fromHistoryRow, postHistory } from './post-tables.ts'
import { Reshares } from './reshare.ts'
import type { postSettings } from './settings.ts'
import { type HiddenReader, noSuchPost, Sight } from './sight.ts'
import type { Place, Visibility } from './visibility.ts'

export type { PostId } from '../kernel/ids.ts'
export type { Content, Mention } from './content.ts'
export type { PostInput } from './draft.ts'
export { authorPosition, replyPosition } from './lists.ts'
export type { HiddenReader } from './sight.ts'
export { type Place, VISIBILITIES, type Visibility } from './visibility.ts'

/** Another post, and whose it is. */
export interface Original {
  readonly id: PostId
  readonly authorId: AccountId
}

export interface ReplyTo extends Original {
  /** The post that began the thread. */
  readonly rootId: PostId
  /** The part of the replies that lists it. */
  readonly part: number
}

export interface Post {
  readonly id: PostId
  /** Rises with every change. */
  readonly version: bigint
  readonly authorId: AccountId
  /** Its place in time, ms since 1970: when its author says it was written, at most. */
  readonly orderedAt: number
  readonly visibility: Visibility
  readonly content: Content
  readonly replyTo?: ReplyTo
  /** What it reshares, or quotes. */
  readonly original?: Original
  /** Without words of its own: it stands for its original. */
  readonly isReshare: boolean
  readonly edits: number
  readonly editedAt?: number
  readonly deletedAt?: number
}

/** What a post said before an edit. */
export interface Revision {
  readonly text: string
  readonly link?: string
  readonly writtenAt: number
}

/** What is not named, or null, stays as it is; an empty text takes away. */
export interface PostChanges {
  readonly text?: string | null | undefined
  readonly link?: string | null | undefined
}

export interface PostDependencies {
  readonly tables: Tables
  readonly commit: Commit
  readonly pending: Pending
  readonly lists: PartedLists
  readonly counts: Pick<Counts, 'apply' | 'totals'>
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly telemetry: Telemetry
  readonly accounts: Pick<AccountService, 'byIds' | 'byHandles'>
  readonly graph: Pick<GraphService, 'ties'>
  /** Who knows what a viewer has hidden; nobody, where it is left out. */
  readonly hidden?: HiddenReader
  readonly settings: Values<typeof postSettings>
}

/** What is counted of a post: as its events say. */
export interface CountedPost {
  readonly postId: bigint
  readonly authorId: bigint
  readonly replyToId?: bigint | undefined
  readonly originalId?: bigint | undefined
}

export class PostService {
  readonly #own: PostDependencies
  readonly #sight: Sight
  readonly #metrics: PostMetrics
  readonly #creation: Creation
  readonly #changes: Changes
  readonly #reshares: Reshares
  readonly #lists: PostLists

  constructor(dependencies: PostDependencies) {
    this.#own = dependencies
    this.#sight = new Sight(dependencies)
    this.#metrics = new PostMetrics(dependencies.telemetry)
    const seeing = { ...dependencies, sight: this.#sight, metrics: this.#metrics }
    this.#creation = new Creation(seeing)
    this.#changes = new Changes(seeing)
    this.#reshares = new Reshares(seeing)
    this.#lists = new PostLists(seeing)
  }

  /** Makes a post, a reply, a quote or a reshare; the same key and draft again give the same post. */
  async create(author: AccountId, input: PostInput): Promise<Post> {
    const draft = checkDraft(input, this.#own.settings)
    const { reshareOfId, visibility } = draft
    if (isEmpty(draft) && reshareOfId !== undefined) {
      if (visibility === 'PUBLIC') return await this.reshare(author, reshareOfId)
      throw new BadInputError('a reshare without words is PUBLIC', { field: 'visibility' })
    }
    const post = await this.#creation.create(author, draft, input.idempotencyKey ?? undefined)
    this.#metrics.made(post)
    await this.#countRelations(post)
    return post
  }

  /** Its author's alone. The texts it had before are kept. */
  async edit(actor: AccountId, id: PostId, { text, link }: PostChanges): Promise<Post> {
    await this.#ownChangeable(actor, id)
    const writing = checkWriting({ text, link }, this.#own.settings)
    const { hashtags } = writing.pointers
    const change: Change = {
      name: 'edit',
      ...(text == null
        ? {}
        : {
            writing: {
              text: writing.text,
              mentions: await this.#creation.mentions(writing),
              hashtags,
            },
          }),
      ...(link == null ? {} : { link: { to: writing.link } }),
    }
    return await this.#changes.change(id, change)
  }

  async changeVisibility(actor: AccountId, id: PostId, visibility: Visibility): Promise<Post> {
    await this.#ownChangeable(actor, id)
    return await this.#changes.change(id, { name: 'visibility', visibility })
  }

  /** For good; a deleted post is deleted again without effect. */
  async delete(actor: AccountId, id: PostId): Promise<void> {
    const post = await this.#changes.own(actor, id)
    if (post.isReshare && post.original) await this.#reshares.unreshare(actor, post.original, id)
    else await this.#changes.change(id, { name: 'delete' })
    await this.#countRelations({ ...post, deletedAt: this.#own.clock.now() })
  }

  /** One of an actor and a post: again it gives the same. A reshare stands for its original. */
  async reshare(actor: AccountId, id: PostId): Promise<Post> {
    const post = await this.#reshares.reshare(actor, id)
    this.#metrics.made(post)
    await this.#countRelations(post)
    return post
  }

  /** Takes the reshare of a post back, whether or not the post can still be seen. */
  async unreshare(actor: AccountId, id: PostId): Promise<void> {
    const post = await this.#sight.fact(id)
    const original = post?.isReshare ? post.original : post
    const shownBy = post?.isReshare && post.authorId === actor ? id : undefined
    const shown = original && (await this.#reshares.unreshare(actor, original, shownBy))
    if (!shown) return void (await this.#seen(actor, id))
    await this.#countRelations({ id: shown, original, deletedAt: this.#own.clock.now() })
  }

  /** Those that the viewer may see, in the order of the ids. */
  byIds(viewer: AccountId | undefined, ids: readonly PostId[]): Promise<(Post | undefined)[]> {
    return this.visible(viewer, ids, 'direct')
  }

  /** The same for a place: a feed leaves out what the viewer mutes and hides. */
  visible(
    viewer: AccountId | undefined,
    ids: readonly PostId[],
    place: Place,
  ): Promise<(Post | undefined)[]> {
    return this.#sight.see({ viewer, place }, ids)
  }

  /** As they are stored, deleted ones too: for other modules, not for people's eyes. */
  facts(ids: readonly PostId[]): Promise<(Post | undefined)[]> {
    return this.#sight.facts(ids)
  }

  /** Newest first, with replies and reshares. */
  ofAuthor(
    viewer: AccountId | undefined,
    author: AccountId,
    page: PageRequest,
  ): Promise<Page<Post>> {
    return this.#lists.ofAuthor(viewer, author, page)
  }

  /** Oldest first. */
  async repliesOf(
    viewer: AccountId | undefined,
    id: PostId,
    page: PageRequest,
  ): Promise<Page<Post>> {
    await this.#seen(viewer, id)
    return await this.#lists.repliesOf(viewer, id, page)
  }

  /** What it said before its edits, the newest first. */
  async history(viewer: AccountId | undefined, id: PostId): Promise<readonly Revision[]> {
    const { edits } = await this.#seen(viewer, id)
    if (edits === 0) return []
    const { tables } = this.#own
    const rows = await tables.slice(postHistory, { postId: id }, { limit: SLICE_MAX })
    return rows.flatMap((row) => fromHistoryRow(row) ?? [])
  }

  /** Which of the posts the actor has reshared without words, in their order. */
  areReshared(actor: AccountId, ids: readonly PostId[]): Promise<boolean[]> {
    return this.#reshares.areReshared(actor, ids)
  }

  /** How many replies and reshares posts have, in their order. */
  countsOf(ids: readonly PostId[], kind: 'replies' | 'reshares'): Promise<number[]> {
    return this.#own.counts.totals(ids, kind)
  }

  /** How many posts authors have, in their order. */
  postCounts(authors: readonly AccountId[]): Promise<number[]> {
    return this.#own.counts.totals(authors, 'posts')
  }

  /** Counts a post, or its end, wherever it counts; as often as one likes. */
  async count(post: CountedPost, state: 'made' | 'deleted'): Promise<void> {
    const change = tallyChange(post.postId, state)
    const { counts } = this.#own
    await Promise.all([
      counts.apply(post.authorId, 'posts', [change]),
      post.replyToId === undefined ? undefined : counts.apply(post.replyToId, 'replies', [change]),
      post.originalId === undefined
        ? undefined
        : counts.apply(post.originalId, 'reshares', [change]),
    ])
  }

  /**
   * Counts a reply or a reshare where it shows at once, so that who made it sees it counted. The
   * worker counts everything once more: what fails here is not lost.
   */
  async #countRelations(
    post: Pick<Post, 'id' | 'replyTo' | 'original' | 'deletedAt'>,
  ): Promise<void> {
    const { counts, telemetry } = this.#own
    const change = tallyChange(post.id, post.deletedAt === undefined ? 'made' : 'deleted')
    try {
      await Promise.all([
        post.replyTo && counts.apply(post.replyTo.id, 'replies', [change]),
        post.original && counts.apply(post.original.id, 'reshares', [change]),
      ])
    } catch (error) {
      telemetry.log.warn({ err: error }, 'a reply or reshare is counted later')
    }
  }

  async #seen(viewer: AccountId | undefined, id: PostId): Promise<Post> {
    const [post] = await this.byIds(viewer, [id])
    if (!post) throw noSuchPost()
    return post
  }

  async #ownChangeable(actor: AccountId, id: PostId): Promise<void> {
    const post = await this.#changes.own(actor, id)
    if (post.deletedAt !== undefined) throw noSuchPost()
    if (!post.isReshare) return
    throw new BadInputError('a reshare without words can only be taken back', { field: 'postId' })
  }
}

/** Nothing counts a deleted post again: no version is above it. */
const tallyChange = (member: bigint, state: 'made' | 'deleted') =>
  state === 'made'
    ? ({ member, contribution: 1, version: member } as const)
    : ({ member, contribution: 0, version: VERSION_MAX } as const)
