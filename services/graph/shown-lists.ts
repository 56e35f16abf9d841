/**
 * Lists as a viewer sees them: whether at all, and without whom they block or are blocked by.
 *
 * The lists of a public account are open to all, those of a private one to its followers; between two
 * accounts of which one blocks the other there are none. A page costs the same reads wherever it lies:
 * the account and the tie of its owner, its rows, their accounts, the viewer's ties to them.
 */
import type { Account, AccountService } from '../accounts/accounts.ts'
import type { AccountId } from '../kernel/ids.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import type { AccountLists, Listed, MarkList } from './account-lists.ts'
import { NO_TIE, type Tie } from './relation.ts'
import type { Relations } from './relations.ts'

/** An account in a list. */
export interface ListedAccount extends Account {
  /** Where it stands: the list goes on after it. */
  readonly position: string
}

type Viewer = AccountId | undefined

export interface ShownListsOptions {
  readonly accounts: AccountService
  readonly lists: AccountLists
  readonly relations: Relations
}

export class ShownLists {
  readonly #options: ShownListsOptions

  constructor(options: ShownListsOptions) {
    this.#options = options
  }

  /** A page of another's list; `undefined` where the viewer may not see it. */
  async openTo(
    viewer: Viewer,
    { list, owner }: { readonly list: 'followers' | 'following'; readonly owner: AccountId },
    request: PageRequest,
  ): Promise<Page<ListedAccount> | undefined> {
    if (!(await this.#maySee(viewer, owner))) return undefined
    const page = await this.#options.lists.page(list, owner, request)
    const ties = await this.#tiesTo(viewer, page.items)
    const items = page.items.filter((_item, index) => !isBlocked(ties[index]))
    return await this.#withAccounts({ ...page, items })
  }

  /** Who asks to follow the viewer. */
  async requests(viewer: AccountId, request: PageRequest): Promise<Page<ListedAccount>> {
    return await this.#withAccounts(await this.#options.lists.page('requests', viewer, request))
  }

  /** Whom the viewer blocks or mutes: also those who block the viewer, lest that could not end. */
  async marked(
    list: MarkList,
    viewer: AccountId,
    request: PageRequest,
  ): Promise<Page<ListedAccount>> {
    return await this.#withAccounts(await this.#options.lists.marked(list, viewer, request))
  }

  async #maySee(viewer: Viewer, owner: AccountId): Promise<boolean> {
    if (viewer === owner) return true
    const [account, [tie = NO_TIE]] = await Promise.all([
      this.#options.accounts.byId(owner),
      this.#tiesTo(viewer, [{ id: owner }]),
    ])
    if (!account || isBlocked(tie)) return false
    return !account.isPrivate || tie.follows
  }

  async #tiesTo(viewer: Viewer, others: readonly Pick<Listed, 'id'>[]): Promise<readonly Tie[]> {
    if (viewer === undefined) return []
    return await this.#options.relations.ties(
      viewer,
      others.map(({ id }) => id),
    )
  }

  async #withAccounts({ items, ...rest }: Page<Listed>): Promise<Page<ListedAccount>> {
    const accounts = await this.#options.accounts.byIds(items.map(({ id }) => id))
    const found = items.flatMap(({ position }, index) => {
      const account = accounts[index]
      return account ? [{ ...account, position }] : []
    })
    return { items: found, ...rest }
  }
}

const isBlocked = ({ blocks, blockedBy }: Tie = NO_TIE): boolean => blocks || blockedBy
