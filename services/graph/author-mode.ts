/**
 * How an author's posts reach readers (GRA-5): pushed into every feed, pulled by whoever reads, or
 * both while it changes. Pure.
 *
 * The goal has hysteresis: PULL from T followers on, PUSH again below 0.8 T. The mode goes there in
 * steps, because every process may hold a copy of it that is `modeStaleMs` old. Up: BOTH at once, and
 * PULL when no process can still take the author for pushed only. Down: BOTH at once, and PUSH when
 * the feeds have been filled with what was not pushed; who fills them says so.
 */
export type Mode = 'PUSH' | 'BOTH' | 'PULL'
export type Goal = Exclude<Mode, 'BOTH'>

export interface ModeState {
  readonly mode: Mode
  readonly goal: Goal
  /** When mode or goal changed last. */
  readonly changedAt: number
}

export const PUSHED: ModeState = { mode: 'PUSH', goal: 'PUSH', changedAt: 0 }

export interface ModeFacts {
  readonly followers: number
  /** T: the followers from which on an author is pulled. */
  readonly pullFollowers: number
  readonly modeStaleMs: number
  readonly now: number
}

const DOWN_AT = 0.8

/** The state to go to; the very same when there is nothing to change. */
export const nextMode = (state: ModeState, facts: ModeFacts): ModeState => {
  const goal = goalOf(state.goal, facts)
  const mode = stepTo(
    goal,
    { ...state, changedAt: goal === state.goal ? state.changedAt : facts.now },
    facts,
  )
  if (goal === state.goal && mode === state.mode) return state
  return { mode, goal, changedAt: facts.now }
}

/** The state when every feed holds what was not pushed; the very same when it is too early. */
export const filledMode = (state: ModeState, { now, modeStaleMs }: ModeFacts): ModeState => {
  const isDue =
    state.mode === 'BOTH' && state.goal === 'PUSH' && now - state.changedAt >= modeStaleMs
  return isDue ? { mode: 'PUSH', goal: 'PUSH', changedAt: now } : state
}

const goalOf = (goal: Goal, { followers, pullFollowers }: ModeFacts): Goal => {
  if (followers >= pullFollowers) return 'PULL'
  return followers < DOWN_AT * pullFollowers ? 'PUSH' : goal
}

const stepTo = (
  goal: Goal,
  { mode, changedAt }: ModeState,
  { now, modeStaleMs }: ModeFacts,
): Mode => {
  if (mode === goal) return mode
  if (mode !== 'BOTH') return 'BOTH'
  return goal === 'PULL' && now - changedAt >= 2 * modeStaleMs ? 'PULL' : 'BOTH'
}
