import { describe } from 'vitest'
import { engines } from '../kit/engines.ts'
import { openTables } from '../kit/open-tables.ts'
import { partedListsContract } from './parted-lists.contract.ts'

for (const engine of engines) {
  describe(`GRA-7: parted lists on ${engine}`, () => partedListsContract(openTables[engine]))
}
