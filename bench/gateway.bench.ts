/**
 * What a read costs through the whole of the gateway, against servers with the same schema and
 * nothing behind it: plain objects in memory. Each server has one core of its own, in its own process,
 * and gets the same bytes. Spans are off, as the references have none; what they cost is a figure of
 * its own.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPlace, type Place } from '../test/kit/place.ts'
import { ApiClient } from './api-client.ts'
import { build } from './built.ts'
import { graphqlRequest, HttpLoad } from './http-load.ts'
import type { Bench, BenchEngine, BenchKit, Figure } from './kit.ts'
import { loadContest } from './load-contest.ts'
import { serveProduct, serveReference, stepAside } from './pinned-server.ts'

const CLIENTS = 16
const POSTS = 20
const TEXT = 'Rivers meet here: a post of about the length that posts have, with an end.'

const POST_QUERY = `query ($id: ID!) {
  post(id: $id) { id text createdAt author { id handle displayName } }
}`
const PAGE_QUERY = `query ($handle: String!) {
  account(handle: $handle) {
    posts(first: ${POSTS}) {
      edges {
        node { id text createdAt likeCount replyCount reshareCount author { id handle displayName } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}`
const CREATE = `mutation ($input: CreatePostInput!) {
  createPost(input: $input) { post { id } userErrors { message } }
}`

interface Created {
  readonly createPost: { readonly post: { readonly id: string } }
}

interface Prepared {
  readonly postRequest: Buffer
  readonly pageRequest: Buffer
  /** For the references: what the product answered. */
  readonly answers: Readonly<Record<string, unknown>>
}

const prepare = async (address: string): Promise<Prepared> => {
  using client = new ApiClient(address)
  const { token } = await client.signUp('delta')
  let id = ''
  for (let index = 0; index < POSTS; index += 1) {
    const input = { text: `${TEXT} ${index}` }
    const { createPost } = await client.ask<Created>(CREATE, { input }, token)
    id = createPost.post.id
  }
  const posted = await client.ask<object>(POST_QUERY, { id }, token)
  const paged = await client.ask<object>(PAGE_QUERY, { handle: 'delta' }, token)
  return {
    postRequest: graphqlRequest({ query: POST_QUERY, variables: { id } }, token),
    pageRequest: graphqlRequest({ query: PAGE_QUERY, variables: { handle: 'delta' } }, token),
    answers: { ...posted, ...paged },
  }
}

const plainFile = async (place: Place, address: string, answers: Prepared['answers']) => {
  const file = join(place.folder, 'plain.json')
  const keySet: unknown = await (await fetch(`${address}/.well-known/jwks.json`)).json()
  writeFileSync(file, JSON.stringify({ keySet, answers }))
  return file
}

const run = async (engine: BenchEngine, kit: BenchKit): Promise<Figure[]> => {
  const built = build()
  await using place = await openPlace(engine)
  const traced = { ...place.variables, TRIBUTARY_TELEMETRY_LEVEL: 'error' }
  const plain = { ...traced, TRIBUTARY_TELEMETRY_TRACES: 'off' }
  await using ours = await serveProduct(built('main.ts'), plain)
  stepAside()
  const { postRequest, pageRequest, answers } = await prepare(ours.address)
  const file = await plainFile(place, ours.address, answers)
  const child = built('bench/plain-gateway.child.ts')
  await using jit = await serveReference(child, ['jit', file])
  await using standalone = await serveReference(child, ['standalone', file])
  using oursLoad = new HttpLoad(ours.address, CLIENTS)
  using jitLoad = new HttpLoad(jit.address, CLIENTS)
  using standaloneLoad = new HttpLoad(standalone.address, CLIENTS)
  const contest = (name: string, request: Buffer, reference: HttpLoad, goal: number) =>
    loadContest(kit, {
      name,
      ours: { load: oursLoad, next: () => request },
      reference: { load: reference, next: () => request },
      referenceName: reference === jitLoad ? 'Apollo + graphql-jit' : 'Apollo standalone',
      goal,
    })
  return [
    ...(await contest('post(id) with its author', postRequest, jitLoad, 0.7)),
    ...(await contest(`${POSTS} posts of an author`, pageRequest, jitLoad, 0.5)),
    ...(await contest(`${POSTS} posts of an author`, pageRequest, standaloneLoad, 1.8)),
  ]
}

export const bench: Bench = {
  name: 'gateway',
  engines: ['embedded', 'cluster'],
  about: 'reads over HTTP',
  run,
}
