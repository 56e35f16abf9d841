/**
 * A reader's graph version: how often whom they follow, block and mute has changed, and what changed
 * lately.
 *
 * A feed that was filled at one version asks at another whose entries it lacks or has too many of,
 * and gets the authors concerned in one slice. Only the newest changes are kept: a feed that is
 * further behind is built anew. A change may be noted twice when its writer crashed, never missed;
 * a feed looks at how things stand with an author it is told of, so that does no harm.
 */
import { UnavailableError } from '../kernel/errors.ts'
import type { AccountId } from '../kernel/ids.ts'
import type { Values } from '../kernel/settings.ts'
import { letOthersPass } from '../platform/contention.ts'
import { type GraphChangesRow, graphChanges } from '../platform/generated/tables.ts'
import { put, remove, SLICE_MAX, type Swap, type Tables } from '../platform/tables.ts'
import type { Side } from './relation.ts'
import type { graphSettings } from './settings.ts'

export interface GraphChange {
  readonly authorId: AccountId
  readonly what: keyof Side
  /** Of the decision. */
  readonly version: bigint
}

export interface GraphChanges {
  /** The reader's version now. */
  readonly version: number
  /** Oldest first; absent where they are not known one by one any more. */
  readonly changes?: readonly GraphChange[]
}

export interface GraphVersionsOptions {
  readonly tables: Tables
  readonly settings: Values<typeof graphSettings>
}

const HEADER = 0n

export class GraphVersions {
  readonly #options: GraphVersionsOptions

  constructor(options: GraphVersionsOptions) {
    this.#options = options
  }

  /** Notes a change: the reader's version is higher when this resolves. */
  async bump(reader: AccountId, change: GraphChange): Promise<void> {
    const { attemptsMax } = this.#options.settings
    let header = await this.#header(reader)
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      if (isNoted(header, change)) return
      const outcome = await this.#write(reader, header, change)
      if (outcome.applied) return
      header = outcome.current
      await letOthersPass(attempt)
    }
    throw new UnavailableError(`a graph was changed by others ${attemptsMax} times: try again`)
  }

  /** What changed after a version of the reader. */
  async since(reader: AccountId, version: number): Promise<GraphChanges> {
    const { tables, settings } = this.#options
    const partition = { readerId: reader }
    const header = await this.#header(reader)
    const latest = Number(header?.latest ?? 0n)
    if (latest - version > Math.min(settings.changesKept, SLICE_MAX)) return { version: latest }
    const rows = await tables.slice(graphChanges, partition, {
      after: { number: BigInt(version) },
      limit: SLICE_MAX,
    })
    return { version: latest, changes: rows.map(fromRow) }
  }

  /** Several at once, in their order. */
  async versionsOf(readers: readonly AccountId[]): Promise<number[]> {
    const keys = readers.map((readerId) => ({ readerId, number: HEADER }))
    const headers = await this.#options.tables.getMany(graphChanges, keys)
    return headers.map((header) => Number(header?.latest ?? 0n))
  }

  #header(reader: AccountId): Promise<GraphChangesRow | undefined> {
    const key = { readerId: reader, number: HEADER }
    return this.#options.tables.get(graphChanges, key)
  }

  #write(readerId: AccountId, header: GraphChangesRow | undefined, change: GraphChange) {
    const { tables, settings } = this.#options
    const latest = (header?.latest ?? 0n) + 1n
    const next = { latest, ...change }
    const swap: Swap<typeof graphChanges> = header
      ? { expected: { latest: header.latest }, next }
      : { absent: true, next }
    const forgotten = latest - BigInt(settings.changesKept)
    return tables.compareAndWrite(graphChanges, { readerId, number: HEADER }, swap, [
      put(graphChanges, { readerId, number: latest, ...change }),
      ...(forgotten > HEADER ? [remove(graphChanges, { readerId, number: forgotten })] : []),
    ])
  }
}

/** What was noted last is not noted again by whoever repeats it. */
const isNoted = (header: GraphChangesRow | undefined, change: GraphChange): boolean =>
  header?.version === change.version &&
  header.authorId === change.authorId &&
  header.what === change.what

const fromRow = (row: GraphChangesRow): GraphChange => ({
  authorId: (row.authorId ?? 0n) as AccountId,
  what: (row.what ?? 'follow') as keyof Side,
  version: row.version ?? 0n,
})
