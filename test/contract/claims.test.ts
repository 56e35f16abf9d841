import { describe } from 'vitest'
import { engines } from '../kit/engines.ts'
import { openTables } from '../kit/open-tables.ts'
import { claimsContract } from './claims.contract.ts'

for (const engine of engines) {
  describe(`claims on ${engine}`, () => claimsContract(openTables[engine]))
}
