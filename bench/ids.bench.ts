/** Ids as `bigint` against ids as two 32-bit halves: what the choice in docs/adr/0003 rests on. */
import { IdGenerator } from '../services/kernel/ids.ts'
import type { Bench } from './kit.ts'

const COUNT = 100_000

/** The same layout in two numbers: 31 high bits (with the leading 1) and 32 low bits. */
const halves = (now: () => number, node: number) => {
  let lastMs = 0
  let sequence = 0
  return () => {
    const ms = now()
    if (ms > lastMs) {
      lastMs = ms
      sequence = 0
    } else if (sequence === 2047) {
      lastMs += 1
      sequence = 0
    } else sequence += 1
    const high = 0x40000000 + Math.floor(lastMs / 2048)
    const low = (((lastMs % 2048) << 21) | (node << 11) | sequence) >>> 0
    return { high, low }
  }
}

const sortBigints = (ids: readonly bigint[]) => {
  const copy = [...ids].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0))
  return Promise.resolve(copy.length)
}

const sortHalves = (ids: readonly { readonly high: number; readonly low: number }[]) => {
  const copy = [...ids].sort((a, b) => b.high - a.high || b.low - a.low)
  return Promise.resolve(copy.length)
}

export const bench: Bench = {
  name: 'ids',
  engines: ['embedded'],
  about: 'issuing and comparing ids',
  run: async (_engine, kit) => {
    const bigints = new IdGenerator(Date.now, {
      node: 5,
      afterMs: 0,
      untilMs: Number.MAX_SAFE_INTEGER,
    })
    const pairs = halves(Date.now, 5)
    const bigintIds = Array.from({ length: COUNT }, () => bigints.next())
    const halfIds = Array.from({ length: COUNT }, pairs)
    return [
      await kit.contest({
        name: 'issue an id',
        ours: async () => {
          for (let index = 0; index < COUNT; index += 1) bigints.next()
          return COUNT
        },
        reference: async () => {
          for (let index = 0; index < COUNT; index += 1) pairs()
          return COUNT
        },
        referenceName: 'two 32-bit halves',
        goal: 0.1,
      }),
      await kit.contest({
        name: 'sort ids, newest first',
        ours: () => sortBigints(bigintIds),
        reference: () => sortHalves(halfIds),
        referenceName: 'two 32-bit halves',
        goal: 0.5,
      }),
    ]
  },
}
