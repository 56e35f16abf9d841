/** Graph services that share a world's engines, as those of several processes do. */
import type { AccountId } from '../../services/accounts/accounts.ts'
import { GraphService } from '../../services/graph/graph.ts'
import { graphSettings } from '../../services/graph/settings.ts'
import { IdGenerator } from '../../services/kernel/ids.ts'
import type { Page, PageRequest } from '../../services/kernel/page.ts'
import { PartedLists } from '../../services/platform/parted-lists.ts'
import { Pending } from '../../services/platform/pending.ts'
import { listSettings, pendingSettings } from '../../services/platform/settings.ts'
import type { Fuse } from './fuse.ts'
import type { World } from './world.ts'

export interface GraphProcess {
  readonly graph: GraphService
  readonly pending: Pending
}

export interface GraphProcessOptions {
  /** By how much its clock is ahead. */
  readonly aheadMs?: number
  readonly fuse?: Fuse
}

/** Far from the numbers that worlds lease. */
let node = 900

export const openGraphProcess = (
  world: World,
  { aheadMs = 0, fuse }: GraphProcessOptions = {},
): GraphProcess => {
  node += 1
  const { platform, settings, services } = world
  const now = () => platform.clock.now() + aheadMs
  const clock = { now, sleep: platform.clock.sleep.bind(platform.clock) }
  const ids = new IdGenerator(now, { node, afterMs: 0, untilMs: Number.MAX_SAFE_INTEGER })
  const tables = fuse ? fuse.tables(platform.tables) : platform.tables
  const commit = fuse ? fuse.commit(platform.commit) : platform.commit
  const base = { ...platform, tables, commit, clock, ids }
  const pending = new Pending({ ...base, settings: settings.view(pendingSettings) })
  const lists = new PartedLists({ ...base, settings: settings.view(listSettings) })
  const graph = new GraphService({
    ...{ ...base, pending, lists },
    accounts: services.accounts,
    settings: settings.view(graphSettings),
  })
  return { graph, pending }
}

/** Accounts without a password to wait for. */
export const openAccounts = (world: World, handles: readonly string[]): Promise<AccountId[]> =>
  Promise.all(
    handles.map(async (handle) => {
      const { account } = await world.services.accounts.signUp({
        handle,
        password: 'correct horse',
      })
      return account.id
    }),
  )

/** All of a list, page by page. */
export const readAll = async <Item>(
  read: (page: PageRequest) => Promise<Page<Item> | undefined>,
  first = 3,
): Promise<Item[]> => {
  const all: Item[] = []
  let after: string | undefined
  do {
    const page = await read({ first, ...(after === undefined ? {} : { after }) })
    all.push(...(page?.items ?? []))
    after = page?.next
  } while (after !== undefined)
  return all
}
