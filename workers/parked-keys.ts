/**
 * Which keys of one owned partition are parked.
 *
 * A key in here is never handled from the log: its events go to the parking lot and are handled from
 * there, so one key has one order. The set is loaded before the first batch of the partition, and is
 * bounded: when more keys are parked than it may hold, the table is asked about the others.
 */
import type { Lane, ParkingLot } from '../services/dead-letter/dead-letter.ts'

export class ParkedKeys {
  readonly lane: Lane
  /** Aborts when the partition is lost or the worker stops. */
  readonly signal: AbortSignal
  readonly #parking: ParkingLot
  readonly #keysMax: number
  readonly #keys = new Set<string>()
  #overflowed: boolean = false

  constructor(options: {
    readonly lane: Lane
    readonly signal: AbortSignal
    readonly parking: ParkingLot
    readonly keysMax: number
  }) {
    this.lane = options.lane
    this.signal = options.signal
    this.#parking = options.parking
    this.#keysMax = options.keysMax
  }

  async load(): Promise<void> {
    for await (const { event } of this.#parking.heads(this.lane)) {
      this.add(event.key)
      if (this.#overflowed || this.signal.aborted) return
    }
  }

  async has(key: string): Promise<boolean> {
    if (this.#keys.has(key)) return true
    return this.#overflowed && (await this.#parking.next(this.lane, key)) !== undefined
  }

  add(key: string): void {
    if (this.#keys.has(key)) return
    if (this.#keys.size < this.#keysMax) this.#keys.add(key)
    else this.#overflowed = true
  }

  delete(key: string): void {
    this.#keys.delete(key)
  }
}
