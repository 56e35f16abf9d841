/** A start waits for the servers it needs, and says so (PLT-4). */
import { setTimeout as delay } from 'node:timers/promises'
import { UnavailableError } from '../kernel/errors.ts'
import type { Telemetry } from './telemetry.ts'

export interface StartWait {
  readonly waitMs: number
  readonly telemetry: Telemetry
  readonly signal?: AbortSignal
}

const PAUSE_MS = 1_000

/**
 * Opens something as often as it takes. Only an engine that does not answer is waited for: a wrong
 * password or a missing keyspace fails at once. Real time, as for every time-out of a socket.
 */
export const waitFor = async <Opened>(
  what: string,
  open: () => Promise<Opened>,
  { waitMs, telemetry, signal }: StartWait,
): Promise<Opened> => {
  const deadline = performance.now() + waitMs
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error
      const leftMs = deadline - performance.now()
      if (leftMs <= 0 || signal?.aborted) {
        const seconds = Math.round(waitMs / 1000)
        throw new UnavailableError(`${what} did not answer within ${seconds} s`, { cause: error })
      }
      const line = { attempt, leftMs: Math.round(leftMs), reason: error.message }
      telemetry.log.info(line, `waiting for ${what}`)
      await delay(Math.min(PAUSE_MS, leftMs), undefined, { ...(signal ? { signal } : {}) }).catch(
        () => undefined,
      )
    }
  }
}
