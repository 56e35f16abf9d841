import { expect, test } from 'vitest'
import type { Services } from '../../../services/compose.ts'
import { Telemetry } from '../../../services/platform/telemetry.ts'
import { defineTick } from '../../../workers/kit.ts'
import { TickWorker } from '../../../workers/tick-worker.ts'
import { ManualClock } from '../../kit/manual-clock.ts'

const start = async (run: () => Promise<void>, clock = new ManualClock(0)) => {
  const telemetry = new Telemetry({ level: 'silent', version: 'test' })
  const definition = defineTick({ name: 'sweep', role: 'audit', everyMs: 1_000, run })
  const worker = new TickWorker(definition, { clock, telemetry, services: {} as Services })
  await worker.start()
  await new Promise((resolve) => setImmediate(resolve))
  return { clock, telemetry, worker }
}

test('a tick runs at once, then so long after each end', async () => {
  const at: number[] = []
  const clock = new ManualClock(0)
  const { worker } = await start(async () => void at.push(clock.now()), clock)
  await clock.advance(2_500)
  await worker[Symbol.asyncDispose]()
  await clock.advance(10_000)
  expect(at).toEqual([0, 1_000, 2_000])
})

test('a tick that fails is counted and comes again', async () => {
  let turns = 0
  const { clock, telemetry, worker } = await start(async () => {
    turns += 1
    throw new Error('no')
  })
  await clock.advance(1_000)
  await worker[Symbol.asyncDispose]()
  expect(turns).toBe(2)
  const metrics = await telemetry.registry.getSingleMetricAsString('tributary_worker_events_total')
  expect(metrics).toContain('tributary_worker_events_total{worker="sweep",outcome="failed"} 2')
})
