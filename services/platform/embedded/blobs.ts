/**
 * Blobs as files of a folder: the key is the path.
 *
 * A body is written to `+incoming/`, synced, renamed to its place and the folders on the way are
 * synced, so a reader finds the old bytes or the new ones and a crash loses nothing acknowledged.
 * What a crash leaves in `+incoming/` is removed at the next opening.
 *
 * A file system cannot hold `a` and `a/b`, a key space can: so the segments of a key that have
 * something below them are folders named with a `+` at the end, which no key may contain.
 */
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UnavailableError } from '../../kernel/errors.ts'
import { type BlobInfo, type Blobs, checkBlobKey, checkBlobPage } from '../blobs.ts'

/** No key begins with a `+`, and no folder of a segment. */
export const INCOMING_BLOBS = '+incoming'

export class FolderBlobs implements Blobs {
  readonly #root: string
  #sequence = 0

  private constructor(root: string) {
    this.#root = root
  }

  static async open(root: string): Promise<FolderBlobs> {
    await rm(join(root, INCOMING_BLOBS), { recursive: true, force: true })
    await mkdir(join(root, INCOMING_BLOBS), { recursive: true, mode: 0o700 })
    return new FolderBlobs(root)
  }

  put(key: string, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobInfo> {
    return guarded(async () => {
      checkBlobKey(key)
      this.#sequence += 1
      const incoming = join(this.#root, INCOMING_BLOBS, `${process.pid}-${this.#sequence}`)
      try {
        const bytes = await writeSynced(incoming, body)
        await this.#place(incoming, key)
        return { key, bytes }
      } catch (error) {
        await rm(incoming, { force: true })
        throw error
      }
    })
  }

  get(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return guarded(async () => {
      checkBlobKey(key)
      const file = await existing(() => open(this.#path(key), 'r'))
      return file && createReadStream('', { fd: file })
    })
  }

  info(key: string): Promise<BlobInfo | undefined> {
    return guarded(async () => {
      checkBlobKey(key)
      const found = await existing(() => stat(this.#path(key)))
      return found && { key, bytes: found.size }
    })
  }

  remove(key: string): Promise<void> {
    return guarded(async () => {
      checkBlobKey(key)
      const path = this.#path(key)
      const found = await existing(() => stat(path))
      if (!found) return
      await rm(path, { force: true })
      await syncFolder(join(path, '..'))
    })
  }

  list(
    prefix: string,
    { after = '', limit }: { readonly after?: string; readonly limit: number },
  ): Promise<BlobInfo[]> {
    return guarded(async () => {
      checkBlobPage(limit)
      const found: BlobInfo[] = []
      for await (const key of this.#keys('', { prefix, after })) {
        const info = await this.info(key)
        if (info) found.push(info)
        if (found.length === limit) break
      }
      return found
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(join(this.#root, INCOMING_BLOBS), { recursive: true, force: true })
  }

  /** Moves a finished file to its key and syncs every folder whose names changed. */
  async #place(incoming: string, key: string): Promise<void> {
    const path = this.#path(key)
    const folder = join(path, '..')
    const made = await mkdir(folder, { recursive: true, mode: 0o700 })
    await rename(incoming, path)
    await syncFolder(folder)
    if (made === undefined) return
    // `made` is the topmost folder that is new: its name lies in its parent.
    for (let each = folder; each.length >= made.length; each = join(each, '..')) {
      await syncFolder(join(each, '..'))
    }
  }

  #path(key: string): string {
    const segments = key.split('/')
    const name = segments.pop() ?? ''
    return join(this.#root, ...segments.map((segment) => `${segment}+`), name)
  }

  /** The keys below `base` (empty, or ending in `/`) in byte order, as far as they are wanted. */
  async *#keys(
    base: string,
    wanted: { readonly prefix: string; readonly after: string },
  ): AsyncGenerator<string, void> {
    const folder = join(
      this.#root,
      ...base
        .split('/')
        .slice(0, -1)
        .map((segment) => `${segment}+`),
    )
    const names = (await existing(() => readdir(folder))) ?? []
    const places = names
      .filter((name) => base !== '' || name !== INCOMING_BLOBS)
      .map((name) => (name.endsWith('+') ? `${base}${name.slice(0, -1)}/` : `${base}${name}`))
      .sort((a, b) => (a < b ? -1 : 1))
    for (const place of places) {
      const isFolder = place.endsWith('/')
      if (!isFolder && place.startsWith(wanted.prefix) && place > wanted.after) yield place
      if (isFolder && mayHold(place, wanted)) yield* this.#keys(place, wanted)
    }
  }
}

/** Whether a key that begins with `place` can be one of those wanted. */
const mayHold = (
  place: string,
  { prefix, after }: { readonly prefix: string; readonly after: string },
): boolean =>
  (place.startsWith(prefix) || prefix.startsWith(place)) &&
  (after.startsWith(place) || place > after)

const writeSynced = async (
  path: string,
  body: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<number> => {
  const file = await open(path, 'wx', 0o600)
  try {
    let bytes = 0
    for await (const chunk of body instanceof Uint8Array ? [body] : body) {
      await writeAll(file, chunk)
      bytes += chunk.length
    }
    await file.sync()
    return bytes
  } finally {
    await file.close()
  }
}

const writeAll = async (file: FileHandle, chunk: Uint8Array): Promise<void> => {
  let rest = chunk
  while (rest.length > 0) {
    const { bytesWritten } = await file.write(rest)
    rest = rest.subarray(bytesWritten)
  }
}

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** What the call finds, `undefined` where there is nothing. */
const existing = async <Found>(look: () => Promise<Found>): Promise<Found | undefined> => {
  try {
    return await look()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Errors of the file system do not cross; errors of ours and of a body's source pass. */
const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (cause) {
    const code = codeOf(cause)
    if (!code) throw cause
    throw new UnavailableError(`the folder of blobs did not answer: ${code}`, { cause })
  }
}

/** The errno of a system call's error. */
const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined
