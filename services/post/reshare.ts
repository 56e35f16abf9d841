/**
 * Reshares without words: at most one of an actor and an original at a time (POS-3).
 *
 * Whether there is one, and by which post, is decided by a conditional write of one row for the two;
 * the post, or its end, follows in a commit as changes.ts has it. What was taken back and is reshared
 * again is a new post, so that it comes anew to those who follow.
 */
import type { AccountService } from '../accounts/accounts.ts'
import { DamagedError, ForbiddenError, UnavailableError } from '../kernel/errors.ts'
import {
  type AccountId,
  arrivalMs,
  type EventId,
  type IdGenerator,
  type PostId,
  parseId,
} from '../kernel/ids.ts'
import type { Clock } from '../platform/clock.ts'
import type { Commit } from '../platform/commit.ts'
import { letOthersPass } from '../platform/contention.ts'
import type { Pending } from '../platform/pending.ts'
import type { Tables } from '../platform/tables.ts'
import { NO_CONTENT } from './content.ts'
import type { Original, Post } from './post.ts'
import { createdEvent, deletedEvent } from './post-events.ts'
import type { PostMetrics } from './post-metrics.ts'
import {
  createdWrites,
  fromReshareRow,
  reshareColumns,
  reshares,
  standingWrites,
} from './post-tables.ts'
import type { Sight } from './sight.ts'
import { isForEverybody } from './visibility.ts'

export const RESHARE_TASK = 'reshare'

const ROUNDS_MAX = 24

export interface ReshareDecision {
  readonly actorId: AccountId
  readonly original: Original
  readonly version: bigint
  readonly isOn: boolean
  /** The post that shows it, or did. */
  readonly postId: PostId
  readonly decidedAt: number
  /** Of what announces it: that of the post, or of its deletion. */
  readonly eventId: EventId
}

export interface ReshareDependencies {
  readonly tables: Tables
  readonly commit: Commit
  readonly pending: Pending
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly accounts: Pick<AccountService, 'byIds'>
  readonly sight: Sight
  readonly metrics: PostMetrics
}

interface Wanted {
  readonly actorId: AccountId
  readonly original: Original
  readonly isOn: boolean
  /** The one reshare that is meant; one made since stands. */
  readonly shownBy?: PostId | undefined
}

export class Reshares {
  readonly #own: ReshareDependencies

  constructor(dependencies: ReshareDependencies) {
    this.#own = dependencies
    dependencies.pending.resumes(RESHARE_TASK, async (subject) => {
      await this.#standing(parseSubject(subject))
    })
  }

  /** The post that shows the reshare: the one there is, or a new one. */
  async reshare(actorId: AccountId, id: PostId): Promise<Post> {
    const original = await this.#own.sight.target(actorId, id, 'postId')
    await checkResharable(this.#own.accounts, actorId, original)
    const decision = await this.#settle({ actorId, original: refOf(original), isOn: true })
    return postOf(decision)
  }

  /**
   * Takes the reshare back, or only the one that a post shows; says by which post it was shown. A post
   * of the past takes nothing back.
   */
  async unreshare(
    actorId: AccountId,
    original: Original,
    shownBy?: PostId,
  ): Promise<PostId | undefined> {
    const key = { actorId, originalId: original.id }
    const row = await this.#own.tables.get(reshares, key, { serial: true })
    if (!row) return undefined
    const decision = await this.#settle({ actorId, original, isOn: false, shownBy })
    return decision.isOn ? undefined : decision.postId
  }

  /** Which of the posts the actor has reshared, in their order. */
  async areReshared(actorId: AccountId, ids: readonly PostId[]): Promise<boolean[]> {
    if (ids.length === 0) return []
    const rows = await this.#own.tables.getMany(
      reshares,
      ids.map((originalId) => ({ actorId, originalId })),
    )
    return rows.map((row) => row?.isOn ?? false)
  }

