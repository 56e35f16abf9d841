/**
 * Two servers under the same load: how much each can take, and how long each lets a client wait when
 * requests come at the same steady rate, half of what the slower one can take.
 */
import type { HttpLoad } from './http-load.ts'
import { type BenchKit, type Figure, quantile } from './kit.ts'

const PORTION = 512
const STEADY_MS = 4_000

export interface Side {
  readonly load: HttpLoad
  /** The next request of a client. */
  readonly next: (client: number) => Buffer
}

export interface LoadContest {
  readonly name: string
  readonly ours: Side
  readonly reference: Side
  readonly referenceName: string
  readonly goal: number
}

export const loadContest = async (kit: BenchKit, contest: LoadContest): Promise<Figure[]> => {
  const { name, ours, reference, referenceName, goal } = contest
  const most = await kit.contest({
    ...{ name, referenceName, goal },
    ours: () => ours.load.closed(PORTION, ours.next),
    reference: () => reference.load.closed(PORTION, reference.next),
  })
  const perSecond = Math.floor(Math.min(most.ours, most.reference) / 2)
  kit.say(`${name}: ${perSecond} requests a second, steadily`)
  const p99 = async ({ load, next }: Side): Promise<number> =>
    quantile(await load.steady(perSecond, STEADY_MS, next), 0.99)
  const waits = kit.told({
    name: `${name}: p99 at ${perSecond.toLocaleString('en')} /s`,
    ours: await p99(ours),
    reference: await p99(reference),
    ...{ referenceName, unit: 'ms' },
  })
  return [most, waits]
}
