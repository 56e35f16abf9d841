/** What the parts of the tables' suite share. */
import { randomUUID } from 'node:crypto'
import type { Tables } from '../../services/platform/tables.ts'

/** The tables under test; opened before the first test. */
export type Subject = () => Tables

/** A name nobody else uses. */
export const freshName = (): string => randomUUID()

let lastReader = BigInt(Date.now()) * 1_000_000n + BigInt(Math.floor(Math.random() * 1_000_000))

/** A partition nobody else uses. */
export const freshReader = (): bigint => {
  lastReader += 1n
  return lastReader
}
