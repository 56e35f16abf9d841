/**
 * Engagement: what people do with posts (ENG-1, 2). Like, save, hide, report; the door of the module.
 *
 * Each is a state of one actor and one post, on or off, in a row of its own: done again it changes
 * nothing, and what an actor does next stands over what they did before, whatever the clocks of the
 * servers say (version.ts). The row is written in one commit with its event. Likes are counted from the
 * event, and at once in the call, so that who likes reads it; both count the same by its version.
 *
 * To act on a post one must be able to see it. To undo one need not: who was blocked may still take
 * back a like. A reshare without words stands for its original, which is what is liked, saved or
 * reported; hidden is the reshare itself.
 */
import { NotFoundError } from '../kernel/errors.ts'
import type { Data, EngagementChanged } from '../kernel/events.ts'
import type { AccountId, IdGenerator, PostId } from '../kernel/ids.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import type { Values } from '../kernel/settings.ts'
import type { Clock } from '../platform/clock.ts'
import type { Commit } from '../platform/commit.ts'
import type { Counts } from '../platform/counts.ts'
import type { PartedLists } from '../platform/parted-lists.ts'
import type { Tables } from '../platform/tables.ts'
import type { TallyChange } from '../platform/tallies.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import type { Original, Post, PostService } from '../post/post.ts'
import { type ComplaintInput, checkComplaint, isSameComplaint } from './complaint.ts'
import {
  changedEvent,
  changeWrites,
  type Engagement,
  engagements,
  fromEngagementRow,
  type Kind,
  savesList,
} from './engagement-tables.ts'
import type { Marks, PostMarks } from './marks.ts'
import { type Saved, SavedPosts } from './saved-posts.ts'
import type { engagementSettings } from './settings.ts'
import { versionAfter } from './version.ts'

export { REASONS, type Reason } from './complaint.ts'
export { Marks, NO_MARKS, type PostMarks } from './marks.ts'
export type { Saved } from './saved-posts.ts'

/** What can be turned on and off. A report cannot be taken back. */
export type MarkKind = Exclude<Kind, 'report'>

export interface EngagementDependencies {
  readonly tables: Tables
  readonly commit: Commit
  readonly counts: Counts
  readonly lists: PartedLists
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly telemetry: Telemetry
  readonly marks: Marks
  readonly posts: Pick<PostService, 'byIds' | 'facts'>
  readonly settings: Values<typeof engagementSettings>
}

/** What an actor acts on when a post is named. */
export const actedOn = (kind: Kind, post: Post): Original =>
  post.isReshare && post.original && kind !== 'hide' ? post.original : post

interface Place {
  readonly actorId: AccountId
  readonly postId: PostId
  readonly kind: Kind
}

export class EngagementService {
  readonly #own: EngagementDependencies
  readonly #saved: SavedPosts

  constructor(dependencies: EngagementDependencies) {
    this.#own = dependencies
    this.#saved = new SavedPosts(dependencies)
  }

  /** Likes, saves or hides a post that the actor can see. */
  async mark(actorId: AccountId, kind: MarkKind, named: PostId): Promise<void> {
    const { id: postId, authorId } = await this.#visible(actorId, kind, named)
    const place = { actorId, postId, kind }
    const current = await this.#current(place)
    if (!current?.isOn) await this.#change({ ...place, authorId, isOn: true }, current)
  }

  /** Takes it back, whether or not the post can be seen any more. */
  async unmark(actorId: AccountId, kind: MarkKind, named: PostId): Promise<void> {
    const [post] = await this.#own.posts.facts([named])
    if (!post) return
    const { id: postId, authorId } = actedOn(kind, post)
    const place = { actorId, postId, kind }
    const current = await this.#current(place)
    if (current?.isOn) await this.#change({ ...place, authorId, isOn: false }, current)
  }

  /** Reports a post that the actor can see; once more with other words replaces them. */
  async report(actorId: AccountId, named: PostId, input: ComplaintInput): Promise<void> {
    const kind = 'report'
    const complaint = checkComplaint(input, this.#own.settings.noteMax)
    const { id: postId, authorId } = await this.#visible(actorId, kind, named)
    const place = { actorId, postId, kind } as const
    const current = await this.#current(place)
    if (current?.isOn && isSameComplaint(current.complaint, complaint)) return
    await this.#change({ ...place, authorId, isOn: true, complaint }, current)
  }

  /** What a viewer has done with these posts, in their order. */
  marksOf(viewer: AccountId | undefined, posts: readonly PostId[]): Promise<PostMarks[]> {
    return this.#own.marks.of(viewer, posts)
  }

  likeCounts(posts: readonly PostId[]): Promise<number[]> {
    return this.#own.counts.totals(posts, 'likes')
  }

  /** The posts that the actor has saved and can still see, newest save first. */
  savedPosts(actorId: AccountId, request: PageRequest): Promise<Page<Saved>> {
    return this.#saved.page(actorId, request)
  }

  /** Counts what an event says; again and late as well. */
  async count(data: Data<(typeof EngagementChanged)['fields']>): Promise<void> {
    if (data.kind !== 'like') return
    await this.#own.counts.apply(data.postId, 'likes', [likeChange(data)])
  }

  /** The same answer for what does not exist and for what the actor may not see. */
  async #visible(actorId: AccountId, kind: Kind, named: PostId): Promise<Original> {
    const [post] = await this.#own.posts.byIds(actorId, [named])
    if (!post) throw new NotFoundError('there is no such post', { field: 'postId' })
    return actedOn(kind, post)
  }

  async #current(place: Place): Promise<Engagement | undefined> {
    const row = await this.#own.tables.get(engagements, place)
    return row && fromEngagementRow(row)
  }

  async #change(
    wanted: Omit<Engagement, 'version' | 'changedAt' | 'part'>,
    current: Engagement | undefined,
  ): Promise<void> {
    const { commit, clock, ids } = this.#own
    const id = ids.next<'event'>()
    const version = versionAfter(id, { current: current?.version, isOn: wanted.isOn })
    const part = await this.#partOf(wanted, current)
    const next: Engagement = { ...wanted, version, part, changedAt: clock.now() }
    await commit.commit(changeWrites(next, current), [changedEvent(id, next)])
    await this.#followUp(next)
  }

  async #partOf(
    { actorId, kind, isOn }: Pick<Engagement, 'actorId' | 'kind' | 'isOn'>,
    current: Engagement | undefined,
  ): Promise<number> {
    if (kind !== 'save' || !isOn) return current?.part ?? 0
    return await this.#own.lists.openPart(savesList, actorId)
  }

  /** The change stands: what fails here is mended by its event, or by the next save. */
  async #followUp({ actorId, postId, kind, isOn, version, part }: Engagement): Promise<void> {
    const { counts, lists, telemetry } = this.#own
    if (kind === 'like') {
      const change = likeChange({ actorId, on: isOn, version })
      await counts.anticipate(postId, 'likes', [change])
    }
    if (kind !== 'save' || !isOn) return
    try {
      await lists.added(savesList, { owner: actorId, part, version })
    } catch (error) {
      telemetry.log.warn({ err: error }, 'a list of saves was not measured')
    }
  }
}

const likeChange = ({
  actorId,
  on,
  version,
}: {
  readonly actorId: bigint
  readonly on: boolean
  readonly version: bigint
}): TallyChange => ({ member: actorId, contribution: on ? 1 : 0, version })
