/**
 * One process per data folder, held by the operating system.
 *
 * A pid in a file is not a lock: pids are reused, and taking over a stale file races. So the lock is
 * a tiny LMDB environment of its own, `lock.mdb`. LMDB keeps a byte lock (fcntl) in its lock file
 * for every process that has a reader there; the kernel drops it when the process ends, however it
 * ends, and LMDB clears the slot of a reader whose lock is gone. The holder keeps one reader open
 * for as long as it lives. Who may become the holder is decided inside a write transaction, whose
 * mutex survives the death of its owner too, so two that start at once cannot both win.
 *
 * fcntl locks are lost when the process closes *any* descriptor of the file: nothing else may open
 * `lock.mdb-lock` (a backup must not read it). They do not work on most network disks, nor does LMDB.
 */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase, type Transaction } from 'lmdb'
import { ConflictError, DamagedError } from '../../kernel/errors.ts'

export const LOCK_FILES: readonly string[] = ['lock.mdb', 'lock.mdb-lock']

/**
 * Folders this process holds, as byte locks do not tell two holders in one process apart, each with
 * its reader: one that is garbage-collected gives its slot, and the lock with it, back.
 */
const heldHere = new Map<string, Transaction | undefined>()

export class FolderLock implements AsyncDisposable {
  readonly #folder: string
  readonly #environment: RootDatabase

  private constructor(folder: string, environment: RootDatabase) {
    this.#folder = folder
    this.#environment = environment
  }

  /** Takes the lock of an existing folder, or throws who has it. */
  static async take(path: string): Promise<FolderLock> {
    const folder = realpathSync(path)
    if (heldHere.has(folder)) throw inUse(folder, process.pid)
    heldHere.set(folder, undefined)
    try {
      return await claim(folder, (environment) => new FolderLock(folder, environment))
    } catch (error) {
      heldHere.delete(folder)
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#environment.close()
    heldHere.delete(this.#folder)
  }
}

const claim = async <Lock>(
  folder: string,
  make: (environment: RootDatabase) => Lock,
): Promise<Lock> => {
  const environment = openLock(folder)
  const other = environment.transactionSync(() => {
    environment.readerCheck()
    const holder = readerOf(environment.readerList())
    // Never released: the slot, and the byte lock with it, stay until the environment is closed.
    if (holder === undefined) heldHere.set(folder, environment.useReadTransaction())
    return holder
  })
  if (other === undefined) return make(environment)
  await environment.close()
  throw inUse(folder, other)
}

const openLock = (folder: string): RootDatabase => {
  try {
    return open({ path: join(folder, 'lock.mdb'), mapSize: 2 ** 20, overlappingSync: false })
  } catch (cause) {
    throw new DamagedError(
      `${join(folder, 'lock.mdb')} cannot be used: when no process uses the folder, remove it`,
      { cause },
    )
  }
}

/** The pid of the first reader in LMDB's table: a heading, then `pid thread txn` per line. */
const readerOf = (table: string): number | undefined => {
  const pid = /^\s*(\d+)\s+\S+\s+\S+$/m.exec(table)?.[1]
  return pid === undefined ? undefined : Number(pid)
}

const inUse = (folder: string, pid: number): ConflictError =>
  new ConflictError(`${folder} is in use by process ${pid}: stop it first, or use another folder`)
