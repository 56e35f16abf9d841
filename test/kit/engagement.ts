/** What people do with posts through the API, and engagement services as those of other processes. */
import { EngagementService, Marks } from '../../services/engagement/engagement.ts'
import { engagementSettings } from '../../services/engagement/settings.ts'
import type { Id } from '../../services/kernel/ids.ts'
import type { Commit } from '../../services/platform/commit.ts'
import type { Person } from './people.ts'
import type { World } from './world.ts'

export const MARKED = 'id text likeCount viewerHasLiked viewerHasSaved viewerHasHidden'

export interface MarkedPost {
  readonly id: string
  readonly text: string
  readonly likeCount: number
  readonly viewerHasLiked: boolean
  readonly viewerHasSaved: boolean
  readonly viewerHasHidden: boolean
}

export interface ActPayload {
  readonly post: MarkedPost | null
  readonly userErrors: readonly { readonly code: string; readonly field: string | null }[]
}

export type Act = 'like' | 'unlike' | 'save' | 'unsave' | 'hide' | 'unhide'

/** What the mutation answers, refusals included. */
export const act = async (who: Person, name: Act, postId: string): Promise<ActPayload> => {
  const document = `mutation ($input: EngagementInput!) {
    ${name}(input: $input) { post { ${MARKED} } userErrors { code field } }
  }`
  const data = await who.asks<Record<Act, ActPayload>>(document, { input: { postId } })
  return data[name]
}

export const report = async (who: Person, postId: string, more: object): Promise<ActPayload> => {
  const document = `mutation ($input: ReportInput!) {
    report(input: $input) { post { ${MARKED} } userErrors { code field } }
  }`
  const input = { postId, reason: 'SPAM', ...more }
  const data = await who.asks<{ report: ActPayload }>(document, { input })
  return data.report
}

export interface SavedPage {
  readonly edges: readonly { readonly node: MarkedPost; readonly savedAt: string }[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}

export const SAVED = `query ($first: Int! = 20, $after: Cursor) {
  savedPosts(first: $first, after: $after) {
    edges { node { ${MARKED} } savedAt } pageInfo { hasNextPage endCursor }
  }
}`

export const savedBy = async (who: Person, page: object = {}): Promise<SavedPage> => {
  const { savedPosts } = await who.asks<{ savedPosts: SavedPage }>(SAVED, { ...page })
  return savedPosts
}

/** An engagement service on the engines of a world: another process, or one that fails. */
export const engagementBeside = (
  { platform, services, settings }: World,
  changed: { readonly commit?: Commit; readonly clockAheadMs?: number } = {},
): EngagementService => {
  const ahead = BigInt(changed.clockAheadMs ?? 0) << 21n
  return new EngagementService({
    ...{ ...platform, ...services, marks: new Marks(platform) },
    commit: changed.commit ?? platform.commit,
    ids: { next: <Name extends string>() => (platform.ids.next<Name>() + ahead) as Id<Name> },
    settings: settings.view(engagementSettings),
  })
}

export class DiedError extends Error {
  override readonly name = 'DiedError'
}

/** A commit after, or before, which its process dies. */
export const dyingCommit = (commit: Commit, when: 'before' | 'after'): Commit => ({
  commit: async (writes, events) => {
    if (when === 'after') await commit.commit(writes, events)
    throw new DiedError(`the process dies ${when} its commit`)
  },
  published: () => commit.published(),
  oldestUnpublishedMs: () => commit.oldestUnpublishedMs(),
  [Symbol.asyncDispose]: async () => {},
})
