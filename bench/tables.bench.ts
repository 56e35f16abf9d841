/** Tables of each engine against its raw library. */
import type { Bench } from './kit.ts'
import { clusterFigures } from './tables-cluster.ts'
import { embeddedFigures } from './tables-embedded.ts'

export const bench: Bench = {
  name: 'tables',
  engines: ['embedded', 'cluster'],
  about: 'single-row writes, point gets and slices',
  run: (engine, kit) => (engine === 'embedded' ? embeddedFigures(kit) : clusterFigures(kit)),
}
