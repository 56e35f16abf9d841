import { describe } from 'vitest'
import { engines } from '../kit/engines.ts'
import { openCommit } from '../kit/open-commit.ts'
import { commitContract } from './commit.contract.ts'

for (const engine of engines) {
  describe(`commit on ${engine}`, () => commitContract(openCommit[engine]))
}
