/** The graph: who follows, blocks and mutes whom. */
import type {
  AccountResolvers,
  MutationResolvers,
  QueryResolvers,
  RelationInput,
} from '../../schema/generated/resolvers-types.ts'
import type { AccountId } from '../../services/accounts/accounts.ts'
import {
  type GraphService,
  type ListedAccount,
  NO_TIE,
  type Tie,
} from '../../services/graph/graph.ts'
import type { Page, PageRequest } from '../../services/kernel/page.ts'
import { type RequestContext, viewerOf } from '../graphql/context.ts'
import type { ApiModule } from '../graphql/schema.ts'
import { type ConnectionArguments, connect, connectIfSeen } from '../relay/connection.ts'
import { parseIdOf } from '../relay/global-id.ts'
import { AccountView, accountView } from '../views.ts'
import { mutation } from './mutation.ts'

const tieTo = async ({ known: { id } }: AccountView, { loaders }: RequestContext): Promise<Tie> =>
  (await loaders.tie.load(id)) ?? NO_TIE

/** An account in a list, and where it stands. */
class ListedView extends AccountView {
  readonly position: string

  constructor({ position, ...account }: ListedAccount) {
    super(account)
    this.position = position
  }
}

const viewed = ({ items, ...page }: Page<ListedAccount>): Page<ListedView> => ({
  ...page,
  items: items.map((listed) => new ListedView(listed)),
})

const positionOf = ({ position }: ListedView): string => position

const Account = {
  followersCount: async ({ known: { id } }, _args, { loaders }) =>
    (await loaders.followersCount.load(id)) ?? 0,
  followingCount: async ({ known: { id } }, _args, { loaders }) =>
    (await loaders.followingCount.load(id)) ?? 0,
  viewerFollows: async (account, _args, context) => (await tieTo(account, context)).follows,
  viewerRequested: async (account, _args, context) => (await tieTo(account, context)).requested,
  viewerBlocks: async (account, _args, context) => (await tieTo(account, context)).blocks,
  viewerMutes: async (account, _args, context) => (await tieTo(account, context)).mutes,
  followsViewer: async (account, _args, context) => (await tieTo(account, context)).followedBy,
  followers: ({ known: { id } }, args, { services, viewer, cursors }) => {
    const read = async (page: PageRequest) => {
      const seen = await services.graph.followers(viewer?.accountId, id, page)
      return seen && viewed(seen)
    }
    return connectIfSeen(cursors, { list: `followers:${id}`, read, positionOf }, args)
  },
  following: ({ known: { id } }, args, { services, viewer, cursors }) => {
    const read = async (page: PageRequest) => {
      const seen = await services.graph.following(viewer?.accountId, id, page)
      return seen && viewed(seen)
    }
    return connectIfSeen(cursors, { list: `following:${id}`, read, positionOf }, args)
  },
} satisfies AccountResolvers

type OwnRead = (
  graph: GraphService,
  owner: AccountId,
  page: PageRequest,
) => Promise<Page<ListedAccount>>

/** A list that nobody but its owner can ask for. */
const ownList =
  (list: string, readOwn: OwnRead) =>
  (_root: unknown, args: ConnectionArguments, context: RequestContext) => {
    const { accountId } = viewerOf(context)
    const read = async (page: PageRequest) =>
      viewed(await readOwn(context.services.graph, accountId, page))
    return connect(context.cursors, { list, reader: accountId, read, positionOf }, args)
  }

const Query = {
  followRequests: ownList('followRequests', (graph, owner, page) => graph.requests(owner, page)),
  blockedAccounts: ownList('blockedAccounts', (graph, owner, page) => graph.blocked(owner, page)),
  mutedAccounts: ownList('mutedAccounts', (graph, owner, page) => graph.muted(owner, page)),
} satisfies QueryResolvers

type RelationChange = (graph: GraphService, actor: AccountId, other: AccountId) => Promise<unknown>

/** Whom the other blocks is shown nothing of it, also where the change was theirs to make. */
const relation = (change: RelationChange) =>
  mutation(async ({ accountId }: RelationInput, context: RequestContext) => {
    const { accountId: actor } = viewerOf(context)
    const other = parseIdOf('Account', accountId, 'accountId') as AccountId
    await change(context.services.graph, actor, other)
    return { account: accountView(await context.loaders.account.load(other)) }
  })

const Mutation = {
  follow: relation((graph, actor, other) => graph.follow(actor, other)),
  unfollow: relation((graph, actor, other) => graph.unfollow(actor, other)),
  acceptFollowRequest: relation((graph, actor, other) => graph.accept(actor, other)),
  refuseFollowRequest: relation((graph, actor, other) => graph.refuse(actor, other)),
  removeFollower: relation((graph, actor, other) => graph.removeFollower(actor, other)),
  block: relation((graph, actor, other) => graph.block(actor, other)),
  unblock: relation((graph, actor, other) => graph.unblock(actor, other)),
  mute: relation((graph, actor, other) => graph.mute(actor, other)),
  unmute: relation((graph, actor, other) => graph.unmute(actor, other)),
} satisfies MutationResolvers

export const graphApi: ApiModule = { resolvers: { Query, Mutation, Account } }
