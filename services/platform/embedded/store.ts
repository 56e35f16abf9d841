/**
 * The LMDB environment behind the embedded tables and the embedded log: one file, one writer, one
 * transaction for rows and events together.
 *
 * Keys and values are bytes. A write resolves once it is synced to the disk: commits are grouped,
 * so many writers share one sync.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'

export type Bytes = Database<Buffer, Buffer>

export interface StoreOptions {
  readonly folder: string
  readonly mapBytes: number
}

export class Store implements AsyncDisposable {
  readonly #root: RootDatabase<Buffer, Buffer>
  readonly #databases = new Map<string, Bytes>()

  constructor({ folder, mapBytes }: StoreOptions) {
    mkdirSync(folder, { recursive: true })
    this.#root = open<Buffer, Buffer>({
      path: join(folder, 'store.mdb'),
      mapSize: mapBytes,
      maxDbs: 512,
      keyEncoding: 'binary',
      encoding: 'binary',
    })
  }

  /** The ordered map of that name; made when it is not there. */
  database(name: string): Bytes {
    const known = this.#databases.get(name)
    if (known) return known
    const opened = this.#root.openDB<Buffer, Buffer>({
      name,
      keyEncoding: 'binary',
      encoding: 'binary',
    })
    this.#databases.set(name, opened)
    return opened
  }

  /** Puts and removes made inside `work` are one transaction; resolves when they are on disk. */
  async batch(work: () => void): Promise<void> {
    await this.#root.batch(work)
    await this.#root.flushed
  }

  /** Like `batch`, but `work` also reads, and sees its own writes. */
  async transaction<Result>(work: () => Result): Promise<Result> {
    const result = await this.#root.transaction(work)
    await this.#root.flushed
    return result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#root.flushed
    await this.#root.close()
  }
}
