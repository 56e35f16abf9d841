/**
 * Parted lists: lists without end in partitions that have one (GRA-7).
 *
 * The followers of an account, the replies to a post: such a list lies in parts, each a partition of
 * its table, numbered from 0. New entries go to the newest part; when that holds about `partRows` the
 * next one is opened. Which part an entry went to is kept with what it was made from, because it is
 * removed from there. Nothing is moved, so a position in a list stays good for ever.
 *
 * How long a part is, is not counted with every entry: about one entry in `measureEvery`, by chance
 * of its version, measures the open part in a bounded number of reads. So a part may be longer than
 * `partRows` by a few times `measureEvery`, and a list that is not full costs nothing.
 *
 * A list is read part by part in the order of its table. Entries are in order within a part; two that
 * were added at the moment a part was opened may lie on either side of the border.
 */
import type { Values } from '../kernel/settings.ts'
import type { Clock } from './clock.ts'
import { listParts } from './generated/tables.ts'
import type { listSettings } from './settings.ts'
import {
  type AnyTable,
  type BoundOf,
  boundOf,
  type PartitionOf,
  pages,
  type RowOf,
  SLICE_MAX,
  type Slice,
  type Tables,
} from './tables.ts'

/** A kind of list: where its parts lie. */
export interface PartedList<T extends AnyTable> {
  /** Unique among all kinds, and never changed. */
  readonly name: string
  readonly table: T
  readonly partition: (owner: bigint, part: number) => PartitionOf<T>
}

/** A place in a list: after an entry, or at the beginning of a part. */
export interface ListPosition<T extends AnyTable> {
  readonly part: number
  readonly after?: BoundOf<T>
}

export interface ListEntry<T extends AnyTable> {
  readonly row: RowOf<T>
  readonly position: ListPosition<T>
}

export interface ListPage<T extends AnyTable> {
  readonly entries: readonly ListEntry<T>[]
  /** Where the list goes on; absent at its end. A page may be short although there is more. */
  readonly next?: ListPosition<T>
}

export interface ListRequest<T extends AnyTable> {
  /** At most SLICE_MAX − 1. */
  readonly first: number
  readonly from?: ListPosition<T> | undefined
  readonly direction?: 'table' | 'reverse'
}

export interface PartedListsOptions {
  readonly tables: Tables
  readonly clock: Clock
  readonly settings: Values<typeof listSettings>
}

/** Parts read for one page: those whose entries have all gone must not hold a reader up. */
const PARTS_A_PAGE = 8

export class PartedLists {
  readonly #options: PartedListsOptions

  constructor(options: PartedListsOptions) {
    this.#options = options
  }

  /** The part that takes new entries. */
  async openPart<T extends AnyTable>(list: PartedList<T>, owner: bigint): Promise<number> {
    const key = { list: list.name, owner }
    const [newest] = await this.#options.tables.slice(listParts, key, { limit: 1 })
    return newest?.part ?? 0
  }

  /** To be told of every new entry, when it can be read: opens the next part where one is due. */
  async added<T extends AnyTable>(
    list: PartedList<T>,
    { owner, part, version }: { owner: bigint; part: number; version: bigint },
  ): Promise<void> {
    const { tables, clock, settings } = this.#options
    if (scatter(version) % settings.measureEvery !== 0) return
    if ((await this.#measure(list, owner, part)) < settings.partRows) return
    const next = { list: list.name, owner, part: part + 1, openedAt: clock.now() }
    await tables.insertIfAbsent(listParts, next)
  }

  /** One page, over as many parts as it takes. */
  async page<T extends AnyTable>(
    list: PartedList<T>,
    owner: bigint,
    { first, from, direction = 'table' }: ListRequest<T>,
  ): Promise<ListPage<T>> {
    const newest = await this.openPart(list, owner)
    const step = (list.table.order === 'asc') === (direction === 'table') ? 1 : -1
    const start = step === 1 ? 0 : newest
    const entries: ListEntry<T>[] = []
    let at: ListPosition<T> = from ?? { part: start }
    for (let read = 0; read < PARTS_A_PAGE; read += 1) {
      if (at.part < 0 || at.part > newest) return { entries }
      const limit = first - entries.length + 1
      const rows = await this.#slice(list, owner, { at, limit, direction })
      const taken = rows.slice(0, limit - 1)
      entries.push(...taken.map((row) => entryOf(list, at.part, row)))
      const last = entries.at(-1)
      if (rows.length === limit) return { entries, next: last ? last.position : at }
      at = { part: at.part + step }
    }
    return at.part < 0 || at.part > newest ? { entries } : { entries, next: at }
  }

  #slice<T extends AnyTable>(
    { table, partition }: PartedList<T>,
    owner: bigint,
    {
      at,
      limit,
      direction,
    }: { at: ListPosition<T> } & Required<Pick<Slice<T>, 'limit' | 'direction'>>,
  ): Promise<RowOf<T>[]> {
    const bound = at.after === undefined ? {} : { after: at.after }
    const slice: Slice<T> = { limit, direction, ...bound }
    return this.#options.tables.slice(table, partition(owner, at.part), slice)
  }

  /** How many rows a part has, as far as it matters. */
  async #measure<T extends AnyTable>(
    { table, partition }: PartedList<T>,
    owner: bigint,
    part: number,
  ): Promise<number> {
    const { tables, settings } = this.#options
    const limit = Math.min(SLICE_MAX, settings.partRows)
    let rows = 0
    for await (const page of pages(tables, table, partition(owner, part), { limit })) {
      rows += page.length
      if (rows >= settings.partRows) break
    }
    return rows
  }
}

const entryOf = <T extends AnyTable>(
  { table }: PartedList<T>,
  part: number,
  row: RowOf<T>,
): ListEntry<T> => ({ row, position: { part, after: boundOf(table, row) } })

/** 2^64 over the golden ratio: the high bits of the product depend on every bit of the version. */
const SPREAD = 0x9e3779b97f4a7c15n

const scatter = (version: bigint): number => Number(BigInt.asUintN(64, version * SPREAD) >> 40n)
