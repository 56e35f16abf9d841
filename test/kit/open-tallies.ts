/** A process of its own that keeps tallies on given tables. */
import { Settings, type Values } from '../../services/kernel/settings.ts'
import { tallySettings } from '../../services/platform/settings.ts'
import type { Tables } from '../../services/platform/tables.ts'
import { Tallies } from '../../services/platform/tallies.ts'
import { silentTelemetry } from './log-engines.ts'

export const openTallies = (
  tables: Tables,
  settings: Partial<Values<typeof tallySettings>> = {},
): Tallies =>
  new Tallies({
    tables,
    telemetry: silentTelemetry(),
    settings: { ...new Settings([tallySettings]).view(tallySettings), ...settings },
  })
