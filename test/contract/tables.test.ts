import { describe } from 'vitest'
import { engines } from '../kit/engines.ts'
import { openTables } from '../kit/open-tables.ts'
import { tablesContract } from './tables.contract.ts'

for (const engine of engines) {
  describe(`PLT-1: tables on ${engine}`, () => tablesContract(openTables[engine]))
}
