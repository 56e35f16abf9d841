/**
 * Ids: 63 bits, ordered by time, unique without asking anybody.
 *
 *   bit 62   61 ........ 21   20 .. 11   10 .. 0
 *     1      ms since 2020      node     sequence
 *
 * Bit 62 is always set, so every id has 19 decimal digits and the order of the numbers, of their
 * decimal strings and of their eight bytes is the same. Outside they are decimal strings, inside
 * `bigint`; never a float, which holds 53 bits (docs/adr/0003).
 *
 * Uniqueness rests on the node number: it is leased (platform/node-lease.ts), two live processes
 * never share one, and a generator issues nothing outside the span of time its lease covers.
 */
import { BadInputError, UnavailableError } from './errors.ts'

declare const brand: unique symbol
export type Id<Name extends string> = bigint & { readonly [brand]: Name }
export type EventId = Id<'event'>
export type AccountId = Id<'account'>
export type PostId = Id<'post'>

export const ID_EPOCH_MS = Date.UTC(2020, 0, 1)
export const NODE_COUNT = 1024
const SEQUENCE_COUNT = 2048
const MS_MAX = 2 ** 41 - 1
const TOP_BIT = 1n << 62n

/** What a generator may issue: ids of this node, in ms above `afterMs` and up to `untilMs`. */
export interface NodeSpan {
  readonly node: number
  readonly afterMs: number
  readonly untilMs: number
}

export class IdGenerator {
  readonly #now: () => number
  #span: NodeSpan
  #lastMs: number
  #sequence = 0
  #base = 0n

  constructor(now: () => number, span: NodeSpan) {
    this.#now = now
    this.#span = span
    this.#lastMs = span.afterMs
    this.#sequence = SEQUENCE_COUNT - 1
  }

  /** The highest ms issued so far: a lease given back early stores it. */
  get lastMs(): number {
    return this.#lastMs
  }

  /** The lease was renewed, for the same node: the span may only grow. */
  extend(untilMs: number): void {
    this.#span = { ...this.#span, untilMs: Math.max(untilMs, this.#span.untilMs) }
  }

  /** The lease is lost: nothing more is issued until a new generator is made. */
  stop(): void {
    this.#span = { ...this.#span, untilMs: this.#span.afterMs }
  }

  next<Name extends string>(): Id<Name> {
    const nowMs = this.#now()
    if (nowMs > this.#lastMs) this.#startMs(nowMs)
    else if (this.#sequence === SEQUENCE_COUNT - 1) this.#startMs(this.#lastMs + 1)
    else this.#sequence += 1
    if (this.#lastMs > this.#span.untilMs || nowMs > this.#span.untilMs) {
      throw new UnavailableError('no id can be issued: the lease of this node number has expired')
    }
    return (this.#base + BigInt(this.#sequence)) as Id<Name>
  }

  #startMs(ms: number): void {
    this.#lastMs = ms
    this.#sequence = 0
    this.#base = firstIdAt(ms, this.#span.node)
  }
}

/** The least id of a node in a ms; with node 0 the least id of that ms at all. */
export const firstIdAt = (ms: number, node = 0): bigint => {
  const sinceEpoch = ms - ID_EPOCH_MS
  if (!Number.isSafeInteger(ms) || sinceEpoch < 0 || sinceEpoch > MS_MAX) {
    throw new BadInputError(`no id can carry the time ${ms}: it lies outside 2020 to 2089`)
  }
  return TOP_BIT | (BigInt(sinceEpoch) << 21n) | (BigInt(node) << 11n)
}

/** The server time at which an id was issued: the arrival of what it names. */
export const arrivalMs = (id: bigint): number => Number((id & (TOP_BIT - 1n)) >> 21n) + ID_EPOCH_MS

export const nodeOf = (id: bigint): number => Number((id >> 11n) & 1023n)

const DECIMAL = /^[4-9]\d{18}$/

export const formatId = (id: bigint): string => id.toString()

export const parseId = <Name extends string>(text: string, field = 'id'): Id<Name> => {
  const id = DECIMAL.test(text) ? BigInt(text) : 0n
  if (id < TOP_BIT || id >= TOP_BIT << 1n) {
    throw new BadInputError('an id has 19 digits and comes from this API as it is', { field })
  }
  return id as Id<Name>
}
