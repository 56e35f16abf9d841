import { describe } from 'vitest'
import { engines } from '../kit/engines.ts'
import { openTables } from '../kit/open-tables.ts'
import { leasesContract } from './leases.contract.ts'

for (const engine of engines) {
  describe(`leases on ${engine}`, () => leasesContract(openTables[engine]))
}
