/**
 * Memory per reader as a metric (BEY-16): the server is asked about a few feeds that were read
 * lately, when the metrics are collected. An average over all would have to scan them.
 */
import type { Telemetry } from '../telemetry.ts'
import type { RedisLink } from './redis.ts'

const SAMPLES = 16

export class FeedMemory {
  readonly #link: RedisLink
  readonly #keys: string[] = []
  #next = 0

  constructor(link: RedisLink, telemetry: Telemetry) {
    this.#link = link
    telemetry.gauge('tributary_feeds_bytes_per_feed', 'memory of a feed read lately, mean', {
      collect: async (gauge) => gauge.set(await this.#mean()),
    })
  }

  sample(key: string): void {
    this.#keys[this.#next] = key
    this.#next = (this.#next + 1) % SAMPLES
  }

  async bytesOf(key: string): Promise<number | undefined> {
    const [bytes] = await this.#link.run([
      { command: 'MEMORY', args: ['USAGE', key, 'SAMPLES', 0], key },
    ])
    return typeof bytes === 'number' ? bytes : undefined
  }

  async #mean(): Promise<number> {
    if (this.#keys.length === 0) return 0
    const sizes = await Promise.allSettled([...new Set(this.#keys)].map((key) => this.bytesOf(key)))
    const known = sizes.flatMap((size) =>
      size.status === 'fulfilled' && size.value !== undefined ? [size.value] : [],
    )
    return known.reduce((sum, bytes) => sum + bytes, 0) / Math.max(1, known.length)
  }
}
