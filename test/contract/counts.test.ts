import { describe } from 'vitest'
import { openCaches } from '../kit/caches.ts'
import { engines } from '../kit/engines.ts'
import { openTables } from '../kit/open-tables.ts'
import { countsContract } from './counts.contract.ts'

for (const engine of engines) {
  describe(`ENG-2: counts on ${engine}`, () =>
    countsContract({ tables: openTables[engine], caches: () => openCaches(engine) }))
}
