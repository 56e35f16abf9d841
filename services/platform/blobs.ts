/**
 * Large immutable values under a path-like key: media, archived pages, snapshots.
 *
 * A `put` is whole or not there: it resolves once the bytes would survive a crash, and nobody ever
 * reads half of one. Keys are 1 to 512 bytes of `a-z A-Z 0-9 . _ - /`, without empty, `.` or `..`
 * segments, in byte order when listed. Putting an existing key replaces it.
 */
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
