/**
 * The folder of the embedded engines:
 *
 *   format      what wrote it: { "format": 1, "state": "ready" }
 *   store.mdb   tables and log (store.ts)          blobs/   large values (blobs.ts)
 *   lock.mdb    who uses it (folder-lock.ts)       *-lock   LMDB's own
 *
 * Opening never repairs and never overwrites: a folder that is newer than this program, damaged or
 * not ours is refused with what to do. `format` is written first, as `new`, and becomes `ready` when
 * the store is there: what a crash leaves behind before that, when nothing was ever acknowledged, is
 * begun again. LMDB maps its file, and a process that touches a page beyond its end dies: so the file is
 * measured against what its header says before it is opened.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { assert, DamagedError } from '../../kernel/errors.ts'
import { FolderLock, LOCK_FILES } from './folder-lock.ts'
import { STORE_FILE, Store, type StoreOptions } from './store.ts'

export const FORMAT = 1
export const FORMAT_FILE = 'format'
const STORE_FILES = [STORE_FILE, `${STORE_FILE}-lock`] as const
export const BLOBS_FOLDER = 'blobs'

export interface FormatNote {
  readonly format: number
  readonly state: 'new' | 'ready'
}

export class DataFolder implements AsyncDisposable {
  readonly path: string
  readonly #lock: FolderLock

  private constructor(path: string, lock: FolderLock) {
    this.path = path
    this.#lock = lock
  }

  /** Makes the folder if it is not there; throws ConflictError when another process has it. */
  static async open(path: string): Promise<DataFolder> {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    checkOurs(path)
    const lock = await FolderLock.take(path)
    try {
      prepare(path)
      return new DataFolder(path, lock)
    } catch (error) {
      await lock[Symbol.asyncDispose]()
      throw error
    }
  }

  get blobs(): string {
    return join(this.path, BLOBS_FOLDER)
  }

  openStore(options: Omit<StoreOptions, 'folder'>): Store {
    const store = new Store({ ...options, folder: this.path })
    if (readFormat(this.path)?.state === 'new') {
      writeFormat(this.path, { format: FORMAT, state: 'ready' })
    }
    return store
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lock[Symbol.asyncDispose]()
  }
}

/** Whether nothing was ever stored there: it is not there or has nothing in it. */
export const isUnused = (path: string): boolean => !existsSync(path) || filesIn(path).length === 0

const filesIn = (path: string): readonly string[] =>
  readdirSync(path).filter((file) => !LOCK_FILES.includes(file))

/** A folder without `format` must be empty: it may be somebody's home. */
const checkOurs = (path: string): void => {
  const files = filesIn(path)
  if (files.length === 0 || files.includes(FORMAT_FILE)) return
  throw new DamagedError(
    `${path} holds files but no '${FORMAT_FILE}': it is no data folder of ours, or lost a part. ` +
      'Choose an empty folder, or restore a backup into one.',
  )
}

/** Begins a new folder, or one whose beginning was cut short; leaves others as they are. */
const prepare = (path: string): void => {
  const state = checkFolder(path)
  if (state === undefined) writeFormat(path, { format: FORMAT, state: 'new' })
  if (state !== 'new') return
  for (const file of STORE_FILES) rmSync(join(path, file), { force: true })
}

/** Throws what keeps the folder from being used; `undefined` for one that is still to begin. */
export const checkFolder = (path: string): FormatNote['state'] | undefined => {
  const note = readFormat(path)
  if (!note) return undefined
  if (note.format > FORMAT) {
    throw new DamagedError(
      `${path} was written by a newer version (format ${note.format}, known here is ${FORMAT}): ` +
        'start that version, or restore a backup made by this one into an empty folder.',
    )
  }
  const fault = note.state === 'new' ? undefined : storeFault(join(path, STORE_FILE))
  if (fault === undefined) return note.state
  throw new DamagedError(
    `${join(path, STORE_FILE)} ${fault}. Nothing was changed: keep the folder aside and restore a ` +
      'backup into an empty one.',
  )
}

const readFormat = (path: string): FormatNote | undefined => {
  const file = join(path, FORMAT_FILE)
  try {
    const note: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isNote(note)) return note
  } catch (cause) {
    if (isMissing(cause)) return undefined
    throw new DamagedError(`${file} cannot be read: restore a backup into an empty folder`, {
      cause,
    })
  }
  throw new DamagedError(`${file} says nothing we know: restore a backup into an empty folder`)
}

const isNote = (note: unknown): note is FormatNote => {
  if (typeof note !== 'object' || note === null) return false
  const { format, state } = note as Record<keyof FormatNote, unknown>
  return Number.isInteger(format) && Number(format) > 0 && (state === 'new' || state === 'ready')
}

/** Written beside and renamed: there is never half a note. */
export const writeFormat = (path: string, note: FormatNote): void => {
  const beside = join(path, `${FORMAT_FILE}.tmp`)
  writeFileSync(beside, `${JSON.stringify(note)}\n`, { flush: true })
  renameSync(beside, join(path, FORMAT_FILE))
  syncFolder(path)
}

/** Makes names in a folder (files made, renamed, removed) survive a crash. */
export const syncFolder = (path: string): void => {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

const META_MAGIC = 0xbeefc0de
const META = { magic: 24, pageSize: 48, lastPage: 144, transaction: 152, bytes: 160 } as const

/** What is wrong with the store's file, if anything can be told from its size and header. */
const storeFault = (file: string): string | undefined => {
  let size: number
  try {
    size = statSync(file).size
  } catch (cause) {
    if (isMissing(cause)) return 'is missing'
    throw cause
  }
  const first = readAt(file, 0)
  if (first.readUInt32LE(META.magic) !== META_MAGIC) return 'is not a store (its header is damaged)'
  const pageSize = first.readUInt32LE(META.pageSize)
  const second = readAt(file, pageSize)
  const newest = [first, second]
    .filter((meta) => meta.readUInt32LE(META.magic) === META_MAGIC)
    .sort((a, b) =>
      Number(b.readBigUInt64LE(META.transaction) - a.readBigUInt64LE(META.transaction)),
    )
    .at(0)
  assert(newest, 'the first header was checked')
  const needed = (Number(newest.readBigUInt64LE(META.lastPage)) + 1) * pageSize
  return size < needed ? `is cut off: it has ${size} of ${needed} bytes` : undefined
}

/** The bytes of a header, zeros where the file ends before. */
const readAt = (file: string, position: number): Buffer => {
  const bytes = Buffer.alloc(META.bytes)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, bytes, { position })
    return bytes
  } finally {
    closeSync(descriptor)
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'
