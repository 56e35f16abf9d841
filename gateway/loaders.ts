/**
 * One DataLoader per entity and request: whatever a page asks for of one kind is read in one call
 * of a service, however many resolvers ask. They live as long as the request, so what one caller
 * may see is never kept for another.
 */
import DataLoader from 'dataloader'
import type { AccountId, Viewer } from '../services/accounts/accounts.ts'
import type { Services } from '../services/compose.ts'
import { NO_TIE, type Tie } from '../services/graph/graph.ts'
import type { PostId } from '../services/post/post.ts'

export interface LoaderRequest {
  readonly services: Services
  readonly viewer: Viewer | undefined
}

/** Reads many at once, in their order; `undefined` for what is not there for this caller. */
export type BatchReader<Value> = (
  ids: readonly bigint[],
  request: LoaderRequest,
) => Promise<readonly (Value | undefined)[]>

/** Ids in one call of a service: no page is longer. */
const BATCH_MAX = 100

/** Every entity that is loaded by id, in the order of their modules. */
const readers = {
  account: (ids, { services, viewer }) =>
    services.graph.seenAccounts(viewer?.accountId, ids as readonly AccountId[]),
  tie: async (ids, { services, viewer }): Promise<readonly Tie[]> =>
    viewer
      ? await services.graph.ties(viewer.accountId, ids as readonly AccountId[])
      : ids.map(() => NO_TIE),
  followersCount: (ids, { services }) =>
    services.graph.followersCounts(ids as readonly AccountId[]),
  followingCount: (ids, { services }) =>
    services.graph.followingCounts(ids as readonly AccountId[]),
  post: (ids, { services, viewer }) =>
    services.posts.byIds(viewer?.accountId, ids as readonly PostId[]),
  postCount: (ids, { services }) => services.posts.postCounts(ids as readonly AccountId[]),
  replyCount: (ids, { services }) => services.posts.countsOf(ids as readonly PostId[], 'replies'),
  reshareCount: (ids, { services }) =>
    services.posts.countsOf(ids as readonly PostId[], 'reshares'),
  viewerReshare: async (ids, { services, viewer }) =>
    viewer
      ? await services.posts.areReshared(viewer.accountId, ids as readonly PostId[])
      : ids.map(() => false),
  likeCount: (ids, { services }) => services.engagement.likeCounts(ids as readonly PostId[]),
  postMarks: (ids, { services, viewer }) =>
    services.engagement.marksOf(viewer?.accountId, ids as readonly PostId[]),
} satisfies Readonly<Record<string, BatchReader<unknown>>>

type LoadersOf<Readers> = {
  readonly [Name in keyof Readers]: Readers[Name] extends BatchReader<infer Value>
    ? DataLoader<bigint, Value | undefined>
    : never
}

/** The loaders, and how all of them forget what they have read. */
export type Loaders = LoadersOf<typeof readers> & Forgetting

interface Forgetting {
  /** For who is about to change things in the middle of a request. */
  readonly forget: () => void
}

export const openLoaders = (request: LoaderRequest): Loaders => loadersOf(readers, request)

/** Made when first asked for: most requests need few of them. */
export const loadersOf = <Readers extends Readonly<Record<string, BatchReader<unknown>>>>(
  all: Readers,
  request: LoaderRequest,
): LoadersOf<Readers> & Forgetting => {
  const made = new Map<string, DataLoader<bigint, unknown>>()
  const forget = (): void => made.clear()
  const loaders = { forget }
  for (const [name, read] of Object.entries(all)) {
    Object.defineProperty(loaders, name, {
      enumerable: true,
      get: () => {
        const loader = made.get(name) ?? loaderOf(read, request)
        made.set(name, loader)
        return loader
      },
    })
  }
  return loaders as LoadersOf<Readers> & Forgetting
}

const loaderOf = <Value>(
  read: BatchReader<Value>,
  request: LoaderRequest,
): DataLoader<bigint, Value | undefined> =>
  new DataLoader((ids) => read(ids, request), { maxBatchSize: BATCH_MAX })
