import { describe, expect, test } from 'vitest'
import { feedBucket } from '../../services/platform/feeds.ts'
import { cacheEngines, openCaches } from '../kit/caches.ts'
import { feedsContract } from './feeds.contract.ts'

for (const engine of cacheEngines) {
  describe(`feeds on ${engine} (PLT-1)`, () => feedsContract(() => openCaches(engine)))
}

test('consecutive owners spread over the buckets', () => {
  const counts = new Map<number, number>()
  for (let at = 0n; at < 20_480n; at += 1n) {
    const bucket = feedBucket({ kind: 'feed', owner: (1n << 62n) + at * 2_097_152n })
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
  }
  expect(counts.size).toBeGreaterThan(1000)
  expect(Math.max(...counts.values())).toBeLessThan(100)
})
