/** Builds every service from the platform, in the order in which they may use one another. */
import { AccountService } from './accounts/accounts.ts'
import { accountSettings } from './accounts/settings.ts'
import { AuditService } from './audit/audit.ts'
import { DeadLetterService } from './dead-letter/dead-letter.ts'
import { EngagementService, Marks } from './engagement/engagement.ts'
import { engagementSettings } from './engagement/settings.ts'
import { GraphService } from './graph/graph.ts'
import { graphSettings } from './graph/settings.ts'
import type { Section, Settings } from './kernel/settings.ts'
import type { Pending } from './platform/pending.ts'
import type { Platform } from './platform/platform.ts'
import { PostService } from './post/post.ts'
import { postSettings } from './post/settings.ts'
import { SettingsService } from './settings/settings.ts'

/** The settings of the services, in their order. */
export const serviceSections: readonly Section[] = [
  accountSettings,
  graphSettings,
  postSettings,
  engagementSettings,
]

export interface Services {
  /** What any of them has begun and not followed up. */
  readonly pending: Pending
  readonly audit: AuditService
  readonly settings: SettingsService
  readonly deadLetters: DeadLetterService
  readonly accounts: AccountService
  readonly graph: GraphService
  readonly posts: PostService
  readonly engagement: EngagementService
}

export type ServicePlatform = Pick<
  Platform,
  'tables' | 'commit' | 'counts' | 'pending' | 'lists' | 'pubsub' | 'clock' | 'ids' | 'telemetry'
>

export const composeServices = (platform: ServicePlatform, settings: Settings): Services => {
  const { tables, commit, counts, pending, lists, pubsub, clock, ids, telemetry } = platform
  const audit = new AuditService({ tables, clock })
  const base = { tables, commit, counts, pending, lists, pubsub, clock, ids, telemetry, audit }
  const accounts = new AccountService({ ...base, settings: settings.view(accountSettings) })
  const graph = new GraphService({ ...base, accounts, settings: settings.view(graphSettings) })
  const marks = new Marks({ tables })
  const posts = new PostService({
    ...{ ...base, accounts, graph },
    hidden: (viewer, shown) => marks.hidden(viewer, shown),
    settings: settings.view(postSettings),
  })
  return {
    pending,
    audit,
    settings: new SettingsService({ ...base, settings }),
    deadLetters: new DeadLetterService({ tables, clock, ids, audit }),
    accounts,
    graph,
    posts,
    engagement: new EngagementService({
      ...{ ...base, marks, posts },
      settings: settings.view(engagementSettings),
    }),
  }
}
