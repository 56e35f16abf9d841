/** Feeds as bytes: what lua/feed-library.ts stores, packed and unpacked. */
import { comparePairs, type Pair } from '../../kernel/pair.ts'
import { FeedEntries, type FeedRange, type FeedRead, type FeedState } from '../feeds.ts'
import { FEED_ENTRY_BYTES, FEED_HEADER_BYTES } from './lua/feed-library.ts'

const NONE = Buffer.alloc(0)

export const packPairs = (pairs: readonly Pair[]): Buffer => {
  const bytes = Buffer.allocUnsafe(pairs.length * FEED_ENTRY_BYTES)
  let offset = 0
  for (const { ms, id } of pairs) {
    offset = bytes.writeUIntBE(ms, offset, 6)
    offset = bytes.writeBigUInt64BE(id, offset)
  }
  return bytes
}

export const packPair = (pair: Pair | undefined): Buffer => (pair ? packPairs([pair]) : NONE)

export const packVersions = (graphVersion: number, pulledVersion: number): Buffer => {
  const bytes = Buffer.allocUnsafe(12)
  bytes.writeUIntBE(graphVersion, 0, 6)
  bytes.writeUIntBE(pulledVersion, 6, 6)
  return bytes
}

/** A view of a reply: nothing is decoded until it is looked at. */
class ReplyEntries extends FeedEntries {
  readonly #bytes: Buffer
  readonly #newest: number
  readonly length: number

  constructor(bytes: Buffer, newest: number, length: number) {
    super()
    this.#bytes = bytes
    this.#newest = newest
    this.length = length
  }

  msAt(index: number): number {
    return this.#bytes.readUIntBE(this.#newest - index * FEED_ENTRY_BYTES, 6)
  }

  idAt(index: number): bigint {
    return this.#bytes.readBigUInt64BE(this.#newest - index * FEED_ENTRY_BYTES + 6)
  }
}

const pairAt = (bytes: Buffer, offset: number): Pair => ({
  ms: bytes.readUIntBE(offset, 6),
  id: bytes.readBigUInt64BE(offset + 6),
})

const unpackState = (bytes: Buffer): FeedState => ({
  building: bytes[18] === 0x42,
  floor: pairAt(bytes, 41),
  graphVersion: bytes.readUIntBE(55, 6),
  pulledVersion: bytes.readUIntBE(61, 6),
  revision: bytes.toString('latin1', 73, FEED_HEADER_BYTES),
  epoch: bytes.toString('latin1', 2, 18),
})

/** What `read` of the library gave for one feed: header and up to `limit` + 1 entries. */
export const unpackRead = (bytes: Buffer, { limit, above }: FeedRange): FeedRead => {
  if (bytes.length === 0) return { resident: false }
  const newest = bytes.length - FEED_ENTRY_BYTES
  let held = (bytes.length - FEED_HEADER_BYTES) / FEED_ENTRY_BYTES
  if (above) {
    const isPast = (index: number) =>
      comparePairs(pairAt(bytes, newest - index * FEED_ENTRY_BYTES), above) <= 0
    while (held > 0 && isPast(held - 1)) held -= 1
  }
  return {
    resident: true,
    state: unpackState(bytes),
    entries: new ReplyEntries(bytes, newest, Math.min(held, limit)),
    more: held > limit,
  }
}
