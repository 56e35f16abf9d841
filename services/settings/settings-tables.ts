/** The live settings in their table: few, so they lie in one partition. */
import { liveSettings } from '../platform/generated/tables.ts'
import { put, SLICE_MAX, type Tables, type Write } from '../platform/tables.ts'

const SCOPE = 'all'

export interface LiveSetting {
  readonly name: string
  readonly value: string
}

export const putLiveSetting = (
  change: LiveSetting & { readonly actor: string; readonly changedAt: number },
): Write => put(liveSettings, { scope: SCOPE, ...change })

export const readLiveSettings = async (tables: Tables): Promise<LiveSetting[]> => {
  const rows = await tables.slice(liveSettings, { scope: SCOPE }, { limit: SLICE_MAX })
  return rows.map(({ name, value }) => ({ name, value: value ?? '' }))
}
