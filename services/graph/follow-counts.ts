/**
 * What a follow adds to, or takes from: the counts of both, the mode of who is followed, and the
 * parts of the lists it lies in.
 *
 * `noted` never rejects. The counts are applied again from the event; a mode is looked at again at
 * the next follow or post; a part is measured again by a later entry.
 */
import type { Data, FollowChanged } from '../kernel/events.ts'
import type { AccountId } from '../kernel/ids.ts'
import type { Counts } from '../platform/counts.ts'
import type { PartedLists } from '../platform/parted-lists.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import type { AuthorModes } from './author-modes.ts'
import { followersList, followingList, requestsList } from './graph-tables.ts'
import { type End, type Follow, otherEnd, type Relation } from './relation.ts'

export type FollowData = Data<(typeof FollowChanged)['fields']>

export interface FollowCountsOptions {
  readonly counts: Counts
  readonly modes: AuthorModes
  readonly lists: PartedLists
  readonly telemetry: Telemetry
}

export class FollowCounts {
  readonly #options: FollowCountsOptions

  constructor(options: FollowCountsOptions) {
    this.#options = options
  }

  /** To be told when a follow, a request or its end can be read. */
  async noted(relation: Relation, by: End): Promise<void> {
    const { follow } = relation.sides[by]
    const [follower, followed] = [relation[by], relation[otherEnd(by)]]
    await Promise.all([
      this.#count(follow, follower, followed),
      this.#measure(follow, follower, followed),
    ])
  }

  /** Counts what an event says; again and late as well. */
  async count({ followerId, followedId, state, version }: FollowData): Promise<void> {
    const { counts } = this.#options
    // A request counts for nothing; but the end of a follow before it may never have been announced.
    const contribution = state === 'following' ? 1 : 0
    await Promise.all([
      counts.apply(followedId, 'followers', [{ member: followerId, contribution, version }]),
      counts.apply(followerId, 'following', [{ member: followedId, contribution, version }]),
    ])
  }

  async #count(follow: Follow, follower: AccountId, followed: AccountId): Promise<void> {
    const { counts, modes } = this.#options
    const { state, version } = follow
    if (!follow.followed) return
    const contribution = state === 'following' ? 1 : 0
    await Promise.all([
      counts.anticipate(followed, 'followers', [{ member: follower, contribution, version }]),
      counts.anticipate(follower, 'following', [{ member: followed, contribution, version }]),
    ])
    await this.#try('the mode of an author', () => modes.evaluate(followed))
  }

  async #measure(follow: Follow, follower: AccountId, followed: AccountId): Promise<void> {
    const { lists } = this.#options
    const { state, version, requested, followed: place } = follow
    if (state === 'requested' && requested) {
      const entry = { owner: followed, part: requested.part, version }
      await this.#try('requests', () => lists.added(requestsList, entry))
    }
    if (state !== 'following' || !place) return
    const mine = { owner: follower, part: place.followingPart, version }
    const theirs = { owner: followed, part: place.followersPart, version }
    await Promise.all([
      this.#try('following', () => lists.added(followingList, mine)),
      this.#try('followers', () => lists.added(followersList, theirs)),
    ])
  }

  async #try(what: string, step: () => Promise<unknown>): Promise<void> {
    try {
      await step()
    } catch (error) {
      this.#options.telemetry.log.warn(
        { err: error, what },
        'what a follow entails is left for later',
      )
    }
  }
}
