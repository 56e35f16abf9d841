/**
 * The LMDB environment behind the embedded tables and the embedded log: one file, one writer, one
 * transaction for rows and events together.
 *
 * Keys and values are bytes. `transaction` resolves once its writes are synced to the disk; readers
 * see them at that moment and not before, so nothing that was seen can be lost. Many writers share
 * one sync (see write-queue.ts).
 *
 * How lmdb is opened, and why (measured, docs/adr/0004):
 * - `overlappingSync: false`: a commit is not visible before it is synced. With it on, readers see
 *   what a crash may still take back, and `flushed` never settles when a commit fails.
 * - `eventTurnBatching: false`: the library otherwise makes a promise of its own per turn that
 *   nobody can catch: a full disk would end the process.
 * - `mapSize` is only address space reserved; the library grows the file beyond it. The bound on
 *   the size of the file is kept here.
 */
import { mkdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, type DatabaseOptions, open, type RootDatabase } from 'lmdb'
import { OutcomeUnknownError, UnavailableError } from '../../kernel/errors.ts'
import { embeddedSettings } from '../settings.ts'
import { Telemetry } from '../telemetry.ts'
import { PASSING_KEY, writePassingKey } from './key-codec.ts'
import type { BlindWork, Load } from './work.ts'
import { WriteQueue } from './write-queue.ts'

export type Bytes = Database<Buffer, Buffer>

export const STORE_FILE = 'store.mdb'

export interface StoreOptions {
  readonly folder: string
  /** Most the file may grow to; it may be passed by one group of writes. */
  readonly mapBytes: number
  readonly writesQueuedMax?: number
  readonly bytesQueuedMax?: number
  readonly telemetry?: Telemetry
}

const { writesQueuedMax, bytesQueuedMax } = embeddedSettings.settings

export class Store implements AsyncDisposable {
  readonly #root: RootDatabase<Buffer, Buffer>
  readonly #file: string
  readonly #mapBytes: number
  readonly #databases = new Map<string, Bytes>()
  readonly #queue: WriteQueue
  readonly #commitSeconds
  readonly #commitWrites
  #usedBytes: number
  /** The file has reached its bound and the last commit made it grow. */
  #space: 'left' | 'used up' = 'left'
  #state: 'open' | 'closed' = 'open'
  /** Set when LMDB gave up for good. */
  #broken: UnavailableError | undefined

