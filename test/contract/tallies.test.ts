import { describe } from 'vitest'
import { engines } from '../kit/engines.ts'
import { openTables } from '../kit/open-tables.ts'
import { talliesContract } from './tallies.contract.ts'

for (const engine of engines) {
  describe(`ENG-2: tallies on ${engine}`, () => talliesContract(openTables[engine]))
}
