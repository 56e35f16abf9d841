import { describe, expect, test } from 'vitest'
import { eachBounded, KeyLanes } from '../../../workers/key-lanes.ts'
import { Turns } from '../../../workers/turns.ts'

const gate = () => {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

describe('KeyLanes', () => {
  test('work for one key runs in the order asked, work for others does not wait', async () => {
    const lanes = new KeyLanes()
    const first = gate()
    const trail: string[] = []
    const runs = [
      lanes.run('a', async () => {
        await first.opened
        trail.push('a1')
      }),
      lanes.run('a', async () => void trail.push('a2')),
      lanes.run('b', async () => void trail.push('b1')),
    ]
    await runs[2]
    first.open()
    await Promise.all(runs)
    expect(trail).toEqual(['b1', 'a1', 'a2'])
    expect(lanes.busy).toBe(0)
  })

  test('a failure reaches its caller and frees the lane', async () => {
    const lanes = new KeyLanes()
    const failing = lanes.run('a', () => Promise.reject(new Error('no')))
    const next = lanes.run('a', () => Promise.resolve('yes'))
    await expect(failing).rejects.toThrow('no')
    await expect(next).resolves.toBe('yes')
    expect(lanes.busy).toBe(0)
  })
})

describe('bounds', () => {
  test.each([
    ['eachBounded', (items: number[], work: () => Promise<void>) => eachBounded(items, 3, work)],
    [
      'Turns',
      async (items: number[], work: () => Promise<void>) => {
        const turns = new Turns(3)
        await Promise.all(items.map(() => turns.take(work)))
      },
    ],
  ])('%s runs everything, never more than its limit at once', async (_name, run) => {
    let active = 0
    let most = 0
    let done = 0
    await run(
      Array.from({ length: 20 }, (_, at) => at),
      async () => {
        active += 1
        most = Math.max(most, active)
        await new Promise((resolve) => setImmediate(resolve))
        active -= 1
        done += 1
      },
    )
    expect({ most, done, active }).toEqual({ most: 3, done: 20, active: 0 })
  })

  test('eachBounded lets the others finish before it tells of a failure', async () => {
    const done: number[] = []
    const running = eachBounded([1, 2, 3, 4], 2, async (item) => {
      await new Promise((resolve) => setImmediate(resolve))
      if (item === 1) throw new Error('one')
      done.push(item)
    })
    await expect(running).rejects.toThrow('one')
    expect(done).toEqual([2, 3, 4])
  })
})
