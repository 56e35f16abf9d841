import { describe, expect, test } from 'vitest'
import { WriteTimestamps } from '../../services/platform/cluster/timestamps.ts'

const YEAR_2255_MS = Date.UTC(2255, 0, 1)

/** As the hidden column keeps it. */
const stored = (us: number): number => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(us)
  return bytes.readDoubleBE()
}

describe('timestamps of writes', () => {
  test('each is later than the one before, while the clock stands and when it steps back', () => {
    let nowMs = 1_000
    const timestamps = new WriteTimestamps(() => nowMs)
    const made = [timestamps.next(), timestamps.next()]
    nowMs = 500
    made.push(timestamps.next())
    nowMs = 2_000
    made.push(timestamps.next())
    expect(made).toEqual([1_000_000, 1_000_001, 1_000_002, 2_000_000])
  })

  test.each([Date.UTC(2026, 0, 1), YEAR_2255_MS])(
    'a write after a read is later by a microsecond that the column keeps (at %d ms)',
    (nowMs) => {
      const ahead = new WriteTimestamps(() => nowMs + 10_000)
      const behind = new WriteTimestamps(() => nowMs)
      for (let turn = 0; turn < 1_000; turn += 1) {
        const read = stored(ahead.next())
        behind.observe(read)
        const written = behind.next()
        expect(BigInt(written) - BigInt(read)).toBe(1n)
        expect(stored(written)).toBe(written)
        ahead.observe(stored(written))
      }
    },
  )

  test('where a double cannot tell two microseconds apart nothing is written', () => {
    const timestamps = new WriteTimestamps(() => YEAR_2255_MS)
    timestamps.observe(Number.MAX_SAFE_INTEGER)
    expect(() => timestamps.next()).toThrow('whole number')
    expect(() => new WriteTimestamps(() => 1.0001).next()).toThrow('whole number')
  })
})
