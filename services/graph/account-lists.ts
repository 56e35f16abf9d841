/** The lists of an account, page by page (GRA-7), and whether there is room in those with an end. */
import { CursorInvalidError, TooLargeError } from '../kernel/errors.ts'
import { type AccountId, formatId, parseId } from '../kernel/ids.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import type { Values } from '../kernel/settings.ts'
import type { ListPosition, PartedList, PartedLists } from '../platform/parted-lists.ts'
import { pages, SLICE_MAX, type Tables } from '../platform/tables.ts'
import {
  blockedAccounts,
  type FollowTable,
  followersList,
  followingList,
  type MarkTable,
  mutedAccounts,
  requestsList,
} from './graph-tables.ts'
import type { graphSettings } from './settings.ts'

export interface Listed {
  readonly id: AccountId
  /** Where it stands in its list: `after` it the list goes on. */
  readonly position: string
}

export type OpenList = 'followers' | 'following' | 'requests'
export type MarkList = 'blocked' | 'muted'

export interface AccountListsOptions {
  readonly tables: Tables
  readonly lists: PartedLists
  readonly settings: Values<typeof graphSettings>
}

const OPEN_LISTS: Readonly<Record<OpenList, PartedList<FollowTable>>> = {
  followers: followersList,
  following: followingList,
  requests: requestsList,
}
const MARK_LISTS: Readonly<Record<MarkList, MarkTable>> = {
  blocked: blockedAccounts,
  muted: mutedAccounts,
}

export class AccountLists {
  readonly #options: AccountListsOptions

  constructor(options: AccountListsOptions) {
    this.#options = options
  }

  /** Newest first. */
  async page(list: OpenList, owner: AccountId, request: PageRequest): Promise<Page<Listed>> {
    const { first, after } = request
    const from = after === undefined ? undefined : parsePosition(after)
    const found = await this.#options.lists.page(OPEN_LISTS[list], owner, { first, from })
    const items = found.entries.map(({ row, position }) => ({
      id: row.otherId as AccountId,
      position: formatPosition(position),
    }))
    return { items, ...(found.next ? { next: formatPosition(found.next) } : {}) }
  }

  /** The youngest accounts first. */
  async marked(list: MarkList, owner: AccountId, request: PageRequest): Promise<Page<Listed>> {
    const { first, after } = request
    const rows = await this.#options.tables.slice(
      MARK_LISTS[list],
      { accountId: owner },
      {
        limit: first + 1,
        ...(after === undefined ? {} : { after: { otherId: parseOther(after) } }),
      },
    )
    const items = rows.slice(0, first).map(({ otherId }) => ({
      id: otherId as AccountId,
      position: formatId(otherId),
    }))
    const next = rows.length > first ? items.at(-1)?.position : undefined
    return { items, ...(next === undefined ? {} : { next }) }
  }

  /** TooLargeError when `other` would be one too many. */
  async checkRoom(list: MarkList, owner: AccountId, other: AccountId): Promise<void> {
    const { tables, settings } = this.#options
    const slice = { limit: Math.min(SLICE_MAX, settings.marksMax) }
    let count = 0
    for await (const rows of pages(tables, MARK_LISTS[list], { accountId: owner }, slice)) {
      if (rows.some(({ otherId }) => otherId === other)) return
      count += rows.length
      if (count < settings.marksMax) continue
      throw new TooLargeError(`at most ${settings.marksMax} accounts can be ${list}`, FIELD)
    }
  }
}

const FIELD = { field: 'accountId' } as const

/** `3` is the beginning of part 3; `3.1767225600000.4611686018427387904` an entry in it. */
const formatPosition = ({ part, after }: ListPosition<FollowTable>): string =>
  after?.since === undefined || after.otherId === undefined
    ? `${part}`
    : `${part}.${after.since}.${formatId(after.otherId)}`

const POSITION = /^(\d{1,9})(?:\.(\d{1,15})\.(\d{19}))?$/

const parsePosition = (text: string): ListPosition<FollowTable> => {
  const [, part, since, other] = POSITION.exec(text) ?? []
  if (part === undefined) throw new CursorInvalidError('this is no position of a list', AFTER)
  if (since === undefined || other === undefined) return { part: Number(part) }
  return { part: Number(part), after: { since: Number(since), otherId: parseId(other, 'after') } }
}

const AFTER = { field: 'after' } as const

const parseOther = (text: string): bigint => {
  if (/^\d{19}$/.test(text)) return parseId(text, 'after')
  throw new CursorInvalidError('this is no position of a list', AFTER)
}
