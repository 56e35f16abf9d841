/** Account services that share a world's engines, as those of two processes do. */
import { AccountService } from '../../services/accounts/accounts.ts'
import { accountSettings } from '../../services/accounts/settings.ts'
import { AuditService } from '../../services/audit/audit.ts'
import type { Values } from '../../services/kernel/settings.ts'
import type { Commit } from '../../services/platform/commit.ts'
import type { PubSub, Subscriber } from '../../services/platform/pubsub.ts'
import type { World } from './world.ts'

export interface SiblingOptions {
  readonly settings?: Partial<Values<typeof accountSettings>>
  readonly commit?: Commit
  readonly pubsub?: PubSub
}

/** A second service on the engines of `world`; deaf to notices unless it follows. */
export const siblingOf = (
  world: World,
  { settings, commit, pubsub }: SiblingOptions = {},
): AccountService =>
  new AccountService({
    ...world.platform,
    commit: commit ?? world.platform.commit,
    pubsub: pubsub ?? world.platform.pubsub,
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

/** Messages of which none arrive; when it is mended, subscribers hear that they missed some. */
export class BrokenLine implements PubSub {
  readonly #subscribers = new Set<Subscriber>()

  async publish(): Promise<void> {}

  async subscribe(_channel: string, subscriber: Subscriber): Promise<AsyncDisposable> {
    this.#subscribers.add(subscriber)
    return { [Symbol.asyncDispose]: async () => void this.#subscribers.delete(subscriber) }
  }

  mend(): void {
    for (const subscriber of this.#subscribers) subscriber.resync()
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
