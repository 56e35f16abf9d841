/** Builds every service from the platform, in the order in which they may use one another. */
import { AuditService } from './audit/audit.ts'
import { DeadLetterService } from './dead-letter/dead-letter.ts'
import type { Settings } from './kernel/settings.ts'
import type { Platform } from './platform/platform.ts'
import { SettingsService } from './settings/settings.ts'

export interface Services {
  readonly audit: AuditService
  readonly settings: SettingsService
  readonly deadLetters: DeadLetterService
}

export type ServicePlatform = Pick<
  Platform,
  'tables' | 'commit' | 'pubsub' | 'clock' | 'ids' | 'telemetry'
>

export const composeServices = (platform: ServicePlatform, settings: Settings): Services => {
  const { tables, commit, pubsub, clock, ids, telemetry } = platform
  const audit = new AuditService({ tables, clock })
  return {
    audit,
    settings: new SettingsService({
      ...{ settings, tables, commit, pubsub, clock, ids, telemetry, audit },
    }),
    deadLetters: new DeadLetterService({ tables, clock, ids, audit }),
  }
}
