/**
 * Claims: how a name becomes somebody's, once (a handle, an idempotency key).
 *
 * Whoever inserts the row first owns the name. The row keeps the id of what is being made and a
 * hash of the draft it is made from, so that a caller who got no answer, or a process that crashed
 * between the claim and the commit, can do the same again: an equal draft gets the same id back
 * and goes on from there, as often as it takes. Another draft finds the name taken.
 */
import { ConflictError, DamagedError } from '../kernel/errors.ts'
import type { Clock } from './clock.ts'
import { claims } from './generated/tables.ts'
import type { Tables } from './tables.ts'

export interface ClaimDraft {
  /** What kind of name: names of two kinds never clash. */
  readonly kind: string
  readonly name: string
  /** The id of what the name is for. */
  readonly owner: bigint
  readonly draftHash: string
}

export interface Claim {
  /** `again`: an equal draft had claimed it; go on with its owner. `taken`: another draft had. */
  readonly state: 'fresh' | 'again' | 'taken'
  readonly owner: bigint
}

export interface ClaimEngines {
  readonly tables: Tables
  readonly clock: Clock
}

export const claim = async ({ tables, clock }: ClaimEngines, draft: ClaimDraft): Promise<Claim> => {
  const outcome = await tables.insertIfAbsent(claims, { ...draft, claimedAt: clock.now() })
  if (outcome.applied) return { state: 'fresh', owner: draft.owner }
  const { current } = outcome
  if (!current || current.owner === null) {
    throw new DamagedError(`the claim of a ${draft.kind} has no owner`)
  }
  const state = current.draftHash === draft.draftHash ? 'again' : 'taken'
  return { state, owner: current.owner }
}

/** The owner to go on with; ConflictError when the name is taken. */
export const claimOrRefuse = async (engines: ClaimEngines, draft: ClaimDraft): Promise<bigint> => {
  const { state, owner } = await claim(engines, draft)
  if (state !== 'taken') return owner
  throw new ConflictError(`this ${draft.kind} is taken`, { field: draft.kind })
}
