/** Posts: what people say, answer and pass on. */
import type {
  AccountResolvers,
  CreatePostInput,
  MentionResolvers,
  MutationResolvers,
  PostResolvers,
  PostRevisionResolvers,
  QueryResolvers,
} from '../../schema/generated/resolvers-types.ts'
import type { Page, PageRequest } from '../../services/kernel/page.ts'
import {
  authorPosition,
  type Post as KnownPost,
  type PostId,
  replyPosition,
} from '../../services/post/post.ts'
import { type RequestContext, viewerOf } from '../graphql/context.ts'
import type { ApiModule } from '../graphql/schema.ts'
import { type ConnectionArguments, connect } from '../relay/connection.ts'
import { parseIdOf } from '../relay/global-id.ts'
import { accountView, type PostView, postView, postViews } from '../views.ts'
import { mutation } from './mutation.ts'

const parsePostId = (text: string, field = 'postId'): PostId =>
  parseIdOf('Post', text, field) as PostId

const Query = {
  post: (_root, { id }, context) => loadPost(parsePostId(id, 'id'), context),
} satisfies QueryResolvers

const Mutation = {
  createPost: mutation(async (input, context) => {
    const { accountId } = viewerOf(context)
    const post = await context.services.posts.create(accountId, draftOf(input))
    return { post: await postView(post, context) }
  }),
  editPost: mutation(async ({ postId, ...changes }, context) => {
    const { accountId } = viewerOf(context)
    const post = await context.services.posts.edit(accountId, parsePostId(postId), changes)
    return { post: await postView(post, context) }
  }),
  deletePost: mutation(async ({ postId }, context) => {
    await context.services.posts.delete(viewerOf(context).accountId, parsePostId(postId))
    return { deletedPostId: postId }
  }),
  changeVisibility: mutation(async ({ postId, visibility }, context) => {
    const { accountId } = viewerOf(context)
    const id = parsePostId(postId)
    const post = await context.services.posts.changeVisibility(accountId, id, visibility)
    return { post: await postView(post, context) }
  }),
  reshare: mutation(async ({ postId }, context) => {
    const { accountId } = viewerOf(context)
    const post = await context.services.posts.reshare(accountId, parsePostId(postId))
    return { post: await postView(post, context) }
  }),
  unreshare: mutation(async ({ postId }, context) => {
    const id = parsePostId(postId)
    await context.services.posts.unreshare(viewerOf(context).accountId, id)
    return { post: await loadPost(id, context) }
  }),
} satisfies MutationResolvers

const Post = {
  history: ({ known: { id, edits } }, _args, { services, viewer }) =>
    edits === 0 ? [] : services.posts.history(viewer?.accountId, id),
  replyTo: ({ known }, _args, context) => loadPost(known.replyTo?.id, context),
  threadRoot: ({ known }, _args, context) => loadPost(known.replyTo?.rootId, context),
  replies: ({ known: { id } }, args, context) => repliesOf(id, args, context),
  reshareOf: ({ known: { isReshare, original } }, _args, context) =>
    loadPost(isReshare ? original?.id : undefined, context),
  quote: ({ known: { isReshare, original } }, _args, context) =>
    loadPost(isReshare ? undefined : original?.id, context),
} satisfies PostResolvers

const PostRevision = {
  link: ({ link }) => linkOf(link),
} satisfies PostRevisionResolvers

const Mention = {
  account: async ({ accountId }, _args, { loaders }) =>
    accountView(await loaders.account.load(accountId)),
} satisfies MentionResolvers

const Account = {
  postsCount: async ({ known: { id } }, _args, { loaders }) =>
    (await loaders.postCount.load(id)) ?? 0,
  posts: ({ known: { id } }, args, context) => {
    const reader = context.viewer?.accountId
    const positionOf = ({ known }: PostView) => authorPosition(known)
    const read = async (page: PageRequest) =>
      viewed(await context.services.posts.ofAuthor(reader, id, page), context)
    return connect(context.cursors, { list: `posts:${id}`, reader, read, positionOf }, args)
  },
} satisfies AccountResolvers

export const postsApi: ApiModule = {
  resolvers: { Query, Mutation, Post, PostRevision, Mention, Account },
  nodes: { Post: async (id, context) => (await loadPost(id as PostId, context)) ?? undefined },
}

const repliesOf = (id: PostId, args: ConnectionArguments, context: RequestContext) => {
  const reader = context.viewer?.accountId
  const positionOf = ({ known }: PostView) => replyPosition(known)
  const read = async (page: PageRequest) =>
    viewed(await context.services.posts.repliesOf(reader, id, page), context)
  return connect(context.cursors, { list: `replies:${id}`, reader, read, positionOf }, args)
}

const viewed = async (page: Page<KnownPost>, context: RequestContext): Promise<Page<PostView>> => ({
  ...page,
  items: await postViews(page.items, context),
})

/** Null where there is none, or none the caller may see. */
export const loadPost = async (
  id: PostId | undefined,
  context: RequestContext,
): Promise<PostView | null> => {
  const post = id === undefined ? undefined : await context.loaders.post.load(id)
  return post ? await postView(post, context) : null
}

const linkOf = (url: string | undefined) => (url === undefined ? null : { url })

const draftOf = ({ replyToId, reshareOfId, ...input }: CreatePostInput) => ({
  ...input,
  ...(replyToId == null ? {} : { replyToId: parsePostId(replyToId, 'replyToId') }),
  ...(reshareOfId == null ? {} : { reshareOfId: parsePostId(reshareOfId, 'reshareOfId') }),
})
