import { describe } from 'vitest'
import { engines } from '../kit/engines.ts'
import { openTables } from '../kit/open-tables.ts'
import { pendingContract } from './pending.contract.ts'

for (const engine of engines) {
  describe(`pending on ${engine}`, () => pendingContract(openTables[engine]))
}
