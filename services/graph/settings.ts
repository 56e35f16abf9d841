/** The settings of the graph. */
import { declare, int } from '../kernel/settings.ts'

export const graphSettings = declare('graph', {
  pullFollowers: int({
    default: 1_000,
    min: 1,
    max: 1_000_000_000,
    live: true,
    about: 'followers from which on an author is pulled; below 0.8 of it posts are pushed again',
  }),
  modeStaleMs: int({
    default: 5_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    about: "how old a process's copy of an author's mode may be",
  }),
  marksMax: int({
    default: 10_000,
    min: 1,
    max: 100_000,
    live: true,
    about: 'accounts that one account can block, and as many that it can mute',
  }),
  changesKept: int({
    default: 1_000,
    min: 10,
    max: 100_000,
    about: "changes of a reader's graph that are known one by one",
  }),
  attemptsMax: int({
    default: 20,
    min: 1,
    max: 1_000,
    about: 'how often a change that others overtake is tried',
  }),
})
