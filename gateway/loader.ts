/**
 * A DataLoader that answers at once what it knows already. A field whose value is there costs an
 * executor a tenth of one that is promised, so a list that knows what will be asked of its entries
 * has it read beforehand (`fetch`), and its fields find it here.
 */
import DataLoader from 'dataloader'

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
    if (this.#known.has(id)) return Promise.resolve(this.#known.get(id))
    this.#loader ??= new DataLoader(this.#read, { maxBatchSize: BATCH_MAX })
    return this.#loader.load(id)
  }

  /** What `from` makes of the value: at once, if it is known. */
  map<Result>(id: bigint, from: (value: Value | undefined) => Result): Result | Promise<Result> {
    if (this.#known.has(id)) return from(this.#known.get(id))
    return this.load(id).then(from)
  }

  /** Reads what is not known yet, in one call of the service for a hundred. */
  async fetch(ids: Iterable<bigint>): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !this.#known.has(id))
    for (let from = 0; from < missing.length; from += BATCH_MAX) {
      const part = missing.slice(from, from + BATCH_MAX)
      const values = await this.#read(part)
      part.forEach((id, index) => {
        this.#known.set(id, values[index])
      })
    }
  }

  clear(id: bigint): void {
    this.#known.delete(id)
    this.#loader?.clear(id)
  }
}
