/**
 * Who handles what, now. A claim is the right to one run of one partition for one group; there is
 * at most one per partition and group, which is what keeps keys in order. It ends when its holder
 * completes or releases it by its receipt, or falls silent for longer than the visibility time-out:
 * then the run may be claimed again, and the old receipt is worth nothing.
 *
 * Claims live in memory: the process that owns the folder is the only one to hand them out, and
 * after a restart everything uncommitted comes again anyway.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { LogRecord } from '../log.ts'
import type { LogPartition, Run } from './log-partition.ts'

export type Receipt = string

/** The place of one group in one partition. */
export interface Cursor {
  readonly group: string
  readonly partition: LogPartition
  /** The next offset to handle. */
  committed: number
}

export interface Claim {
  readonly receipt: Receipt
  readonly cursor: Cursor
  readonly records: readonly LogRecord[]
  readonly next: number
  /** Aborts when the holder was silent for too long: what it does from then on counts no more. */
  readonly lost: AbortController
  expiresAt: number
}

export class Claims {
  readonly #clock: Clock
  readonly #visibilityMs: number
  readonly #byReceipt = new Map<Receipt, Claim>()
  readonly #byCursor = new Map<Cursor, Claim>()

  constructor(clock: Clock, visibilityMs: number) {
    this.#clock = clock
    this.#visibilityMs = visibilityMs
  }

  isFree(cursor: Cursor): boolean {
    const claim = this.#byCursor.get(cursor)
    return claim === undefined || this.#isOver(claim)
  }

  /** Whoever held the cursor must be over it: see `isFree`. */
  take(cursor: Cursor, { records, next }: Run): Claim {
    const former = this.#byCursor.get(cursor)
    if (former) this.#lose(former)
    const claim: Claim = {
      receipt: randomUUID(),
      cursor,
      records,
      next,
      lost: new AbortController(),
      expiresAt: this.#clock.now() + this.#visibilityMs,
    }
    this.#byReceipt.set(claim.receipt, claim)
    this.#byCursor.set(cursor, claim)
    return claim
  }

  /** The claim of a receipt that still counts. */
  find(receipt: Receipt): Claim | undefined {
    const claim = this.#byReceipt.get(receipt)
    return claim && !this.#isOver(claim) ? claim : undefined
  }

  renew(receipt: Receipt): boolean {
    const claim = this.find(receipt)
    if (claim) claim.expiresAt = this.#clock.now() + this.#visibilityMs
    return claim !== undefined
  }

  release(claim: Claim): void {
    this.#byReceipt.delete(claim.receipt)
    if (this.#byCursor.get(claim.cursor) === claim) this.#byCursor.delete(claim.cursor)
  }

  /** Takes back what silent holders have, and says what that was. */
  expire(): Claim[] {
    const over = [...this.#byReceipt.values()].filter((claim) => this.#isOver(claim))
    for (const claim of over) this.#lose(claim)
    return over
  }

  #isOver({ expiresAt }: Claim): boolean {
    return this.#clock.now() >= expiresAt
  }

  #lose(claim: Claim): void {
    this.release(claim)
    claim.lost.abort()
  }
}
