/** Relay connections over the pages of services. */
import { checkFirst, type Page, type PageRequest } from '../../services/kernel/page.ts'
import type { CursorScope, Cursors } from './cursor.ts'

export const PAGE_DEFAULT = 20
export const PAGE_MAX = 100

export interface ConnectionArguments {
  readonly first?: number | null
  readonly after?: string | null
}

export interface Edge<Node> {
  readonly node: Node
  readonly cursor: string
}

export interface Connection<Node> {
  readonly edges: readonly Edge<Node>[]
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
}

interface List<Item, Found> extends CursorScope {
  readonly pageMax?: number
  /** Reads a page; `after` is a position as `positionOf` and the page's `next` name it. */
  readonly read: (request: PageRequest) => Promise<Found>
  readonly positionOf: (item: Item) => string
}

export type ListOf<Item> = List<Item, Page<Item>>
/** A list that is not for everybody. */
export type GuardedListOf<Item> = List<Item, Page<Item> | undefined>

/** One page of a list, as a connection. Cursors are signed only when they are asked for. */
export const connect = async <Item>(
  cursors: Cursors,
  list: ListOf<Item>,
  args: ConnectionArguments,
): Promise<Connection<Item>> =>
  toConnection(cursors, list, { page: await list.read(requestOf(cursors, list, args)), args })

/** The same; null where the caller may not see the list. */
export const connectIfSeen = async <Item>(
  cursors: Cursors,
  list: GuardedListOf<Item>,
  args: ConnectionArguments,
): Promise<Connection<Item> | null> => {
  const page = await list.read(requestOf(cursors, list, args))
  return page ? toConnection(cursors, list, { page, args }) : null
}

const requestOf = <Item>(
  cursors: Cursors,
  list: GuardedListOf<Item>,
  { first, after }: ConnectionArguments,
): PageRequest => ({
  first: checkFirst(first ?? PAGE_DEFAULT, list.pageMax ?? PAGE_MAX),
  ...(after ? { after: cursors.open(list, after) } : {}),
})

const toConnection = <Item>(
  cursors: Cursors,
  list: GuardedListOf<Item>,
  { page, args }: { readonly page: Page<Item>; readonly args: ConnectionArguments },
): Connection<Item> => {
  const edges = page.items.map((node) => new ListEdge(cursors, list, node))
  return {
    edges,
    pageInfo: {
      hasNextPage: page.next !== undefined,
      hasPreviousPage: Boolean(args.after),
      get startCursor() {
        return edges[0]?.cursor ?? null
      },
      get endCursor() {
        // The next page may begin below the last edge: what was between is not for this reader.
        return page.next === undefined
          ? (edges.at(-1)?.cursor ?? null)
          : cursors.seal(list, page.next)
      },
    },
  }
}

/** Its cursor is a getter of the class: one defined for each edge costs more than the rest of it. */
class ListEdge<Item> implements Edge<Item> {
  readonly node: Item
  readonly #list: GuardedListOf<Item>
  readonly #cursors: Cursors

  constructor(cursors: Cursors, list: GuardedListOf<Item>, node: Item) {
    this.node = node
    this.#list = list
    this.#cursors = cursors
  }

  get cursor(): string {
    return this.#cursors.seal(this.#list, this.#list.positionOf(this.node))
  }
}
