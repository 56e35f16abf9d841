import { describe } from 'vitest'
import { engines } from '../kit/engines.ts'
import { openTables } from '../kit/open-tables.ts'
import { nodeLeaseContract } from './node-lease.contract.ts'

for (const engine of engines) {
  describe(`node-lease on ${engine}`, () => nodeLeaseContract(openTables[engine]))
}
