/** A page of anything, and how one is asked for. The cursor is opaque to all but its maker. */
import { BadInputError } from './errors.ts'

export interface PageRequest {
  readonly first: number
  readonly after?: string
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Where the next page begins. Its absence, and nothing else, is the end. */
  readonly next?: string
}

export const checkFirst = (first: number, max: number): number => {
  if (Number.isInteger(first) && first >= 1 && first <= max) return first
  throw new BadInputError(`ask for 1 to ${max} at a time`, { field: 'first' })
}
