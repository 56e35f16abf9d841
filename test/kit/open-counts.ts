/** A process of its own that keeps counts on given tables and a given cache. */
import { Settings, type Values } from '../../services/kernel/settings.ts'
import type { Cache } from '../../services/platform/cache.ts'
import { Counts } from '../../services/platform/counts.ts'
import { countSettings } from '../../services/platform/settings.ts'
import type { Tables } from '../../services/platform/tables.ts'
import { silentTelemetry } from './log-engines.ts'
import { openTallies } from './open-tallies.ts'

export const openCounts = (
  { tables, cache }: { readonly tables: Tables; readonly cache: Cache },
  settings: Partial<Values<typeof countSettings>> = {},
): Counts =>
  new Counts({
    ...{ tallies: openTallies(tables), cache, telemetry: silentTelemetry() },
    settings: { ...new Settings([countSettings]).view(countSettings), ...settings },
  })
