/**
 * Fills a thousand embedded feeds with a thousand entries each, as fan-out does, and tells its parent
 * how much resident memory that took. Run by cache.bench.ts with --expose-gc.
 */
import { EmbeddedFeeds } from '../services/platform/embedded/feeds.ts'
import { MemoryBudget } from '../services/platform/embedded/memory-budget.ts'
import type { FeedKey } from '../services/platform/feeds.ts'
import { Telemetry } from '../services/platform/telemetry.ts'

const FEEDS = 1000
const ENTRIES = 1000

const settle = async (): Promise<number> => {
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return process.memoryUsage.rss()
}

const telemetry = new Telemetry({ level: 'error', version: 'bench' })
const feeds = new EmbeddedFeeds(new MemoryBudget(2 ** 30), telemetry)
const keys = Array.from(
  { length: FEEDS },
  (_, at): FeedKey => ({ kind: 'feed', owner: BigInt(at) }),
)
const pushAll = async (from: number, to: number): Promise<void> => {
  for (let at = from; at < to; at += 1) {
    await feeds.push(keys, { ms: at + 1, id: (1n << 62n) + BigInt(at) }, ENTRIES)
  }
}

// One pass warms the code up, so that compiling it is not counted as data.
const openAll = async (): Promise<void> => {
  for (const key of keys) {
    await feeds.open({ key, graphVersion: 1, pulledVersion: 1, keepMs: 3_600_000 })
  }
}
await openAll()
await pushAll(0, 40)
await feeds.drop(keys)
const idle = await settle()
await openAll()
await pushAll(0, ENTRIES)
const full = await settle()
const counts = await feeds.readMany(keys.map((key) => ({ key, range: { limit: ENTRIES + 1 } })))
const held = counts.reduce((sum, read) => sum + (read.resident ? read.entries.length : 0), 0)
if (held !== FEEDS * ENTRIES) throw new Error(`only ${held} entries are held`)
process.send?.(full - idle, () => process.exit(0))
