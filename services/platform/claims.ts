/**
 * Claims: how a name becomes somebody's, once (a handle, an idempotency key).
 *
 * Whoever inserts the row first owns the name. The row keeps the id of what is being made and a
 * hash of the draft it is made from, so that a caller who got no answer, or a process that crashed
 * between the claim and the commit, can do the same again: an equal draft gets the same id back
 * and goes on from there, as often as it takes. Another draft finds the name taken.
 *
 * Where nobody comes back to finish, a caller who knows that nothing was made of a claim (it is
 * minutes old and what it is for is not there) may take it over. Of several who try at once, or
 * one who tries and one who goes on with it, one wins.
 */
import { ConflictError, DamagedError } from '../kernel/errors.ts'
import type { Clock } from './clock.ts'
import { type ClaimsRow, claims } from './generated/tables.ts'
import type { ReadOptions, Tables } from './tables.ts'

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
  const { owner, draftHash } = standing(outcome.current, draft.kind)
  return { state: draftHash === draft.draftHash ? 'again' : 'taken', owner }
}

/** The owner to go on with; ConflictError when the name is taken. */
export const claimOrRefuse = async (engines: ClaimEngines, draft: ClaimDraft): Promise<bigint> => {
  const { state, owner } = await claim(engines, draft)
  if (state !== 'taken') return owner
  throw new ConflictError(`this ${draft.kind} is taken`, { field: draft.kind })
}

/** A claim as it stands. */
export interface StandingClaim extends ClaimDraft {
  readonly claimedAt: number
}

export const claimOf = async (
  tables: Tables,
  { kind, name }: Pick<ClaimDraft, 'kind' | 'name'>,
  options: ReadOptions = {},
): Promise<StandingClaim | undefined> => {
  const row = await tables.get(claims, { kind, name }, options)
  return row && standing(row, kind)
}

/** The owners of many names, in their order; at most GET_MANY_MAX. */
export const claimOwners = async (
  tables: Tables,
  { kind, names }: { readonly kind: string; readonly names: readonly string[] },
): Promise<(bigint | undefined)[]> => {
  const rows = await tables.getMany(
    claims,
    names.map((name) => ({ kind, name })),
  )
  return rows.map((row) => row?.owner ?? undefined)
}

/** Gives a claim that still stands as it was read to `next`, from now on; says whether it did. */
export const takeOver = async (
  { tables, clock }: ClaimEngines,
  { kind, name, owner, claimedAt }: StandingClaim,
  next: Pick<ClaimDraft, 'owner' | 'draftHash'>,
): Promise<boolean> => {
  const outcome = await tables.compareAndSet(
    claims,
    { kind, name },
    {
      expected: { owner, claimedAt },
      next: { owner: next.owner, draftHash: next.draftHash, claimedAt: clock.now() },
    },
  )
  return outcome.applied
}

const standing = (row: ClaimsRow | undefined, kind: string): StandingClaim => {
  if (!row || row.owner === null) throw new DamagedError(`the claim of a ${kind} has no owner`)
  const { name, owner, draftHash, claimedAt } = row
  return { kind, name, owner, draftHash: draftHash ?? '', claimedAt: claimedAt ?? 0 }
}
