import { describe } from 'vitest'
import { cacheEngines, openCaches } from '../kit/caches.ts'
import { cacheContract } from './cache.contract.ts'

for (const engine of cacheEngines) {
  describe(`cache on ${engine} (PLT-1)`, () => cacheContract(() => openCaches(engine)))
}
