/** Account services that share a world's engines, as those of two processes do. */
import { AccountService } from '../../services/accounts/accounts.ts'
import { accountSettings } from '../../services/accounts/settings.ts'
import { AuditService } from '../../services/audit/audit.ts'
import type { Values } from '../../services/kernel/settings.ts'
import type { Commit } from '../../services/platform/commit.ts'
import type { World } from './world.ts'

export interface SiblingOptions {
  readonly settings?: Partial<Values<typeof accountSettings>>
  readonly commit?: Commit
}

/** A second service on the engines of `world`; deaf to notices unless it follows. */
export const siblingOf = (world: World, { settings, commit }: SiblingOptions = {}) =>
  new AccountService({
    ...world.platform,
    commit: commit ?? world.platform.commit,
    audit: new AuditService(world.platform),
    settings: { ...world.settings.view(accountSettings), ...settings },
  })

/** A commit that ends the process just before it writes anything, as often as it is asked. */
export class CrashError extends Error {}

export const crashingCommit: Commit = {
  commit: async () => {
    throw new CrashError('the process dies here')
  },
  published: async () => {},
  oldestUnpublishedMs: async () => undefined,
  [Symbol.asyncDispose]: async () => {},
}
