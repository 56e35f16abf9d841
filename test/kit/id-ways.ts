/**
 * Every field that takes an id, with an operation that hands it one, and every way from one thing to
 * another. bola.test.ts compares them with the schema.
 */

/** Stands in everything that must not be seen. */
export const SECRET = 'the hidden thing'

export const REFUSED = 'userErrors { code field message }'
const THING = 'id ... on Post { text } ... on Account { handle displayName bio }'

export const onPost = (mutation: string, more = '') =>
  `mutation ($id: ID!) { ${mutation}(input: { postId: $id ${more} }) { post { id text } ${REFUSED} } }`
const onAccount = (mutation: string) =>
  `mutation ($id: ID!) {
    ${mutation}(input: { accountId: $id }) { account { handle displayName } ${REFUSED} }
  }`
const posting = (field: string) =>
  `mutation ($id: ID!) {
    createPost(input: { text: "about it", ${field}: $id }) { post { text } ${REFUSED} }
  }`

/** Fields that take the id of a post, each with an operation that hands it `$id`. */
export const POST_FIELDS: Readonly<Record<string, string>> = {
  'Query.node(id)': `query ($id: ID!) { node(id: $id) { ${THING} } }`,
  'Query.nodes(ids)': `query ($id: ID!) { nodes(ids: [$id]) { ${THING} } }`,
  'Query.post(id)': 'query ($id: ID!) { post(id: $id) { id text history { text } } }',
  'Mutation.createPost(input.replyToId)': posting('replyToId'),
  'Mutation.createPost(input.reshareOfId)': posting('reshareOfId'),
  'Mutation.editPost(input.postId)': onPost('editPost', 'text: "overwritten"'),
  'Mutation.deletePost(input.postId)': `mutation ($id: ID!) {
    deletePost(input: { postId: $id }) { deletedPostId ${REFUSED} }
  }`,
  'Mutation.changeVisibility(input.postId)': onPost('changeVisibility', 'visibility: PUBLIC'),
  'Mutation.reshare(input.postId)': onPost('reshare'),
  'Mutation.unreshare(input.postId)': onPost('unreshare'),
  'Mutation.like(input.postId)': onPost('like'),
  'Mutation.unlike(input.postId)': onPost('unlike'),
  'Mutation.save(input.postId)': onPost('save'),
  'Mutation.unsave(input.postId)': onPost('unsave'),
  'Mutation.hide(input.postId)': onPost('hide'),
  'Mutation.unhide(input.postId)': onPost('unhide'),
  'Mutation.report(input.postId)': onPost('report', 'reason: SPAM'),
}

/** The author's alone: also of a post that everybody sees. */
export const OWN_FIELDS = [
  'Mutation.editPost(input.postId)',
  'Mutation.deletePost(input.postId)',
  'Mutation.changeVisibility(input.postId)',
]

/** Fields that take the id of an account. */
export const ACCOUNT_FIELDS: Readonly<Record<string, string>> = {
  'Query.node(id)': `query ($id: ID!) { node(id: $id) { ${THING} } }`,
  'Query.nodes(ids)': `query ($id: ID!) { nodes(ids: [$id]) { ${THING} } }`,
  'Mutation.follow(input.accountId)': onAccount('follow'),
  'Mutation.unfollow(input.accountId)': onAccount('unfollow'),
  'Mutation.acceptFollowRequest(input.accountId)': onAccount('acceptFollowRequest'),
  'Mutation.refuseFollowRequest(input.accountId)': onAccount('refuseFollowRequest'),
  'Mutation.removeFollower(input.accountId)': onAccount('removeFollower'),
  'Mutation.block(input.accountId)': onAccount('block'),
  'Mutation.unblock(input.accountId)': onAccount('unblock'),
  'Mutation.mute(input.accountId)': onAccount('mute'),
  'Mutation.unmute(input.accountId)': onAccount('unmute'),
}

/** Ways to a post, and what asks for it there; `$hidden` and the posts around it are the variables. */
export const WAYS_TO_POST: Readonly<Record<string, string>> = {
  'Query.node': 'node(id: $hidden) { ... on Post { text } }',
  'Query.nodes': 'nodes(ids: [$hidden]) { ... on Post { text } }',
  'Query.post': 'post(id: $hidden) { text }',
  'Query.savedPosts': 'savedPosts(first: 100) { edges { node { text } } }',
  'Post.replyTo': 'post(id: $reply) { replyTo { text } }',
  'Post.threadRoot': 'post(id: $nested) { threadRoot { text } }',
  'Post.reshareOf': 'post(id: $reshare) { reshareOf { text } }',
  'Post.quote': 'post(id: $quote) { quote { text } }',
  'Post.replies': 'post(id: $open) { replies(first: 100) { edges { node { text } } } }',
  'Account.posts': 'account(handle: $handle) { posts(first: 100) { edges { node { text } } } }',
}

/** Ways to an account; the last are the caller's own lists, from which to undo things. */
export const WAYS_TO_ACCOUNT: Readonly<Record<string, string>> = {
  'Query.node': 'node(id: $author) { ... on Account { displayName } }',
  'Query.nodes': 'nodes(ids: [$author]) { ... on Account { displayName } }',
  'Query.account': 'account(handle: $handle) { displayName }',
  'Post.author': 'post(id: $hidden) { author { displayName } }',
  'Mention.account': 'post(id: $mention) { mentions { account { displayName } } }',
  'Account.followers':
    'account(handle: $friend) { followers(first: 100) { edges { node { displayName } } } }',
  'Account.following':
    'account(handle: $friend) { following(first: 100) { edges { node { displayName } } } }',
  'Query.followRequests': 'followRequests(first: 100) { edges { node { displayName } } }',
  'Query.mutedAccounts': 'mutedAccounts(first: 100) { edges { node { displayName } } }',
  'Query.blockedAccounts': 'blockedAccounts(first: 100) { edges { node { displayName } } }',
}
export const OWN_LISTS = ['Query.mutedAccounts', 'Query.blockedAccounts']

/** Posts around the hidden one. */
export interface Around {
  readonly hidden: string
  readonly reply: string
  readonly nested: string
  readonly reshare: string
  readonly quote: string
  readonly open: string
  readonly handle: string
}

/** The type of each variable a way may use. */
const VARIABLES: Readonly<Record<string, string>> = {
  ...{ hidden: 'ID!', reply: 'ID!', nested: 'ID!', reshare: 'ID!', quote: 'ID!', open: 'ID!' },
  ...{ author: 'ID!', mention: 'ID!', handle: 'String!', friend: 'String!' },
}

export const askWay = (way: string): string => {
  const used = Object.entries(VARIABLES).filter(([name]) => way.includes(`$${name}`))
  const given = used.map(([name, type]) => `$${name}: ${type}`).join(', ')
  return `query ${given === '' ? '' : `(${given})`} { ${way} }`
}
