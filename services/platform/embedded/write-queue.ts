/**
 * The one way into the store: a queue whose head is committed as a group.
 *
 * LMDB has one writer, and a commit costs a sync of the disk whatever it holds. So whatever waits
 * when the writer becomes free goes into one transaction, in the order it came, and all of it is
 * acknowledged by one sync. The group is taken when the transaction has begun, not before: what
 * arrives while the disk is busy shares the next sync.
 *
 * Work that reads runs on this thread, inside the transaction: the engine's thread waits for it.
 * Blind work, which only puts and removes, is handed over as a list and done over there; a group of
 * nothing else is a quarter faster, and more on a busy machine (two changes of thread less).
 *
 * A piece of work that throws must not take its neighbours with it: the group is rolled back and
 * done again one by one, so only the guilty one fails. Work may therefore run twice, but what it
 * wrote counts once. When the engine itself cannot commit (a full disk), the whole group is
 * refused, nothing of it was written, and the store stays readable.
 *
 * Bounded: rows and bytes that wait, rows and bytes of a group (a group runs on the event loop).
 */
import { OverloadedError, UnavailableError } from '../../kernel/errors.ts'

const GROUP_WRITES_MAX = 4096
const GROUP_BYTES_MAX = 16 * 1024 * 1024

/** What a piece of work weighs. */
export interface Load {
  readonly writes: number
  readonly bytes: number
  /** It only removes: let in even when the store may not grow. */
  readonly reclaims?: boolean
  /** It only puts and removes: it reads nothing, and cannot throw between two of them. */
  readonly isBlind?: boolean
}

/** What the queue needs of the engine. */
export interface Writer {
  /** Runs `work` in a transaction that is on the disk when it resolves; a throw undoes it. */
  commit(work: () => void): Promise<void>
  /** The same for work that only puts and removes, which the engine does on a thread of its own. */
  commitBlind(work: () => void): Promise<void>
  /** Turns what the engine throws into an error of ours; leaves others alone. */
  translate(error: unknown): unknown
  isEngineError(error: unknown): boolean
  /** Called with every group on the disk. */
  committed(group: { readonly works: number; readonly seconds: number }): void
}

export interface QueueBounds {
  readonly writesQueuedMax: number
  readonly bytesQueuedMax: number
}

/** Work that waits; its parts are named one by one, since a closure for each would cost more. */
interface Waiting {
  readonly load: Load
  readonly work: () => unknown
  result: unknown
  resolve(result: unknown): void
  reject(error: unknown): void
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const LIGHT: Load = { writes: 1, bytes: 0 }

export class WriteQueue implements AsyncDisposable {
  readonly #writer: Writer
  readonly #bounds: QueueBounds
  #queue: Waiting[] = []
  #writes = 0
  #bytes = 0
  #draining: Promise<void> | undefined
  #state: 'open' | 'closed' = 'open'

  constructor(writer: Writer, bounds: QueueBounds) {
    this.#writer = writer
    this.#bounds = bounds
  }

  get queued(): number {
    return this.#writes
  }

  /** Resolves with what `work` returned, once its writes are on the disk. */
  submit<Result>(work: () => Result, load: Load = LIGHT): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#admit(load)
      this.#queue.push({ load, work, result: undefined, resolve, reject })
      this.#draining ??= this.#drain()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#state = 'closed'
    await this.#draining
  }

  #admit({ writes, bytes }: Load): void {
    if (this.#state === 'closed') throw new UnavailableError('the store is closed')
    const { writesQueuedMax, bytesQueuedMax } = this.#bounds
    // Whatever its size, one piece of work may wait: a bound must not refuse it for ever.
    const fits = this.#writes + writes <= writesQueuedMax && this.#bytes + bytes <= bytesQueuedMax
    if (!fits && this.#writes > 0) {
      throw new OverloadedError(
        `${this.#writes} writes (${this.#bytes} bytes) wait for the disk: try again later`,
      )
    }
    this.#writes += writes
    this.#bytes += bytes
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) await this.#commitNext()
    this.#draining = undefined
  }

  async #commitNext(): Promise<void> {
    const started = performance.now()
    let group: readonly Waiting[] = []
    const run = (): void => {
      group = this.#take()
      for (const each of group) each.result = each.work()
    }
    try {
      await nextTurn()
      await (this.#isBlind() ? this.#writer.commitBlind(run) : this.#writer.commit(run))
    } catch (error) {
      await this.#refuse(group.length > 0 ? group : this.#take(), error)
      return
    }
    const seconds = (performance.now() - started) / 1000
    this.#writer.committed({ works: group.length, seconds })
    for (const { resolve, result } of group) resolve(result)
  }

  /** The whole group when the engine failed; else whoever fails when done alone. */
  async #refuse(group: readonly Waiting[], error: unknown): Promise<void> {
    if (group.length === 1 || this.#writer.isEngineError(error)) {
      const reason = this.#writer.translate(error)
      for (const { reject } of group) reject(reason)
      return
    }
    for (const each of group) {
      try {
        await this.#writer.commit(() => {
          each.result = each.work()
        })
        each.resolve(each.result)
      } catch (cause) {
        each.reject(this.#writer.translate(cause))
      }
    }
  }

  /** Whether nothing that waits needs to read. */
  #isBlind(): boolean {
    return this.#queue.every(({ load }) => load.isBlind)
  }

  #take(): Waiting[] {
    let writes = 0
    let bytes = 0
    let count = 0
    for (const { load } of this.#queue) {
      const fits = writes + load.writes <= GROUP_WRITES_MAX && bytes + load.bytes <= GROUP_BYTES_MAX
      if (!fits && count > 0) break
      writes += load.writes
      bytes += load.bytes
      count += 1
    }
    this.#writes -= writes
    this.#bytes -= bytes
    const group = this.#queue
    this.#queue = group.slice(count)
    group.length = count
    return group
  }
}
