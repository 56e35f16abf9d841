import { describe } from 'vitest'
import { engines } from '../kit/engines.ts'
import { openTables } from '../kit/open-tables.ts'
import { serverSecretContract } from './server-secret.contract.ts'

for (const engine of engines) {
  describe(`a server secret on ${engine}`, () => serverSecretContract(openTables[engine]))
}
