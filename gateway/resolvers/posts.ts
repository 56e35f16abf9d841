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
import { NotFoundError } from '../../services/kernel/errors.ts'
import type { PageRequest } from '../../services/kernel/page.ts'
import {
  authorPosition,
  type Post as KnownPost,
  type PostId,
  replyPosition,
} from '../../services/post/post.ts'
import { type RequestContext, viewerOf } from '../graphql/context.ts'
import type { ApiModule } from '../graphql/schema.ts'
import { type ConnectionArguments, connect } from '../relay/connection.ts'
import { parseIdOf, toGlobalId } from '../relay/global-id.ts'
import { mutation } from './mutation.ts'

const parsePostId = (text: string, field = 'postId'): PostId =>
  parseIdOf('Post', text, field) as PostId

const Query = {
  post: async (_root, { id }, { loaders }) =>
    (await loaders.post.load(parsePostId(id, 'id'))) ?? null,
} satisfies QueryResolvers

const Mutation = {
  createPost: mutation(async (input, context) => {
    const { accountId } = viewerOf(context)
    return { post: await context.services.posts.create(accountId, draftOf(input)) }
  }),
  editPost: mutation(async ({ postId, ...changes }, context) => {
    const { accountId } = viewerOf(context)
    return { post: await context.services.posts.edit(accountId, parsePostId(postId), changes) }
  }),
  deletePost: mutation(async ({ postId }, context) => {
    await context.services.posts.delete(viewerOf(context).accountId, parsePostId(postId))
    return { deletedPostId: postId }
  }),
  changeVisibility: mutation(async ({ postId, visibility }, context) => {
    const { posts } = context.services
    const id = parsePostId(postId)
    return { post: await posts.changeVisibility(viewerOf(context).accountId, id, visibility) }
  }),
  reshare: mutation(async ({ postId }, context) => {
    const { accountId } = viewerOf(context)
    return { post: await context.services.posts.reshare(accountId, parsePostId(postId)) }
  }),
  unreshare: mutation(async ({ postId }, context) => {
    const id = parsePostId(postId)
    await context.services.posts.unreshare(viewerOf(context).accountId, id)
    return { post: (await context.loaders.post.load(id)) ?? null }
  }),
} satisfies MutationResolvers

const Post = {
  id: ({ id }) => toGlobalId('Post', id),
  author: ({ authorId }, _args, { loaders }) => authorOf(authorId, loaders),
  text: ({ content }) => content.text,
  createdAt: ({ orderedAt }) => orderedAt,
  history: ({ id, edits }, _args, { services, viewer }) =>
    edits === 0 ? [] : services.posts.history(viewer?.accountId, id),
  link: ({ content: { link } }) => linkOf(link),
  mentions: ({ content }) => content.mentions,
  hashtags: ({ content }) => content.hashtags,
  replyTo: ({ replyTo }, _args, context) => loadPost(replyTo?.id, context),
  threadRoot: ({ replyTo }, _args, context) => loadPost(replyTo?.rootId, context),
  replies: ({ id }, args, context) => repliesOf(id, args, context),
  reshareOf: ({ isReshare, original }, _args, context) =>
    loadPost(isReshare ? original?.id : undefined, context),
  quote: ({ isReshare, original }, _args, context) =>
    loadPost(isReshare ? undefined : original?.id, context),
  replyCount: async ({ id }, _args, { loaders }) => (await loaders.replyCount.load(id)) ?? 0,
  reshareCount: async ({ id }, _args, { loaders }) => (await loaders.reshareCount.load(id)) ?? 0,
  viewerHasReshared: async (post, _args, { loaders }) =>
    (await loaders.viewerReshare.load(standsFor(post))) ?? false,
} satisfies PostResolvers

const PostRevision = {
  link: ({ link }) => linkOf(link),
} satisfies PostRevisionResolvers

const Mention = {
  account: async ({ accountId }, _args, { loaders }) =>
    (await loaders.account.load(accountId)) ?? null,
} satisfies MentionResolvers

const Account = {
  postsCount: async ({ id }, _args, { loaders }) => (await loaders.postCount.load(id)) ?? 0,
  posts: ({ id }, args, { cursors, services, viewer }) => {
    const reader = viewer?.accountId
    const list = { list: `posts:${id}`, reader, positionOf: authorPosition }
    const read = (page: PageRequest) => services.posts.ofAuthor(reader, id, page)
    return connect(cursors, { ...list, read }, args)
  },
} satisfies AccountResolvers

export const postsApi: ApiModule = {
  resolvers: { Query, Mutation, Post, PostRevision, Mention, Account },
  nodes: { Post: (id, { loaders }) => loaders.post.load(id) },
}

const repliesOf = (
  id: PostId,
  args: ConnectionArguments,
  { cursors, services, viewer }: RequestContext,
) => {
  const reader = viewer?.accountId
  const list = { list: `replies:${id}`, reader, positionOf: replyPosition }
  const read = (page: PageRequest) => services.posts.repliesOf(reader, id, page)
  return connect(cursors, { ...list, read }, args)
}

const loadPost = async (
  id: PostId | undefined,
  { loaders }: RequestContext,
): Promise<KnownPost | null> => (id === undefined ? null : ((await loaders.post.load(id)) ?? null))

/** Who may see a post may see its author, unless a block came between. */
const authorOf = async (id: bigint, loaders: RequestContext['loaders']) => {
  const author = await loaders.account.load(id)
  if (!author) throw new NotFoundError('this post has just gone')
  return author
}

const linkOf = (url: string | undefined) => (url === undefined ? null : { url })

/** What a viewer reshares when they reshare this. */
const standsFor = ({ id, isReshare, original }: KnownPost): PostId =>
  isReshare && original ? original.id : id

const draftOf = ({ replyToId, reshareOfId, ...input }: CreatePostInput) => ({
  ...input,
  ...(replyToId == null ? {} : { replyToId: parsePostId(replyToId, 'replyToId') }),
  ...(reshareOfId == null ? {} : { reshareOfId: parsePostId(reshareOfId, 'reshareOfId') }),
})
