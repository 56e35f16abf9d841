/**
 * The graph: who follows, blocks and mutes whom (GRA-1, 2, 3, 5, 7). The door of the module.
 *
 * Every change may be repeated: it ends in the same state and announces the same event. To whom an
 * account is blocked it looks as if it were not there. An account that becomes public leaves open
 * requests as they are, until they are answered or asked again; one that becomes private keeps its
 * followers.
 */
import type { Account, AccountService } from '../accounts/accounts.ts'
import {
  BadInputError,
  ConflictError,
  type DomainError,
  ForbiddenError,
  NotFoundError,
} from '../kernel/errors.ts'
import type { AccountId, IdGenerator } from '../kernel/ids.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import type { Values } from '../kernel/settings.ts'
import type { Clock } from '../platform/clock.ts'
import type { Commit } from '../platform/commit.ts'
import type { Counts } from '../platform/counts.ts'
import type { PartedLists } from '../platform/parted-lists.ts'
import type { Pending } from '../platform/pending.ts'
import type { Tables } from '../platform/tables.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { AccountLists, type Listed } from './account-lists.ts'
import { type AuthorMode, AuthorModes } from './author-modes.ts'
import { FollowCounts, type FollowData } from './follow-counts.ts'
import { type GraphChanges, GraphVersions } from './graph-changes.ts'
import type { Change, Refusal, Tie } from './relation.ts'
import { Relations } from './relations.ts'
import type { graphSettings } from './settings.ts'
import { type ListedAccount, ShownLists } from './shown-lists.ts'

export type { Mode } from './author-mode.ts'
export type { AuthorMode } from './author-modes.ts'
export type { GraphChange, GraphChanges } from './graph-changes.ts'
export { NO_TIE, type Tie } from './relation.ts'
export type { ListedAccount } from './shown-lists.ts'

export interface GraphDependencies {
  readonly tables: Tables
  readonly commit: Commit
  readonly counts: Counts
  readonly pending: Pending
  readonly lists: PartedLists
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly telemetry: Telemetry
  readonly accounts: AccountService
  readonly settings: Values<typeof graphSettings>
}

export class GraphService {
  readonly #own: GraphDependencies
  readonly #relations: Relations
  readonly #versions: GraphVersions
  readonly #modes: AuthorModes
  readonly #lists: AccountLists
  readonly #shown: ShownLists
  readonly #counts: FollowCounts

