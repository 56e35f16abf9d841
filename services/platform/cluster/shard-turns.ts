/**
 * Which shards of the outbox are this relay's turn.
 *
 * Every relay has a seat, a lease of its own; the occupied seats, in order, share the shards evenly.
 * So relays agree on who should have what without talking, also when one comes or goes; and as
 * they may see that at different times, a shard is worked on only under its own lease.
 */
import { randomInt } from 'node:crypto'
import { OUTBOX_SHARDS } from '../commit.ts'
import { type Lease, Leases } from '../leases.ts'
import { allShards, forEachBounded } from './outbox.ts'
import type { OutboxEngines } from './publisher.ts'

const LEASES_AT_ONCE = 16
/** More relays than shards are of no use. */
const SEATS = OUTBOX_SHARDS
const seatNames = Array.from({ length: SEATS }, (_none, seat) => `outbox/seat/${seat}`)
const shardName = (shard: number): string => `outbox/shard/${shard}`

export class ShardTurns implements AsyncDisposable {
  readonly #engines: OutboxEngines
  readonly #leases: Leases
  readonly #shards = new Map<number, Lease>()
  #seat: Lease | undefined
  #renewAt = 0

  constructor(engines: OutboxEngines) {
    this.#engines = engines
    this.#leases = new Leases(engines)
  }

  /** The shards that are this relay's, after renewing, giving back and taking over where due. */
  async take(): Promise<readonly number[]> {
    const { clock, settings } = this.#engines
    if (clock.now() >= this.#renewAt) {
      await this.#keepSeat()
      const wanted = new Set(await this.#share())
      await forEachBounded(allShards, LEASES_AT_ONCE, (shard) =>
        this.#settle(shard, wanted.has(shard)),
      )
      this.#renewAt = clock.now() + settings.leaseMs / 3
    }
    return [...this.#shards.keys()].filter((shard) => this.isMine(shard))
  }

  isMine(shard: number): boolean {
    const lease = this.#shards.get(shard)
    return lease !== undefined && this.#leases.isHeld(lease)
  }

  async #keepSeat(): Promise<void> {
    const { leaseMs } = this.#engines.settings
    this.#seat = this.#seat && (await this.#leases.renew(this.#seat, leaseMs))
    if (this.#seat) return
    const holders = await this.#leases.holders(seatNames)
    const start = randomInt(SEATS)
    for (let offset = 0; offset < SEATS && !this.#seat; offset += 1) {
      const seat = (start + offset) % SEATS
      if (holders[seat] !== undefined) continue
      this.#seat = await this.#leases.acquire(`outbox/seat/${seat}`, leaseMs)
    }
  }

  /** Every n-th shard, for n relays; none while there is no seat. */
  async #share(): Promise<number[]> {
    const holders = await this.#leases.holders(seatNames)
    const seated = holders.filter((holder) => holder !== undefined)
    const rank = seated.indexOf(this.#seat?.holder ?? '')
    return allShards.filter((shard) => shard % seated.length === rank)
  }

  async #settle(shard: number, wanted: boolean): Promise<void> {
    const { leaseMs } = this.#engines.settings
    const held = this.#shards.get(shard)
    if (!held && !wanted) return
    if (held && !wanted) {
      this.#shards.delete(shard)
      return this.#leases.release(held)
    }
    const lease = held
      ? await this.#leases.renew(held, leaseMs)
      : await this.#leases.acquire(shardName(shard), leaseMs)
    if (lease) this.#shards.set(shard, lease)
    else this.#shards.delete(shard)
  }

  /** Others may go on at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    const held = [...this.#shards.values(), ...(this.#seat ? [this.#seat] : [])]
    this.#shards.clear()
    this.#seat = undefined
    await forEachBounded(held, LEASES_AT_ONCE, (lease) => this.#leases.release(lease))
  }
}
