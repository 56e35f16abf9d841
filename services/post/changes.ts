/**
 * Changing a post: edit, visibility, deletion (POS-3).
 *
 * A change is decided by a conditional write of the one row that holds all that can change, so of two
 * at once neither loses the other's: whoever comes second decides again upon what the first has made
 * of the post. Then the copies, the history and the event follow in a commit; if a crash prevents it,
 * whoever comes next does it, the sweep at the latest. No change is decided before what follows from
 * the last one is written: nothing of it is skipped, neither a text of the history nor an event.
 *
 * A deletion is the last decision. Its copies stand above any version and carry no text.
 */
import { ForbiddenError, UnavailableError } from '../kernel/errors.ts'
import type { Event } from '../kernel/events.ts'
import { type AccountId, arrivalMs, type IdGenerator, type PostId, parseId } from '../kernel/ids.ts'
import type { Clock } from '../platform/clock.ts'
import type { Commit } from '../platform/commit.ts'
import { letOthersPass } from '../platform/contention.ts'
import type { Pending } from '../platform/pending.ts'
import type { Tables } from '../platform/tables.ts'
import { type Change, type Decision, decide, type PostState } from './decision.ts'
import type { PostLimits } from './draft.ts'
import type { Post } from './post.ts'
import { deletedEvent, editedEvent, visibilityEvent } from './post-events.ts'
import type { ChangeOutcome, PostMetrics } from './post-metrics.ts'
import {
  changeColumns,
  fromChangeRow,
  historyWrites,
  postChanges,
  standingWrites,
} from './post-tables.ts'
import { noSuchPost, type Sight } from './sight.ts'

export const POST_TASK = 'post'

/** Each round that is lost was won by another. */
const ROUNDS_MAX = 24

export interface ChangeDependencies {
  readonly tables: Tables
  readonly commit: Commit
  readonly pending: Pending
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly sight: Sight
  readonly metrics: PostMetrics
  readonly settings: PostLimits
}

/** A post as it stands decided, and by what. */
interface Standing {
  readonly post: Post
  readonly decision: Decision | undefined
}

export class Changes {
  readonly #own: ChangeDependencies

  constructor(dependencies: ChangeDependencies) {
    this.#own = dependencies
    dependencies.pending.resumes(POST_TASK, async (subject) => {
      await this.#standing(parseId<'post'>(subject))
    })
  }

  /** The post after the change. */
  async change(id: PostId, change: Change): Promise<Post> {
    const task = { kind: POST_TASK, subject: String(id) }
    return await this.#own.pending.follow(task, () => this.#decideAndFollow(id, change))
  }

  /** The actor's own post, deleted or not. Another's is refused if it can be seen at all. */
  async own(actor: AccountId, id: PostId): Promise<Post> {
    const post = await this.#own.sight.fact(id)
    if (post?.authorId === actor) return post
    const [seen] = await this.#own.sight.see({ viewer: actor, place: 'direct' }, [id])
    if (!seen) throw noSuchPost()
    throw new ForbiddenError('only its author changes a post', { field: 'postId' })
  }

  async #decideAndFollow(id: PostId, change: Change): Promise<Post> {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const standing = await this.#standing(id)
      if (!standing) throw noSuchPost()
      const decision = this.#decide(standing.post, change)
      const isMade = decision !== undefined && (await this.#write(standing, decision))
      this.#own.metrics.changed(change.name, outcomeOf(decision, isMade))
      if (!decision) return standing.post
      if (isMade) return await this.#follow(standing.post, decision)
      await letOthersPass(round + 1)
    }
    throw new UnavailableError('others change this post all the time: try again')
  }

  #decide(post: Post, change: Change): Decision | undefined {
    if (post.deletedAt !== undefined && change.name !== 'delete') throw noSuchPost()
    const { clock, ids, settings } = this.#own
    const eventId = ids.next<'event'>()
    // Above what stands, even if the clock here is behind that of who wrote it.
    const version = eventId > post.version ? eventId : post.version + 1n
    const { orderedAt: createdAt } = post
    const circumstances = { version, at: clock.now(), eventId, createdAt }
    return decide(post, change, { ...circumstances, editsMax: settings.editsMax })
  }

  /** Says whether it is this decision that stands. */
  async #write({ post, decision }: Standing, next: Decision): Promise<boolean> {
    const { tables } = this.#own
    const key = { postId: post.id }
    const columns = changeColumns(next)
    const outcome = decision
      ? await tables.compareAndSet(postChanges, key, {
          expected: { version: post.version },
          next: columns,
        })
      : await tables.insertIfAbsent(postChanges, { ...key, ...columns })
    return outcome.applied
  }

  /** How the post stands, with all written that follows from it. */
  async #standing(id: PostId): Promise<Standing | undefined> {
    const { tables, sight } = this.#own
    const [row, copy] = await Promise.all([
      tables.get(postChanges, { postId: id }, { serial: true }),
      sight.fact(id),
    ])
    if (!copy) return undefined
    const decision = row && fromChangeRow(row)
    const isFollowed = !decision || copy.version >= decision.state.version
    const post = decision ? changed(copy, decision.state) : copy
    if (!isFollowed) {
      await this.#follow(copy, decision)
      this.#own.metrics.changed(decision.change, 'finished')
    }
    return { post, decision }
  }

  async #follow(copy: Post, decision: Decision): Promise<Post> {
    const post = changed(copy, decision.state)
    const writes = [...standingWrites(post), ...historyWrites(post.id, decision)]
    await this.#own.commit.commit(writes, [eventOf(post, decision)])
    return post
  }
}

const outcomeOf = (decision: Decision | undefined, isMade: boolean): ChangeOutcome => {
  if (!decision) return 'same'
  return isMade ? 'made' : 'overtaken'
}

/** The post with another state: what cannot change stays. */
const changed = ({ editedAt: _edited, deletedAt: _deleted, ...post }: Post, state: PostState) => ({
  ...post,
  ...state,
})

const eventOf = (post: Post, { change, eventId, state, previous }: Decision): Event => {
  switch (change) {
    case 'edit':
      return editedEvent(post, { id: eventId, at: state.editedAt ?? previous.writtenAt })
    case 'delete':
      return deletedEvent(post, { id: eventId, at: state.deletedAt ?? previous.writtenAt })
    case 'visibility':
      return visibilityEvent(post, previous.visibility, { id: eventId, at: arrivalMs(eventId) })
  }
}