  constructor(options: StoreOptions) {
    const {
      folder,
      mapBytes,
      telemetry = new Telemetry({ level: 'silent', version: '' }),
    } = options
    mkdirSync(folder, { recursive: true })
    this.#file = join(folder, STORE_FILE)
    this.#mapBytes = mapBytes
    this.#root = open<Buffer, Buffer>(storeOptions(this.#file, mapBytes))
    this.#usedBytes = this.#measure().usedBytes
    this.#keepRoom()
    this.#queue = new WriteQueue(
      {
        commit: (work) => this.#commit(() => this.#root.childTransaction(work)),
        commitBlind: (work) => this.#commit(() => this.#root.batch(work)),
        translate: (error) => this.#translate(error),
        isEngineError: (error) => isEngineError(error) || error instanceof OutcomeUnknownError,
        committed: (group) => this.#committed(group),
      },
      {
        writesQueuedMax: options.writesQueuedMax ?? writesQueuedMax.default,
        bytesQueuedMax: options.bytesQueuedMax ?? bytesQueuedMax.default,
      },
    )
    this.#commitSeconds = telemetry.duration(
      'tributary_store_commit_seconds',
      'From the start of a transaction to its sync.',
    )
    this.#commitWrites = telemetry.counter(
      'tributary_store_commit_writes_total',
      'Writes committed; over the count of commits, how many share a sync.',
    )
    telemetry.gauge('tributary_store_writes_queued', 'Writes that wait for the disk.', {
      collect: (gauge) => gauge.set(this.#queue.queued),
    })
    telemetry.gauge(
      'tributary_store_used_bytes',
      'Pages of the data file in use or to be used again.',
      {
        collect: (gauge) => gauge.set(this.#usedBytes),
      },
    )
  }

  /** The ordered map of that name; made when it is not there. */
  database(name: string): Bytes {
    return this.#open(name, BINARY)
  }

  /**
   * The same, but a range hands over its keys and values in buffers that the next step writes over:
   * for who decodes them at once, twice as fast. A map is opened one way or the other.
   */
  passingDatabase(name: string): Bytes {
    return this.#open(name, PASSING)
  }

  #open(name: string, options: DatabaseOptions): Bytes {
    const known = this.#databases.get(name)
    if (known) return known
    const opened = this.#root.openDB<Buffer, Buffer>({ name, ...options })
    this.#databases.set(name, opened)
    return opened
  }

  /**
   * Puts and removes made inside `work` are one transaction; resolves when they are on the disk.
   * `work` runs later, synchronously, in the order of the calls, and also reads, seeing its own
   * writes and those before it. It may run a second time if the first was rolled back.
   */
  transaction<Result>(work: () => Result, load?: Load): Promise<Result> {
    if (this.#broken) return Promise.reject(this.#broken)
    if (this.#space === 'used up' && !load?.reclaims) return Promise.reject(this.#fullError())
    return this.#queue.submit(work, load)
  }

  /** Does blind work in a transaction; like `transaction`, but with less ado. */
  write(work: BlindWork): Promise<void> {
    if (this.#broken) return Promise.reject(this.#broken)
    if (this.#space === 'used up' && !work.reclaims) return Promise.reject(this.#fullError())
    return this.#queue.submitBlind(work)
  }

  /** A `transaction` that returns nothing. */
  batch(work: () => void, load?: Load): Promise<void> {
    return this.transaction(work, load)
  }

  /** Reading a closed environment would crash the process. */
  assertOpen(): void {
    if (this.#state === 'closed') throw new UnavailableError('the store is closed')
  }

  /** Copies a snapshot, without its free pages, to a new file, while the store goes on serving. */
  async copyTo(file: string): Promise<void> {
    try {
      await this.#root.backup(file, true)
    } catch (error) {
      throw this.#translate(error)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === 'closed') return
    await this.#queue[Symbol.asyncDispose]()
    this.#state = 'closed'
    await this.#root.close()
  }

  async #commit(transact: () => Promise<unknown>): Promise<void> {
    if (this.#broken) throw this.#broken
    const before = this.#measure().transaction
    try {
      await transact()
    } catch (error) {
      throw await this.#failure(error, before)
    }
  }

  /** What a failed commit was, and whether anything of it may have been written. */
  async #failure(error: unknown, before: number): Promise<unknown> {
    if (!isCommitFailure(error)) return error
    const cause = await error.commitError.catch((reason: unknown) => reason)
    const failure = new EngineFailure(messageOf(cause), { cause })
    try {
      this.#root.transactionSync(() => undefined)
      if (this.#measure().transaction === before) return failure
    } catch (panic) {
      this.#broken = new UnavailableError(
        `the store cannot go on after '${failure.message}': mend the disk, then start again`,
        { cause: panic },
      )
    }
    return new OutcomeUnknownError(`a commit failed half-way: ${failure.message}`, { cause })
  }

  #committed({ writes, seconds }: { readonly writes: number; readonly seconds: number }): void {
    this.#commitSeconds.observe(seconds)
    this.#commitWrites.inc(writes)
    const { usedBytes } = this.#measure()
    const grew = usedBytes > this.#usedBytes
    this.#space = grew && usedBytes >= this.#mapBytes ? 'used up' : 'left'
    this.#usedBytes = usedBytes
    if (grew) this.#keepRoom()
  }

  /**
   * Keeps the file longer than what is used, by a hole that takes no disk. LMDB leaves pages at the
   * end unwritten when a transaction frees them again; with this a file that is shorter than its
   * header says has lost something (data-folder.ts refuses it).
   */
  #keepRoom(): void {
    try {
      if (statSync(this.#file).size >= this.#usedBytes + ROOM_BYTES / 2) return
      truncateSync(this.#file, this.#usedBytes + ROOM_BYTES)
    } catch {
      // The disk takes no larger file. What is written is safe; a write that needs room will say so.
    }
  }

  #fullError(): UnavailableError {
    return new UnavailableError(
      `the data file has reached embedded.mapBytes (${this.#mapBytes}): remove data or raise it`,
    )
  }

  #translate(error: unknown): unknown {
    if (!isEngineError(error)) return error
    return new UnavailableError(`the store did not write: ${messageOf(error)}; is the disk full?`, {
      cause: error,
    })
  }

  /** The newest transaction on the disk, and how far it uses the file. */
  #measure(): { readonly transaction: number; readonly usedBytes: number } {
    const { lastTxnId, lastPageNumber, pageSize } = this.#root.getStats() as EngineStats
    return { transaction: lastTxnId, usedBytes: (lastPageNumber + 1) * pageSize }
  }
}

interface EngineStats {
  readonly lastTxnId: number
  readonly lastPageNumber: number
  readonly pageSize: number
}

/** More than a group of writes usually takes. */
const ROOM_BYTES = 64 * 1024 * 1024

const BINARY = { keyEncoding: 'binary', encoding: 'binary' } as const

/** Where the key that a passing database handed over last lies in its buffer. */
export const passedKey = { start: 0, end: 0 }

/** lmdb copies what it reads unless it is told how to decode it. */
const PASSING = {
  encoding: 'binary' as const,
  encoder: {
    encode: (value: Buffer): Buffer => value,
    decode: (bytes: Buffer): Buffer => bytes,
  },
  keyEncoder: {
    writeKey: (key: Buffer, target: Buffer, start: number): number => {
      if (key === PASSING_KEY) return writePassingKey(target, start)
      target.set(key, start)
      return start + key.length
    },
    readKey: (target: Buffer, start: number, end: number): Buffer => {
      passedKey.start = start
      passedKey.end = end
      return target
    },
  },
}

const storeOptions = (path: string, mapSize: number) => ({
  ...BINARY,
  path,
  mapSize,
  maxDbs: 512,
  overlappingSync: false,
  eventTurnBatching: false,
})

/** LMDB could not commit; nothing was written. */
class EngineFailure extends Error {
  override readonly name = 'EngineFailure'
}

/** What lmdb throws carries a number: one of LMDB's, or an errno. */
export const isEngineError = (error: unknown): boolean =>
  error instanceof EngineFailure ||
  (error instanceof Error && 'code' in error && typeof error.code === 'number')

interface CommitFailure extends Error {
  readonly commitError: Promise<never>
}

const isCommitFailure = (error: unknown): error is CommitFailure =>
  error instanceof Error && 'commitError' in error && error.commitError instanceof Promise

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : `${error}`)
