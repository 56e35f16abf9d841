/**
 * A DataLoader that can be told to read beforehand what will be asked of a whole page, and then
 * answers at once what it knows.
 */
import DataLoader from 'dataloader'
import { assert } from '../services/kernel/errors.ts'

/** Ids in one call of a service: no page is longer. */
const BATCH_MAX = 100

type Read<Value> = (ids: readonly bigint[]) => Promise<readonly (Value | undefined)[]>

export class Loader<Value> {
  readonly #read: Read<Value>
  readonly #known = new Map<bigint, Value | undefined>()
  #loader: DataLoader<bigint, Value | undefined> | undefined

  constructor(read: Read<Value>) {
    this.#read = read
  }

  load(id: bigint): Promise<Value | undefined> {
    this.#loader ??= new DataLoader((ids) => this.#note(ids), { maxBatchSize: BATCH_MAX })
    return this.#loader.load(id)
  }

  /**
   * Reads what is not known yet. One alone waits for others that are asked for at the same time;
   * several are a page already.
   */
  async fetch(ids: readonly bigint[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !this.#known.has(id))
    const [first] = missing
    if (first === undefined) return
    if (missing.length === 1) return void (await this.load(first))
    for (let from = 0; from < missing.length; from += BATCH_MAX) {
      await this.#note(missing.slice(from, from + BATCH_MAX))
    }
  }

  /** What has been read of it. */
  known(id: bigint): Value | undefined {
    assert(this.#known.has(id), 'what is taken as known has been fetched')
    return this.#known.get(id)
  }

  clear(id: bigint): void {
    this.#known.delete(id)
    this.#loader?.clear(id)
  }

  async #note(ids: readonly bigint[]): Promise<readonly (Value | undefined)[]> {
    const values = await this.#read(ids)
    for (const [index, id] of ids.entries()) this.#known.set(id, values[index])
    return values
  }
}
