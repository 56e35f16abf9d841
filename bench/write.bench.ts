/**
 * A post made over HTTP, durable when it is acknowledged, by 64 clients at once.
 *
 * Embedded it is compared with a server that answers the same mutation with a constant and keeps
 * nothing. On a cluster it is compared with the driver alone, which writes the same rows in the same
 * shape: one logged batch with the outbox row, whose removal follows; before it the conditional
 * insert of the claim where an idempotency key is sent.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readStack } from '../scripts/stack/control.ts'
import { type AccountId, IdGenerator, type PostId } from '../services/kernel/ids.ts'
import { outboxPut, toOutbox } from '../services/platform/commit.ts'
import { claims } from '../services/platform/generated/tables.ts'
import { put } from '../services/platform/tables.ts'
import type { Post } from '../services/post/post.ts'
import { createdEvent } from '../services/post/post-events.ts'
import { createdWrites } from '../services/post/post-tables.ts'
import { openPlace, type Place } from '../test/kit/place.ts'
import { ApiClient, type SignedUp } from './api-client.ts'
import { build } from './built.ts'
import { graphqlRequest, HttpLoad } from './http-load.ts'
import type { Bench, BenchEngine, BenchKit, Figure } from './kit.ts'
import { loadContest } from './load-contest.ts'
import { serveProduct, serveReference, stepAside } from './pinned-server.ts'
import { rawBatch, rawDriver, rawInsertIfAbsent, rawRemove } from './raw-cassandra.ts'

const CLIENTS = 64
const PORTION = 512
const TEXT = 'Rivers meet here: a post of about the length that posts have, with an end.'
const CREATE = `mutation ($input: CreatePostInput!) {
  createPost(input: $input) { post { id createdAt } userErrors { message } }
}`
const CONSTANT = {
  createPost: { post: { id: 'UG9zdDo1', createdAt: '2026-01-31T12:00:00.000Z' }, userErrors: [] },
}

let made = 0

const createRequest = ({ token }: SignedUp, withKey: boolean): Buffer => {
  made += 1
  const key = withKey ? { idempotencyKey: `key-${made}` } : {}
  return graphqlRequest(
    { query: CREATE, variables: { input: { text: `${TEXT} ${made}`, ...key } } },
    token,
  )
}

const signUpAll = async (address: string): Promise<readonly SignedUp[]> => {
  using client = new ApiClient(address)
  const authors: SignedUp[] = []
  for (let index = 0; index < CLIENTS; index += 1)
    authors.push(await client.signUp(`author${index}`))
  return authors
}

const open = async (engine: BenchEngine) => {
  const built = build()
  const place = await openPlace(engine)
  const ours = await serveProduct(built('main.ts'), {
    ...place.variables,
    TRIBUTARY_TELEMETRY_LEVEL: 'error',
    TRIBUTARY_TELEMETRY_TRACES: 'off',
  })
  stepAside()
  const authors = await signUpAll(ours.address)
  const next = (withKey: boolean) => (client: number) =>
    createRequest(authors[client % CLIENTS] as SignedUp, withKey)
  return {
    ...{ built, place, ours, next },
    load: new HttpLoad(ours.address, CLIENTS),
    [Symbol.asyncDispose]: async () => {
      await ours[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}

const runEmbedded = async (kit: BenchKit): Promise<Figure[]> => {
  await using opened = await open('embedded')
  const { built, place, ours, load, next } = opened
  const file = join(place.folder, 'plain.json')
  const keySet: unknown = await (await fetch(`${ours.address}/.well-known/jwks.json`)).json()
  writeFileSync(file, JSON.stringify({ keySet, answers: CONSTANT }))
  await using constant = await serveReference(built('bench/plain-gateway.child.ts'), ['jit', file])
  using reference = new HttpLoad(constant.address, CLIENTS)
  using oursLoad = load
  return await loadContest(kit, {
    name: `durable createPost, ${CLIENTS} clients`,
    ours: { load: oursLoad, next: next(false) },
    reference: { load: reference, next: next(false) },
    referenceName: 'Apollo + graphql-jit, a constant',
    goal: 0.4,
  })
}

const runCluster = async (kit: BenchKit): Promise<Figure[]> => {
  await using opened = await open('cluster')
  const { place, load, next } = opened
  await using raw = openRaw(place)
  using oursLoad = load
  const figures: Figure[] = []
  for (const withKey of [false, true]) {
    figures.push(
      await kit.contest({
        name: `createPost, ${CLIENTS} clients, ${withKey ? 'with' : 'without'} an idempotency key`,
        ours: () => oursLoad.closed(PORTION, next(withKey)),
        reference: () => raw.posts(PORTION, withKey),
        referenceName: 'cassandra-driver, the same rows',
        goal: 0.5,
      }),
    )
  }
  return figures
}

/** The driver in the keyspace of the place. */
const openRaw = (place: Place) => {
  const stack = readStack()
  if (!stack) throw new Error('the cluster engine needs its servers: npm run stack -- up')
  const { TRIBUTARY_ENGINE_NAMESPACE: keyspace = '' } = place.variables
  const driver = rawDriver(stack, keyspace)
  const ids = new IdGenerator(() => Date.now(), {
    node: 1023,
    afterMs: 0,
    untilMs: Number.MAX_SAFE_INTEGER,
  })
  const write = async (withKey: boolean): Promise<void> => {
    const post = postOf(ids.next<'post'>(), ids.next<'account'>())
    const entry = toOutbox(createdEvent(post), {})
    const row = outboxPut(entry, Math.floor(Date.now() / 60_000))
    if (withKey) await rawInsertIfAbsent(driver, claimRow(post))
    await rawBatch(driver, [...createdWrites(post), row])
    await rawRemove(driver, row)
  }
  return {
    posts: async (count: number, withKey: boolean): Promise<number> => {
      let left = count
      const writer = async (): Promise<void> => {
        for (; left > 0; await write(withKey)) left -= 1
      }
      await Promise.all(Array.from({ length: CLIENTS }, writer))
      return count
    },
    [Symbol.asyncDispose]: () => driver.shutdown(),
  }
}

const postOf = (id: PostId, authorId: AccountId): Post => ({
  ...{ id, version: id, authorId, orderedAt: Date.now(), visibility: 'PUBLIC' },
  content: { text: TEXT, mentions: [], hashtags: [] },
  ...{ isReshare: false, edits: 0 },
})

const claimRow = ({ id, authorId }: Post) =>
  put(claims, {
    ...{ kind: 'post', name: `${authorId}:${randomUUID()}`, owner: id },
    ...{ draftHash: randomUUID(), claimedAt: Date.now() },
  })

export const bench: Bench = {
  name: 'write',
  engines: ['embedded', 'cluster'],
  about: 'posts made over HTTP, durable when acknowledged',
  run: (engine, kit) => (engine === 'embedded' ? runEmbedded(kit) : runCluster(kit)),
}
