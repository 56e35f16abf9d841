/** A start waits for the servers it needs, and says so (PLT-4). */
import { UnavailableError } from '../kernel/errors.ts'
import { SystemClock } from './clock.ts'
import type { Telemetry } from './telemetry.ts'

export interface StartWait {
  readonly waitMs: number
  readonly telemetry: Telemetry
  readonly signal?: AbortSignal
}

const PAUSE_MS = 1_000
/** The same reason is told again after so long. */
const REPEAT_MS = 10_000

/**
 * Opens something as often as it takes. What another process is still bringing about is waited for
 * (a server that starts, a migration that runs); a wrong password or setting fails at once. Real
 * time, as for every time-out of a socket.
 */
export const waitFor = async <Opened>(
  what: string,
  open: () => Promise<Opened>,
  { waitMs, telemetry, signal }: StartWait,
): Promise<Opened> => {
  const clock = new SystemClock()
  const deadline = performance.now() + waitMs
  let told = { reason: '', atMs: 0 }
  for (;;) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error
      const reason = error.message
      const nowMs = performance.now()
      const leftMs = Math.round(deadline - nowMs)
      if (leftMs <= 0 || signal?.aborted) {
        const seconds = Math.round(waitMs / 1000)
        throw new UnavailableError(`waited ${seconds} s for ${what}`, { cause: error })
      }
      if (reason !== told.reason || nowMs - told.atMs >= REPEAT_MS) {
        telemetry.log.info({ leftMs, reason }, `waiting for ${what}`)
        told = { reason, atMs: nowMs }
      }
      await clock.sleep(Math.min(PAUSE_MS, leftMs), signal)
    }
  }
}