  constructor(dependencies: GraphDependencies) {
    this.#own = dependencies
    this.#versions = new GraphVersions(dependencies)
    this.#modes = new AuthorModes({
      ...dependencies,
      followersOf: async (author) => (await this.followersCounts([author]))[0] ?? 0,
    })
    this.#lists = new AccountLists(dependencies)
    this.#counts = new FollowCounts({ ...dependencies, modes: this.#modes })
    this.#relations = new Relations({
      ...dependencies,
      versions: this.#versions,
      counts: this.#counts,
    })
    this.#shown = new ShownLists({
      accounts: dependencies.accounts,
      lists: this.#lists,
      relations: this.#relations,
    })
  }

  /** Follows, or asks to where the account is private. */
  async follow(actor: AccountId, other: AccountId): Promise<Account> {
    const account = await this.#target(actor, other)
    await this.#change(actor, other, { kind: 'follow', needsConsent: account.isPrivate })
    return account
  }

  /** Also takes a request back. */
  unfollow(actor: AccountId, other: AccountId): Promise<Account> {
    return this.#apply(actor, other, { kind: 'unfollow' })
  }

  accept(actor: AccountId, requester: AccountId): Promise<Account> {
    return this.#apply(actor, requester, { kind: 'accept' })
  }

  refuse(actor: AccountId, requester: AccountId): Promise<Account> {
    return this.#apply(actor, requester, { kind: 'refuse' })
  }

  /** Ends a follow from the other end: a soft block. */
  removeFollower(actor: AccountId, follower: AccountId): Promise<Account> {
    return this.#apply(actor, follower, { kind: 'removeFollower' })
  }

  /** Ends follows and requests both ways. */
  async block(actor: AccountId, other: AccountId): Promise<Account> {
    await this.#lists.checkRoom('blocked', actor, other)
    return await this.#apply(actor, other, { kind: 'block' })
  }

  unblock(actor: AccountId, other: AccountId): Promise<Account> {
    return this.#apply(actor, other, { kind: 'unblock' })
  }

  async mute(actor: AccountId, other: AccountId): Promise<Account> {
    await this.#lists.checkRoom('muted', actor, other)
    return await this.#apply(actor, other, { kind: 'mute' })
  }

  unmute(actor: AccountId, other: AccountId): Promise<Account> {
    return this.#apply(actor, other, { kind: 'unmute' })
  }

  /** How the viewer stands to each of the others, in their order; to themselves: not at all. */
  ties(viewer: AccountId, others: readonly AccountId[]): Promise<Tie[]> {
    return this.#relations.ties(viewer, others)
  }

  /** The accounts in the order of the ids; an account is not there for whom it blocks. */
  async seenAccounts(
    viewer: AccountId | undefined,
    ids: readonly AccountId[],
  ): Promise<(Account | undefined)[]> {
    const [accounts, ties] = await Promise.all([
      this.#own.accounts.byIds(ids),
      viewer === undefined ? [] : this.ties(viewer, ids),
    ])
    return accounts.map((account, index) => (ties[index]?.blockedBy ? undefined : account))
  }

  async seenByHandle(viewer: AccountId | undefined, handle: string): Promise<Account | undefined> {
    const account = await this.#own.accounts.byHandle(handle)
    if (!account || viewer === undefined) return account
    const [tie] = await this.ties(viewer, [account.id])
    return tie?.blockedBy ? undefined : account
  }

  followersCounts(accounts: readonly AccountId[]): Promise<number[]> {
    return this.#own.counts.totals(accounts, 'followers')
  }

  followingCounts(accounts: readonly AccountId[]): Promise<number[]> {
    return this.#own.counts.totals(accounts, 'following')
  }

  /** Counts what an event says, as often as one likes. */
  count(change: FollowData): Promise<void> {
    return this.#counts.count(change)
  }

  /** Who follows the account, newest first; `undefined` where the viewer may not see that. */
  followers(
    viewer: AccountId | undefined,
    owner: AccountId,
    page: PageRequest,
  ): Promise<Page<ListedAccount> | undefined> {
    return this.#shown.openTo(viewer, { list: 'followers', owner }, page)
  }

  /** Whom the account follows, newest first; `undefined` where the viewer may not see that. */
  following(
    viewer: AccountId | undefined,
    owner: AccountId,
    page: PageRequest,
  ): Promise<Page<ListedAccount> | undefined> {
    return this.#shown.openTo(viewer, { list: 'following', owner }, page)
  }

  /** Who asks to follow the viewer, newest first. */
  requests(viewer: AccountId, page: PageRequest): Promise<Page<ListedAccount>> {
    return this.#shown.requests(viewer, page)
  }

  blocked(viewer: AccountId, page: PageRequest): Promise<Page<ListedAccount>> {
    return this.#shown.marked('blocked', viewer, page)
  }

  muted(viewer: AccountId, page: PageRequest): Promise<Page<ListedAccount>> {
    return this.#shown.marked('muted', viewer, page)
  }

  /** Ids alone, whoever asks: for delivery. */
  followerIds(author: AccountId, page: PageRequest): Promise<Page<Listed>> {
    return this.#lists.page('followers', author, page)
  }

  /** Ids alone, whoever asks: for feeds. */
  followingIds(reader: AccountId, page: PageRequest): Promise<Page<Listed>> {
    return this.#lists.page('following', reader, page)
  }

  /** How often whom these readers follow, block and mute has changed, in their order. */
  graphVersions(readers: readonly AccountId[]): Promise<number[]> {
    return this.#versions.versionsOf(readers)
  }

  /** What changed of a reader's graph after a version of it. */
  changesSince(reader: AccountId, version: number): Promise<GraphChanges> {
    return this.#versions.since(reader, version)
  }

  /** The modes in the order of the authors. */
  modeOf(authors: readonly AccountId[]): Promise<AuthorMode[]> {
    return this.#modes.of(authors)
  }

  /** To be called when an author posts: a change of mode that is due is made. */
  evaluateMode(author: AccountId): Promise<AuthorMode> {
    return this.#modes.evaluate(author)
  }

  /** To be called when the feeds of an author's followers were filled under this version. */
  feedsFilled(author: AccountId, version: bigint): Promise<AuthorMode> {
    return this.#modes.filled(author, version)
  }

  async #apply(actor: AccountId, other: AccountId, change: Change): Promise<Account> {
    const account = await this.#target(actor, other)
    await this.#change(actor, other, change)
    return account
  }

  async #change(actor: AccountId, other: AccountId, change: Change): Promise<void> {
    const refusal = await this.#relations.change({ actor, other, change })
    if (refusal) throw REFUSALS[refusal]()
  }

  async #target(actor: AccountId, other: AccountId): Promise<Account> {
    if (actor === other) throw new BadInputError('this is your own account', FIELD)
    const account = await this.#own.accounts.byId(other)
    if (!account) throw noSuchAccount()
    return account
  }
}

const FIELD = { field: 'accountId' } as const

const noSuchAccount = (): DomainError => new NotFoundError('there is no such account', FIELD)

const REFUSALS: Readonly<Record<Refusal, () => DomainError>> = {
  hidden: noSuchAccount,
  blocking: () => new ForbiddenError('you block this account: unblock it first', FIELD),
  'no request': () => new NotFoundError('this account does not ask to follow you', FIELD),
  accepted: () => new ConflictError('this account follows you already: remove the follower', FIELD),
}
