/** What to do between two tries of a conditional write that others overtook. */
import { setTimeout as pause } from 'node:timers/promises'

/** Longest pause after the first lost race, and after many. */
const PAUSE_MS = 4
const PAUSE_MS_MAX = 100

/**
 * Waits for a moment, at random, so that those who race do not meet again; longer with each attempt
 * that was lost. In real time: it is the engine that is busy.
 */
export const letOthersPass = async (attempt: number): Promise<void> => {
  await pause(Math.random() * Math.min(PAUSE_MS_MAX, PAUSE_MS * attempt))
}
