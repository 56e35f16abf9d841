/**
 * Large immutable values under a path-like key: media, archived pages, snapshots.
 *
 * A `put` is whole or not there: it resolves once the bytes would survive a crash, and nobody ever
 * reads half of one. Keys are 1 to 512 bytes of `a-z A-Z 0-9 . _ - /`, without empty, `.` or `..`
 * segments, each of at most 200, in byte order when listed. Putting an existing key replaces it.
 */
import { BadInputError } from '../kernel/errors.ts'

export const BLOB_LIST_MAX = 1000

export interface BlobInfo {
  readonly key: string
  readonly bytes: number
}

export interface Blobs extends AsyncDisposable {
  put(key: string, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobInfo>
  /** The bytes, streamed; `undefined` where there is no such key. */
  get(key: string): Promise<AsyncIterable<Uint8Array> | undefined>
  info(key: string): Promise<BlobInfo | undefined>
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>
  /** Up to `limit` (at most 1,000) keys that begin with `prefix`, after `after`, in byte order. */
  list(
    prefix: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<BlobInfo[]>
}

const KEY = /^[a-zA-Z0-9._-]+(\/[a-zA-Z0-9._-]+)*$/

/** What every adapter refuses before it touches anything. */
export const checkBlobKey = (key: string): void => {
  if (key.length <= 512 && KEY.test(key) && key.split('/').every(isSegment)) return
  throw new BadInputError(`'${key.slice(0, 80)}' is no key of a blob`, { field: 'key' })
}

const isSegment = (segment: string): boolean =>
  segment.length <= 200 && segment !== '.' && segment !== '..'

export const checkBlobPage = (limit: number): void => {
  if (Number.isInteger(limit) && limit >= 1 && limit <= BLOB_LIST_MAX) return
  throw new BadInputError(`a page has 1 to ${BLOB_LIST_MAX} blobs`, { field: 'limit' })
}