  #settle(wanted: Wanted): Promise<ReshareDecision> {
    const { actorId, original } = wanted
    const task = { kind: RESHARE_TASK, subject: `${actorId}:${original.id}` }
    return this.#own.pending.follow(task, () => this.#decideAndFollow(wanted))
  }

  async #decideAndFollow(wanted: Wanted): Promise<ReshareDecision> {
    const { metrics } = this.#own
    const name = nameOf(wanted)
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const standing = await this.#standing(wanted)
      if (standing && isSettled(standing, wanted)) {
        metrics.changed(name, 'same')
        return standing
      }
      const next = this.#decide(wanted, standing)
      const isMade = await this.#write(standing, next)
      metrics.changed(name, isMade ? 'made' : 'overtaken')
      if (isMade) {
        await this.#follow(next)
        return next
      }
      await letOthersPass(round + 1)
    }
    throw new UnavailableError('this reshare is changed all the time: try again')
  }

  #decide(
    { actorId, original, isOn }: Wanted,
    standing: ReshareDecision | undefined,
  ): ReshareDecision {
    const { ids, clock } = this.#own
    const fresh = ids.next<'post'>()
    const version = standing && standing.version >= fresh ? standing.version + 1n : fresh
    const postId = isOn ? fresh : (standing?.postId ?? fresh)
    return {
      ...{ actorId, original, isOn, version, postId, decidedAt: clock.now() },
      eventId: fresh as bigint as EventId,
    }
  }

  async #write(standing: ReshareDecision | undefined, next: ReshareDecision): Promise<boolean> {
    const { tables } = this.#own
    const key = { actorId: next.actorId, originalId: next.original.id }
    const columns = reshareColumns(next)
    const outcome = standing
      ? await tables.compareAndSet(reshares, key, {
          expected: { version: standing.version },
          next: columns,
        })
      : await tables.insertIfAbsent(reshares, { ...key, ...columns })
    return outcome.applied
  }

  /** What stands decided, with all written that follows from it. */
  async #standing({
    actorId,
    original,
  }: {
    readonly actorId: AccountId
    readonly original: Pick<Original, 'id'>
  }): Promise<ReshareDecision | undefined> {
    const { tables, sight } = this.#own
    const key = { actorId, originalId: original.id }
    const row = await tables.get(reshares, key, { serial: true })
    if (!row) return undefined
    const decision = fromReshareRow(row)
    const post = await sight.fact(decision.postId)
    const isFollowed = decision.isOn ? post !== undefined : post?.deletedAt !== undefined
    if (!isFollowed) {
      await this.#follow(decision)
      this.#own.metrics.changed(nameOf(decision), 'finished')
    }
    return decision
  }

  async #follow(decision: ReshareDecision): Promise<void> {
    const { commit } = this.#own
    const post = postOf(decision)
    if (decision.isOn) return await commit.commit(createdWrites(post), [createdEvent(post)])
    const envelope = { id: decision.eventId, at: decision.decidedAt }
    await commit.commit(standingWrites(post), [deletedEvent(post, envelope)])
  }
}

const nameOf = ({ isOn }: Pick<Wanted, 'isOn'>): string => (isOn ? 'reshare' : 'unreshare')

const isSettled = ({ isOn, postId }: ReshareDecision, wanted: Wanted): boolean =>
  isOn === wanted.isOn || (wanted.shownBy !== undefined && wanted.shownBy !== postId)

/** Only what everybody may see is passed on by others; one's own always. */
export const checkResharable = async (
  accounts: Pick<AccountService, 'byIds'>,
  actor: AccountId,
  { authorId, visibility }: Post,
): Promise<void> => {
  if (authorId === actor) return
  const [author] = await accounts.byIds([authorId])
  if (isForEverybody({ visibility, authorIsPrivate: author?.isPrivate ?? true })) return
  throw new ForbiddenError('only posts that everybody may see can be reshared', {
    field: 'postId',
  })
}

/** Made of the decision alone, so that it comes out the same when it is made again. */
const postOf = ({ actorId, original, isOn, postId, decidedAt }: ReshareDecision): Post => ({
  ...{ id: postId, version: postId, authorId: actorId, orderedAt: arrivalMs(postId) },
  ...{ visibility: 'PUBLIC', content: NO_CONTENT, original, isReshare: true, edits: 0 },
  ...(isOn ? {} : { deletedAt: decidedAt }),
})

const refOf = ({ id, authorId }: Post): Original => ({ id, authorId })

const parseSubject = (subject: string) => {
  const [actor, original] = subject.split(':')
  if (actor === undefined || original === undefined) {
    throw new DamagedError(`a pending reshare names no pair: ${subject}`)
  }
  return {
    actorId: parseId<'account'>(actor),
    original: { id: parseId<'post'>(original) },
  }
}
