import { describe, expect, test } from 'vitest'
import { Brake } from '../../../workers/brake.ts'
import { ManualClock } from '../../kit/manual-clock.ts'

const make = () => {
  const clock = new ManualClock(0)
  const changes: boolean[] = []
  const brake = new Brake({
    clock,
    random: () => 1,
    range: () => ({ minMs: 100, maxMs: 400 }),
    changed: (pulled) => changes.push(pulled),
    signal: new AbortController().signal,
  })
  const waitMs = async (): Promise<number> => {
    const before = clock.now()
    let ready = false
    void brake.ready(new AbortController().signal).then(() => {
      ready = true
    })
    await clock.advance(0)
    while (!ready) await clock.advance(1)
    return clock.now() - before
  }
  return { clock, changes, brake, waitMs }
}

describe('Brake', () => {
  test('a brake that is not pulled makes nobody wait', async () => {
    const { waitMs } = make()
    expect(await waitMs()).toBe(0)
  })

  test('pauses grow from outage to outage until a try succeeds', async () => {
    const { brake, waitMs } = make()
    const waits: number[] = []
    for (let outage = 0; outage < 4; outage += 1) {
      brake.pull()
      waits.push(await waitMs())
    }
    brake.release()
    brake.pull()
    waits.push(await waitMs())
    expect(waits).toEqual([100, 200, 400, 400, 100])
  })

  test('tries that fail within one pause count as one outage', async () => {
    const { brake, waitMs } = make()
    for (let worker = 0; worker < 10; worker += 1) brake.pull()
    expect(await waitMs()).toBe(100)
  })

  test('it lets go by itself and tells of both', async () => {
    const { brake, clock, changes } = make()
    brake.release()
    brake.pull()
    brake.pull()
    await clock.advance(99)
    expect(changes).toEqual([true])
    await clock.advance(1)
    expect(changes).toEqual([true, false])
  })

  test('an aborted signal ends the waiting', async () => {
    const { brake } = make()
    brake.pull()
    const stopping = new AbortController()
    const ready = brake.ready(stopping.signal)
    stopping.abort()
    await expect(ready).resolves.toBeUndefined()
  })
})
