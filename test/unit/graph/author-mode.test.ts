import { describe, expect, test } from 'vitest'
import {
  filledMode,
  type Goal,
  type Mode,
  type ModeState,
  nextMode,
  PUSHED,
} from '../../../services/graph/author-mode.ts'

const STALE_MS = 5_000
const facts = (followers: number, now: number) => ({
  ...{ followers, now },
  ...{ pullFollowers: 1_000, modeStaleMs: STALE_MS },
})

/** At time 0 an author of this mode and goal is looked at after a while, with some followers. */
const TABLE: readonly (readonly [
  from: readonly [Mode, Goal],
  followers: number,
  afterMs: number,
  to: readonly [Mode, Goal],
])[] = [
  [['PUSH', 'PUSH'], 999, 60_000, ['PUSH', 'PUSH']],
  [['PUSH', 'PUSH'], 1_000, 0, ['BOTH', 'PULL']],
  [['BOTH', 'PULL'], 1_000, 2 * STALE_MS - 1, ['BOTH', 'PULL']],
  [['BOTH', 'PULL'], 1_000, 2 * STALE_MS, ['PULL', 'PULL']],
  [['BOTH', 'PULL'], 800, 2 * STALE_MS, ['PULL', 'PULL']],
  [['BOTH', 'PULL'], 799, 2 * STALE_MS, ['BOTH', 'PUSH']],
  [['PULL', 'PULL'], 800, 60_000, ['PULL', 'PULL']],
  [['PULL', 'PULL'], 799, 60_000, ['BOTH', 'PUSH']],
  [['BOTH', 'PUSH'], 799, 600_000, ['BOTH', 'PUSH']],
  [['BOTH', 'PUSH'], 999, 600_000, ['BOTH', 'PUSH']],
  [['BOTH', 'PUSH'], 1_000, 600_000, ['BOTH', 'PULL']],
]

describe('GRA-5: the mode of an author', () => {
  test.each(TABLE)('%s with %d followers after %d ms: %s', ([mode, goal], followers, now, to) => {
    const state: ModeState = { mode, goal, changedAt: 0 }
    const next = nextMode(state, facts(followers, now))
    expect([next.mode, next.goal]).toEqual(to)
    if (mode === to[0] && goal === to[1]) expect(next).toBe(state)
    else expect(next.changedAt).toBe(now)
  })

  test('goes to PUSH only when feeds were filled, and no copy can be too old', () => {
    const down: ModeState = { mode: 'BOTH', goal: 'PUSH', changedAt: 0 }
    expect(filledMode(down, facts(700, STALE_MS - 1))).toBe(down)
    expect(filledMode(down, facts(700, STALE_MS))).toMatchObject({ mode: 'PUSH', goal: 'PUSH' })
    const up: ModeState = { mode: 'BOTH', goal: 'PULL', changedAt: 0 }
    expect(filledMode(up, facts(700, 60_000))).toBe(up)
    expect(filledMode(PUSHED, facts(700, 60_000))).toBe(PUSHED)
  })

  test('never leaps from PUSH to PULL or back, whatever the followers do', () => {
    let state = PUSHED
    for (let now = 0; now < 2_000_000; now += 3_000) {
      const followers = Math.floor(1_000 + 600 * Math.sin(now / 50_000))
      const next = nextMode(state, facts(followers, now))
      if (next.mode !== state.mode) expect([state.mode, next.mode]).toContain('BOTH')
      state = next
    }
  })
})
