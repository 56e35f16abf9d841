/** Waits for a condition instead of sleeping. */
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Calls `probe` until it returns something truthy and resolves with that; rejects when `withinMs`
 * have passed, with the last error of `probe` as the cause.
 */
export const eventually = async <Result>(
  probe: () => Promise<Result> | Result,
  { withinMs = 10_000, everyMs = 10 }: { withinMs?: number; everyMs?: number } = {},
): Promise<NonNullable<Result>> => {
  const deadline = performance.now() + withinMs
  let cause: unknown
  while (performance.now() < deadline) {
    try {
      const result = await probe()
      if (result) return result
      cause = undefined
    } catch (error) {
      cause = error
    }
    await pause(everyMs)
  }
  throw new Error(`nothing came of it within ${withinMs} ms`, { cause })
}
