/** How stubborn the workers are. */
import { declare, int, type Values } from '../services/kernel/settings.ts'

export const workerSettings = declare('workers', {
  attemptsInPlace: int({
    default: 3,
    min: 1,
    max: 100,
    live: true,
    about: 'tries of an event before its key is parked',
  }),
  attemptsMax: int({
    default: 12,
    min: 1,
    max: 1000,
    live: true,
    about: 'tries of an event, parked or not, before it is a dead letter',
  }),
  backOffMinMs: int({
    default: 100,
    min: 1,
    max: 60_000,
    unit: 'ms',
    live: true,
    about: 'wait after the first failure, doubled with each further one',
  }),
  backOffMaxMs: int({
    default: 300_000,
    min: 1,
    max: 86_400_000,
    unit: 'ms',
    live: true,
    about: 'longest wait between two tries',
  }),
  pauseMaxMs: int({
    default: 10_000,
    min: 10,
    max: 600_000,
    unit: 'ms',
    live: true,
    about: 'longest pause of a worker whose engines do not answer',
  }),
  parkedScanMs: int({
    default: 1_000,
    min: 50,
    max: 600_000,
    unit: 'ms',
    live: true,
    about: 'how often a worker looks for parked events that are due',
  }),
  parkedKeysMax: int({
    default: 10_000,
    min: 1,
    max: 10_000_000,
    about: 'parked keys of a partition held in memory; beyond them the table is asked',
  }),
  stopMs: int({
    default: 15_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    about: 'time handlers get to finish when the program stops',
  }),
})

export type WorkerSettings = Values<typeof workerSettings>
