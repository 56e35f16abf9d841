/** Tables of each engine against its raw library. */
import type { Bench } from './kit.ts'
import { clusterFigures } from './tables-cluster.ts'

export const bench: Bench = {
  name: 'tables',
  engines: ['cluster'],
  about: 'single-row writes, point gets and slices',
  run: (_engine, kit) => clusterFigures(kit),
}
