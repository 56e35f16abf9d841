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
import { type DomainError, OverloadedError, UnavailableError } from '../../kernel/errors.ts'
import { type BlindWork, BlindWorks, type Load, ReadingWork, type Waiting } from './work.ts'

const GROUP_WRITES_MAX = 4096
const GROUP_BYTES_MAX = 16 * 1024 * 1024

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
  committed(group: { readonly writes: number; readonly seconds: number }): void
}

export interface QueueBounds {
  readonly writesQueuedMax: number
  readonly bytesQueuedMax: number
}

const LIGHT: Load = { writes: 1, bytes: 0 }

export class WriteQueue implements AsyncDisposable {
  readonly #writer: Writer
  readonly #bounds: QueueBounds
  #queue: Waiting[] = []
  /** The end of the queue, when it is blind work that more may join. */
  #open: BlindWorks | undefined
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
    const refusal = this.#admit(load)
    if (refusal) return Promise.reject(refusal)
    return new Promise<Result>((resolve, reject) => {
      this.#open = undefined
      this.#enter(new ReadingWork(work, load, { resolve, reject }))
    })
  }

  /** Resolves once the work is on the disk. */
  submitBlind(work: BlindWork): Promise<void> {
    const refusal = this.#admit(work)
    if (refusal) return Promise.reject(refusal)
    if (!this.#open || !fitsBeside(this.#open, work)) {
      this.#open = new BlindWorks()
      this.#enter(this.#open)
    }
    return this.#open.add(work)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#state = 'closed'
    await this.#draining
  }

  /** Counts the work in, or says why not. */
  #admit({ writes, bytes }: Load): DomainError | undefined {
    if (this.#state === 'closed') return new UnavailableError('the store is closed')
    const { writesQueuedMax, bytesQueuedMax } = this.#bounds
    // Whatever its size, one piece of work may wait: a bound must not refuse it for ever.
    const fits = this.#writes + writes <= writesQueuedMax && this.#bytes + bytes <= bytesQueuedMax
    if (!fits && this.#writes > 0) {
      return new OverloadedError(
        `${this.#writes} writes (${this.#bytes} bytes) wait for the disk: try again later`,
      )
    }
    this.#writes += writes
    this.#bytes += bytes
    return undefined
  }

  #enter(waiting: Waiting): void {
    this.#queue.push(waiting)
    this.#draining ??= this.#drain()
  }

  async #drain(): Promise<void> {
    // Whoever writes in this turn of the event loop comes along.
    await nextTurn()
    while (this.#queue.length > 0) {
      await this.#commitNext()
      await nextTurn()
    }
    this.#draining = undefined
  }

  async #commitNext(): Promise<void> {
    const started = performance.now()
    let group: readonly Waiting[] = []
    const run = (): void => {
      group = this.#take()
      for (const each of group) each.run()
    }
    try {
      const isBlind = this.#queue.every((each) => each.isBlind)
      await (isBlind ? this.#writer.commitBlind(run) : this.#writer.commit(run))
    } catch (error) {
      await this.#refuse(group.length > 0 ? group : this.#take(), error)
      return
    }
    for (const each of group) each.settle()
    const seconds = (performance.now() - started) / 1000
    const writes = group.reduce((sum, each) => sum + each.writes, 0)
    this.#writer.committed({ writes, seconds })
  }

  /** The whole group when the engine failed; else whoever fails when done alone. */
  async #refuse(group: readonly Waiting[], error: unknown): Promise<void> {
    if (group.length === 1 || this.#writer.isEngineError(error)) {
      const reason = this.#writer.translate(error)
      for (const each of group) each.reject(reason)
      return
    }
    for (const each of group) {
      try {
        await this.#writer.commit(() => each.run())
        each.settle()
      } catch (cause) {
        each.reject(this.#writer.translate(cause))
      }
    }
  }

  #take(): Waiting[] {
    const sum = { writes: 0, bytes: 0 }
    let count = 0
    for (const each of this.#queue) {
      if (count > 0 && !fitsBeside(sum, each)) break
      sum.writes += each.writes
      sum.bytes += each.bytes
      count += 1
    }
    this.#writes -= sum.writes
    this.#bytes -= sum.bytes
    const group = this.#queue
    this.#queue = group.slice(count)
    group.length = count
    if (this.#queue.length === 0) this.#open = undefined
    return group
  }
}

const fitsBeside = (sum: Load, more: Load): boolean =>
  sum.writes + more.writes <= GROUP_WRITES_MAX && sum.bytes + more.bytes <= GROUP_BYTES_MAX

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
