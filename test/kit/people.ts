/** People who post, through the API. */
import { expect } from 'vitest'
import type { World } from './world.ts'

const TOKENS = 'accessToken account { id handle } userErrors { code }'
const SIGN_UP = `mutation ($input: SignUpInput!) { signUp(input: $input) { ${TOKENS} } }`

export const POST = `id text createdAt editedAt visibility link { url } hashtags
  author { handle } mentions { handle account { handle } }
  replyTo { id } threadRoot { id } reshareOf { id text } quote { id text }
  replyCount reshareCount viewerHasReshared`

export interface ShownPost {
  readonly id: string
  readonly text: string
  readonly createdAt: string
  readonly editedAt: string | null
  readonly visibility: string
  readonly link: { readonly url: string } | null
  readonly hashtags: readonly string[]
  readonly mentions: readonly { handle: string; account: { handle: string } | null }[]
  readonly replyTo: { readonly id: string } | null
  readonly threadRoot: { readonly id: string } | null
  readonly reshareOf: { readonly id: string; readonly text: string } | null
  readonly quote: { readonly id: string; readonly text: string } | null
  readonly replyCount: number
  readonly reshareCount: number
  readonly viewerHasReshared: boolean
}

export interface Refusal {
  readonly code: string
  readonly field: string | null
  readonly message: string
}

export interface PostPayload {
  readonly post: ShownPost | null
  readonly userErrors: readonly Refusal[]
}

interface Connection {
  readonly edges: readonly { readonly node: ShownPost; readonly cursor: string }[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}

const PAYLOAD = `{ post { ${POST} } userErrors { code field message } }`
const PAGE = `{ edges { cursor node { ${POST} } } pageInfo { hasNextPage endCursor } }`

/** The mutations that answer with a post, by the type of their input. */
const CHANGES = {
  createPost: 'CreatePostInput',
  editPost: 'EditPostInput',
  changeVisibility: 'ChangeVisibilityInput',
  reshare: 'ReshareInput',
  unreshare: 'UnreshareInput',
} as const

export class Person {
  readonly id: string
  readonly handle: string
  readonly accessToken: string
  readonly #world: World

  constructor(world: World, account: { id: string; handle: string }, accessToken: string) {
    this.#world = world
    this.id = account.id
    this.handle = account.handle
    this.accessToken = accessToken
  }

  static async signUp(world: World, handle: string, more: object = {}): Promise<Person> {
    const input = { handle, password: 'correct horse', ...more }
    const { data } = await world.graphql<{
      signUp: { accessToken: string; account: { id: string; handle: string } }
    }>(undefined, SIGN_UP, { input })
    if (!data?.signUp.account) throw new Error(`${handle} could not sign up`)
    return new Person(world, data.signUp.account, data.signUp.accessToken)
  }

  /** The data of a query, which must not fail. */
  async asks<Data>(
    document: string,
    variables: Readonly<Record<string, unknown>> = {},
  ): Promise<Data> {
    return await ask<Data>(this.#world, this, document, variables)
  }

  /** What a mutation answers, refusals included. */
  async tries(name: keyof typeof CHANGES, input: object): Promise<PostPayload> {
    const document = `mutation ($input: ${CHANGES[name]}!) { ${name}(input: $input) ${PAYLOAD} }`
    const data = await this.asks<Record<string, PostPayload>>(document, { input })
    const payload = data[name]
    if (!payload) throw new Error(`${name} answered nothing`)
    return payload
  }

  /** The post a mutation answers, which must not refuse. */
  async does(name: keyof typeof CHANGES, input: object): Promise<ShownPost> {
    const { post, userErrors } = await this.tries(name, input)
    expect(userErrors).toEqual([])
    if (!post) throw new Error(`${name} answered no post`)
    return post
  }

  posts(text: string, more: object = {}): Promise<ShownPost> {
    return this.does('createPost', { text, ...more })
  }

  async deletes(postId: string): Promise<{ deletedPostId: string | null; userErrors: Refusal[] }> {
    const document = `mutation ($input: DeletePostInput!) {
      deletePost(input: $input) { deletedPostId userErrors { code field message } }
    }`
    const data = await this.asks<{
      deletePost: { deletedPostId: string | null; userErrors: Refusal[] }
    }>(document, { input: { postId } })
    return data.deletePost
  }

  sees(id: string): Promise<ShownPost | null> {
    return see(this.#world, this, id)
  }

  async postsOf(handle: string, page: object = {}): Promise<Connection> {
    return await postsOf(this.#world, this, handle, page)
  }

  async repliesTo(id: string, page: object = {}): Promise<Connection> {
    const document = `query ($id: ID!, $first: Int, $after: Cursor) {
      post(id: $id) { replies(first: $first, after: $after) ${PAGE} }
    }`
    const { post } = await this.asks<{ post: { replies: Connection } | null }>(document, {
      ...{ id, ...page },
    })
    if (!post) throw new Error('there is no such post to have replies')
    return post.replies
  }

  async historyOf(id: string): Promise<readonly { text: string; link: { url: string } | null }[]> {
    const document =
      'query ($id: ID!) { post(id: $id) { history { text link { url } writtenAt } } }'
    const { post } = await this.asks<{ post: { history: [] } | null }>(document, { id })
    return post?.history ?? []
  }
}

type Asker = Person | undefined

export const ask = async <Data>(
  world: World,
  who: Asker,
  document: string,
  variables: Readonly<Record<string, unknown>> = {},
): Promise<Data> => {
  const { data, errors } = await world.graphql<Data>(who, document, variables)
  expect(errors).toEqual([])
  if (!data) throw new Error('there is no data')
  return data
}

/** A post as somebody sees it, or nobody. */
export const see = async (world: World, who: Asker, id: string): Promise<ShownPost | null> => {
  const document = `query ($id: ID!) { post(id: $id) { ${POST} } }`
  const { post } = await ask<{ post: ShownPost | null }>(world, who, document, { id })
  return post
}

export const postsOf = async (
  world: World,
  who: Asker,
  handle: string,
  page: object = {},
): Promise<Connection> => {
  const document = `query ($handle: String!, $first: Int, $after: Cursor) {
    account(handle: $handle) { posts(first: $first, after: $after) ${PAGE} }
  }`
  const data = await ask<{ account: { posts: Connection } | null }>(world, who, document, {
    ...{ handle, ...page },
  })
  if (!data.account) throw new Error(`there is no ${handle}`)
  return data.account.posts
}

export const textsOf = ({ edges }: Connection): string[] => edges.map(({ node }) => node.text)
