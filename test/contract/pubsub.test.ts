import { describe } from 'vitest'
import { cacheEngines, openCaches } from '../kit/caches.ts'
import { pubsubContract } from './pubsub.contract.ts'

for (const engine of cacheEngines) {
  describe(`pubsub on ${engine}`, () => pubsubContract(() => openCaches(engine)))
}
