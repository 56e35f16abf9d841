/**
 * Named leases: at most one holder at a time does a thing, and when it dies another may.
 *
 * A holder trusts its lease until `expiresAt` by its own clock; another takes it over only when the
 * lease has been over for LEASE_SKEW_MS by *its* clock. So two holders never overlap while clocks
 * differ by less than that. A version changes with every write, so that what a slow holder writes
 * late is refused. What must hold even when a holder is stopped for minutes in the middle of its
 * work (a paused machine) needs its own condition: a lease is for doing a thing once, not safely.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from './clock.ts'
import { leases } from './generated/tables.ts'
import type { Tables } from './tables.ts'

/** How much the clocks of two processes may differ. */
export const LEASE_SKEW_MS = 10_000

export interface Lease {
  readonly name: string
  readonly holder: string
  readonly version: bigint
  /** ms by the clock of the holder. */
  readonly expiresAt: number
}

export class Leases {
  readonly #tables: Tables
  readonly #clock: Clock

  constructor({ tables, clock }: { readonly tables: Tables; readonly clock: Clock }) {
    this.#tables = tables
    this.#clock = clock
  }

  /** The lease, or `undefined` while somebody else has it. */
  async acquire(name: string, forMs: number): Promise<Lease | undefined> {
    const now = this.#clock.now()
    const current = await this.#tables.get(leases, { name })
    const wanted = {
      name,
      holder: randomUUID(),
      version: (current?.version ?? 0n) + 1n,
      expiresAt: now + forMs,
    }
    if (current && now < (current.expiresAt ?? 0) + LEASE_SKEW_MS) return undefined
    const { applied } = current
      ? await this.#tables.compareAndSet(
          leases,
          { name },
          { expected: { holder: current.holder, version: current.version }, next: wanted },
        )
      : await this.#tables.insertIfAbsent(leases, wanted)
    return applied ? wanted : undefined
  }

  /** The lease for longer, or `undefined` when somebody else took it over. */
  async renew(lease: Lease, forMs: number): Promise<Lease | undefined> {
    return this.#change(lease, this.#clock.now() + forMs)
  }

  /** Gives it back before its time; somebody else may have it at once. */
  async release(lease: Lease): Promise<void> {
    await this.#change(lease, 0)
  }

  isHeld(lease: Lease): boolean {
    return this.#clock.now() < lease.expiresAt
  }

  /** Who holds which of these leases now, whoever it is. */
  async holders(names: readonly string[]): Promise<(string | undefined)[]> {
    const now = this.#clock.now()
    const rows = await this.#tables.getMany(
      leases,
      names.map((name) => ({ name })),
    )
    return rows.map((row) =>
      row && now < (row.expiresAt ?? 0) + LEASE_SKEW_MS ? (row.holder ?? undefined) : undefined,
    )
  }

  async #change(lease: Lease, expiresAt: number): Promise<Lease | undefined> {
    const { name, holder, version } = lease
    const next = { version: version + 1n, expiresAt }
    const outcome = await this.#tables.compareAndSet(
      leases,
      { name },
      { expected: { holder, version }, next },
    )
    if (outcome.applied) return { ...lease, ...next }
    const { current } = outcome
    // A renewal whose answer got lost did happen: the lease is still this holder's.
    if (current?.holder !== holder || current.version === null) return undefined
    if (current.version === version) return undefined
    return this.#change({ ...lease, version: current.version }, expiresAt)
  }
}
