/**
 * One DataLoader per entity and request: whatever a page asks for of one kind is read in one call
 * of a service, however many resolvers ask. They live as long as the request, so what one caller
 * may see is never kept for another.
 */
import DataLoader from 'dataloader'
import type { AccountId, Viewer } from '../services/accounts/accounts.ts'
import type { Services } from '../services/compose.ts'

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
  account: (ids, { services }) => services.accounts.byIds(ids as readonly AccountId[]),
} satisfies Readonly<Record<string, BatchReader<unknown>>>

type LoadersOf<Readers> = {
  readonly [Name in keyof Readers]: Readers[Name] extends BatchReader<infer Value>
    ? DataLoader<bigint, Value | undefined>
    : never
}

export type Loaders = LoadersOf<typeof readers>

export const openLoaders = (request: LoaderRequest): Loaders => loadersOf(readers, request)

type ReaderMap = Readonly<Record<string, BatchReader<unknown>>>

/** Each made when first asked for: most requests need few of them. */
export const loadersOf = <Readers extends ReaderMap>(
  all: Readers,
  request: LoaderRequest,
): LoadersOf<Readers> => {
  const known = shelves.get(all) ?? shelfOf(all)
  return new known(request) as LoadersOf<Readers>
}

type Shelf = new (request: LoaderRequest) => object

/** One class for each map of readers: its getters are defined once, not for every request. */
const shelves = new WeakMap<ReaderMap, Shelf>()

const shelfOf = (all: ReaderMap): Shelf => {
  class LoaderShelf {
    readonly request: LoaderRequest
    readonly made = new Map<string, DataLoader<bigint, unknown>>()

    constructor(request: LoaderRequest) {
      this.request = request
    }

    loader(name: string, read: BatchReader<unknown>): DataLoader<bigint, unknown> {
      const made = this.made.get(name) ?? loaderOf(read, this.request)
      this.made.set(name, made)
      return made
    }
  }
  for (const [name, read] of Object.entries(all)) {
    Object.defineProperty(LoaderShelf.prototype, name, {
      get(this: LoaderShelf) {
        return this.loader(name, read)
      },
    })
  }
  shelves.set(all, LoaderShelf)
  return LoaderShelf
}

const loaderOf = <Value>(
  read: BatchReader<Value>,
  request: LoaderRequest,
): DataLoader<bigint, Value | undefined> =>
  new DataLoader((ids) => read(ids, request), { maxBatchSize: BATCH_MAX })
