/** Post services that share a world's engines, as those of two processes do. */
import { parseGlobalId } from '../../gateway/relay/global-id.ts'
import type { AccountId } from '../../services/kernel/ids.ts'
import type { Values } from '../../services/kernel/settings.ts'
import type { Commit } from '../../services/platform/commit.ts'
import { Pending } from '../../services/platform/pending.ts'
import { pendingSettings } from '../../services/platform/settings.ts'
import type { Tables } from '../../services/platform/tables.ts'
import { type PostId, PostService } from '../../services/post/post.ts'
import { postSettings } from '../../services/post/settings.ts'
import type { World } from './world.ts'

export interface PostSiblingOptions {
  readonly commit?: Commit
  readonly tables?: Tables
  readonly ids?: World['platform']['ids']
  readonly settings?: Partial<Values<typeof postSettings>>
}

/** A second service on the engines of `world`, with a follow-up of its own. */
export const postSibling = (
  world: World,
  { commit, tables, ids, settings }: PostSiblingOptions = {},
): PostService => {
  const platform = {
    ...world.platform,
    ...(commit ? { commit } : {}),
    ...(tables ? { tables } : {}),
    ...(ids ? { ids } : {}),
  }
  return new PostService({
    ...platform,
    pending: new Pending({ ...platform, settings: world.settings.view(pendingSettings) }),
    accounts: world.services.accounts,
    graph: world.services.graph,
    settings: { ...world.settings.view(postSettings), ...settings },
  })
}

export const postIdOf = ({ id }: { readonly id: string }): PostId => parseGlobalId(id).id as PostId

export const accountIdOf = ({ id }: { readonly id: string }): AccountId =>
  parseGlobalId(id).id as AccountId
