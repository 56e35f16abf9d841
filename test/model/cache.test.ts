/**
 * Redis as the oracle of the embedded cache: the same random calls on both, the same answers, errors
 * included. A few keys, members and values, so that calls meet each other.
 */
import { describe, expect, test } from 'vitest'
import type { Cache, SortedSlice } from '../../services/platform/cache.ts'
import { openCaches } from '../kit/caches.ts'
import { Dice, seeds } from '../kit/dice.ts'
import { stack } from '../kit/engines.ts'

const STEPS = 1_500
const TTL = 600_000
const KEYS = ['a', 'b', 'é', '{t}c', '{t}d']
const VALUES = ['', 'x', 'y', 'värde', '🦜']
const MEMBERS = ['', 'a', 'aa', 'b', 'B', '9', '10', 'é', '\uffee', '🦜', '~', 'z']

type Step = (cache: Cache) => Promise<unknown>

const steps: readonly ((dice: Dice) => Step)[] = [
  (dice) => {
    const [key, value] = [dice.pick(KEYS), dice.pick(VALUES)]
    return (cache) => cache.set(key, value, TTL)
  },
  (dice) => {
    const keys = dice.list(5, () => dice.pick(KEYS))
    return (cache) => cache.getMany(keys)
  },
  (dice) => {
    const key = dice.pick(KEYS)
    return async (cache) => {
      const bytes = await cache.getBytes(key)
      return bytes && [...bytes]
    }
  },
  (dice) => {
    const [key, next] = [dice.pick(KEYS), dice.pick(VALUES)]
    const expected = dice.pick([...VALUES, null]) ?? undefined
    return (cache) => cache.swap(key, { expected, next, ttlMs: TTL })
  },
  (dice) => {
    const keys = [...new Set(dice.list(2, () => dice.pick(KEYS)))]
    return (cache) => cache.remove(keys)
  },
  (dice) => {
    const key = dice.pick(KEYS)
    const fields = Object.fromEntries(dice.list(3, () => [dice.pick(MEMBERS), dice.pick(VALUES)]))
    return (cache) => cache.setFields(key, fields, TTL)
  },
  (dice) => {
    const key = dice.pick(KEYS)
    return (cache) => cache.getFields(key)
  },
  (dice) => {
    const key = dice.pick(KEYS)
    const fields = [...new Set(dice.list(3, () => dice.pick(MEMBERS)))]
    return (cache) => cache.removeFields(key, fields)
  },
  (dice) => addCapped(dice),
  (dice) => addCapped(dice),
  (dice) => slice(dice),
  (dice) => slice(dice),
  (dice) => {
    const key = dice.pick(KEYS)
    const members = [...new Set(dice.list(3, () => dice.pick(MEMBERS)))]
    return (cache) => cache.removeMembers(key, members)
  },
  (dice) => {
    const [key, least] = [dice.pick(KEYS), dice.below(5)]
    return (cache) => cache.removeWhere(key, ({ score, member }) => score > least && member > 'a')
  },
  (dice) => {
    const key = dice.pick(KEYS)
    return (cache) => cache.countSorted(key)
  },
  (dice) => {
    const key = dice.pick(['bucket', 'bucket 2', ...KEYS])
    const [cost, nowMs] = [dice.below(6), 1_000_000 + dice.below(20_000)]
    const refillPerSecond = dice.pick([0.3, 1, 7])
    return (cache) => cache.takeTokens(key, { capacity: 10, refillPerSecond, cost, nowMs })
  },
  (dice) => {
    const key = dice.pick(KEYS)
    const offsets = dice.list(4, () => dice.below(40))
    return (cache) => cache.setBits(key, offsets, TTL)
  },
  (dice) => {
    const key = dice.pick(KEYS)
    const offsets = dice.list(6, () => dice.below(50))
    return (cache) => cache.getBits(key, offsets)
  },
]

const addCapped = (dice: Dice): Step => {
  const adds = dice.list(2, () => ({
    key: dice.pick(KEYS),
    members: dice.list(6, () => ({ score: dice.below(4), member: dice.pick(MEMBERS) })),
    cap: 1 + dice.below(8),
    ttlMs: TTL,
  }))
  return (cache) => cache.addCapped(adds)
}

const slice = (dice: Dice): Step => {
  const key = dice.pick(KEYS)
  const request: SortedSlice = {
    limit: dice.below(6),
    direction: dice.pick(['falling', 'rising']),
    ...(dice.below(2) ? { after: { score: dice.below(5), member: dice.pick(MEMBERS) } } : {}),
    ...(dice.below(3) ? {} : { until: dice.below(5) }),
  }
  return (cache) => cache.sliceSorted(key, request)
}

const outcome = async (step: Step, cache: Cache): Promise<unknown> => {
  try {
    return { value: await step(cache) }
  } catch (error) {
    return { error: error instanceof Error ? error.name : error }
  }
}

describe.skipIf(!stack)('the embedded cache answers as Redis does', () => {
  for (const seed of seeds(3)) {
    test(`in ${STEPS} random calls of seed ${seed}`, async () => {
      await using embedded = await openCaches('embedded')
      await using redis = await openCaches('cluster')
      const dice = new Dice(seed)
      for (let at = 0; at < STEPS; at += 1) {
        const step = dice.pick(steps)(dice)
        const [ours, oracle] = [
          await outcome(step, embedded.cache),
          await outcome(step, redis.cache),
        ]
        expect(ours, `step ${at}: ${step}`).toEqual(oracle)
      }
    })
  }
})
