/** When to try again, and which failures say nothing about the event that met them. */
import { DomainError, type ErrorCode } from '../services/kernel/errors.ts'
import type { WorkerSettings } from './settings.ts'

/** A number from 0 to below 1. */
export type Random = () => number

/**
 * Doubles with each failure up to the longest wait; half of it is chance, so that what failed
 * together does not come back together.
 */
export const backOffMs = (
  failures: number,
  range: { readonly minMs: number; readonly maxMs: number },
  random: Random,
): number => {
  const doubled = range.minMs * 2 ** Math.min(failures - 1, 40)
  const longest = Math.min(doubled, Math.max(range.minMs, range.maxMs))
  return Math.ceil(longest * (0.5 + random() / 2))
}

export const retryRange = ({ backOffMinMs, backOffMaxMs }: WorkerSettings) => ({
  minMs: backOffMinMs,
  maxMs: backOffMaxMs,
})

const OUTAGES: ReadonlySet<ErrorCode> = new Set(['OVERLOADED', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'])

/** Whether an engine failed and not the event: every other event would fail as well. */
export const isOutage = (error: unknown): boolean =>
  error instanceof DomainError && OUTAGES.has(error.code)
