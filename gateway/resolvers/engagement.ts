/** Engagement: what the caller does with posts, and what shows of it. */
import type {
  EngagementInput,
  MutationResolvers,
  QueryResolvers,
  ReportInput,
  SavedPostEdgeResolvers,
} from '../../schema/generated/resolvers-types.ts'
import type { MarkKind, Saved } from '../../services/engagement/engagement.ts'
import type { PostId } from '../../services/post/post.ts'
import { type RequestContext, viewerOf } from '../graphql/context.ts'
import type { ApiModule } from '../graphql/schema.ts'
import { connect, type Edge, type ListOf } from '../relay/connection.ts'
import { parseIdOf } from '../relay/global-id.ts'
import { postView } from '../views.ts'
import { mutation } from './mutation.ts'
import { loadPost } from './posts.ts'

export type SavedEdge = Edge<Saved>

const postIdOf = ({ postId }: Pick<EngagementInput, 'postId'>): PostId =>
  parseIdOf('Post', postId, 'postId') as PostId

/** The post as it is after `act`; null for who cannot see it. */
const acting = <Input extends EngagementInput>(
  act: (input: Input, postId: PostId, context: RequestContext) => Promise<void>,
) =>
  mutation(async (input: Input, context: RequestContext) => {
    const postId = postIdOf(input)
    await act(input, postId, context)
    return { post: await loadPost(postId, context) }
  })

const marking = (kind: MarkKind) =>
  acting((_input, postId, context) =>
    context.services.engagement.mark(viewerOf(context).accountId, kind, postId),
  )

const unmarking = (kind: MarkKind) =>
  acting((_input, postId, context) =>
    context.services.engagement.unmark(viewerOf(context).accountId, kind, postId),
  )

const Query = {
  savedPosts: (_root, args, context) => {
    const { accountId } = viewerOf(context)
    const list = {
      ...{ list: 'saves', reader: accountId },
      read: (page) => context.services.engagement.savedPosts(accountId, page),
      positionOf: ({ position }) => position,
    } satisfies ListOf<Saved>
    return connect(context.cursors, list, args)
  },
} satisfies QueryResolvers

const Mutation = {
  like: marking('like'),
  unlike: unmarking('like'),
  save: marking('save'),
  unsave: unmarking('save'),
  hide: marking('hide'),
  unhide: unmarking('hide'),
  report: acting(({ reason, note }: ReportInput, postId, context) =>
    context.services.engagement.report(viewerOf(context).accountId, postId, { reason, note }),
  ),
} satisfies MutationResolvers

const SavedPostEdge = {
  node: ({ node }, _args, context) => postView(node.post, context),
  savedAt: ({ node }) => node.savedAt,
} satisfies SavedPostEdgeResolvers

export const engagementApi: ApiModule = {
  resolvers: { Query, Mutation, SavedPostEdge },
}
