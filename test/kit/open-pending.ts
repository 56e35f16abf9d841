/** A process of its own that follows up what it decides, on given tables and with a clock by hand. */
import { IdGenerator } from '../../services/kernel/ids.ts'
import { Settings } from '../../services/kernel/settings.ts'
import { Pending } from '../../services/platform/pending.ts'
import { pendingSettings } from '../../services/platform/settings.ts'
import type { Tables } from '../../services/platform/tables.ts'
import { silentTelemetry } from './log-engines.ts'
import type { ManualClock } from './manual-clock.ts'

let nodes = 0

export const openPending = (tables: Tables, clock: ManualClock): Pending => {
  nodes += 1
  const span = { node: nodes, afterMs: 0, untilMs: Number.MAX_SAFE_INTEGER }
  return new Pending({
    tables,
    clock,
    ids: new IdGenerator(() => clock.now(), span),
    telemetry: silentTelemetry(),
    settings: new Settings([pendingSettings]).view(pendingSettings),
  })
}
