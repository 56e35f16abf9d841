import { expect, test } from 'vitest'
import type { ParkedEvent } from '../../services/dead-letter/dead-letter.ts'
import { WorkerBench } from '../kit/worker-bench.ts'

const failed = (group: string, position: bigint): ParkedEvent => ({
  ...{ group, topic: 'operations', partition: 0, position },
  event: { key: 'k', value: `${position}`, headers: {} },
  ...{ attempts: 3, retryAt: 0, parkedAt: 0, reason: 'it failed' },
})

test('FAN-5: dead letters page through all groups, each once, and end without a cursor', async () => {
  await using bench = await WorkerBench.open()
  for (const group of ['audit', 'fan-out', 'empty@odd']) {
    for (let position = 1n; position <= 5n; position += 1n) {
      await bench.deadLetters.bury(failed(group, position))
    }
  }
  for (const first of [1, 4, 5, 7, 15, 100]) {
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await bench.deadLetters.list({ first, ...(after ? { after } : {}) })
      expect(page.items.length).toBeLessThanOrEqual(first)
      seen.push(...page.items.map(({ group, offset }) => `${group} ${offset}`))
      after = page.next
    } while (after !== undefined)
    expect(seen).toHaveLength(15)
    expect(new Set(seen).size).toBe(15)
    expect(seen[0]).toBe('audit 5')
  }
  const one = await bench.deadLetters.list({ group: 'fan-out', first: 100 })
  expect(one.items).toHaveLength(5)
})

test('FAN-5: a page that is too large and a cursor from elsewhere are refused', async () => {
  await using bench = await WorkerBench.open()
  await expect(bench.deadLetters.list({ first: 0 })).rejects.toMatchObject({ field: 'first' })
  await expect(bench.deadLetters.list({ first: 5000 })).rejects.toMatchObject({ field: 'first' })
  await expect(bench.deadLetters.list({ first: 5, after: 'x@audit' })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    field: 'after',
  })
})
