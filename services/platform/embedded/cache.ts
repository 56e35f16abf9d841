/**
 * The cache in this process: three kinds of keys, as on Redis, in one budget of memory.
 *
 * Each change runs to its end without waiting, so every operation is atomic. Sizes are counted per
 * key as it changes, with what the objects around the bytes cost.
 */
import {
  bucketTtlMs,
  type Cache,
  type CappedAdd,
  checkBucket,
  checkKeys,
  checkOffsets,
  checkScore,
  checkTtl,
  checkValue,
  type Scored,
  type SortedSlice,
  type TokenBucket,
  type TokenGrant,
  WrongKindError,
} from '../cache.ts'
import type { Telemetry } from '../telemetry.ts'
import { Evictable, type MemoryBudget } from './memory-budget.ts'
import { SortedMembers } from './sorted-members.ts'

/** What V8 spends on a key's slot and objects, on a field, and on a member of a sorted set. */
const KEY_OVERHEAD_BYTES = 200
const FIELD_OVERHEAD_BYTES = 80
const MEMBER_OVERHEAD_BYTES = 120

type Content = string | Uint8Array | Map<string, string> | SortedMembers

class CachedKey extends Evictable {
  readonly name: string
  readonly home: Map<string, CachedKey>
  content: Content
  expiresAt: number

  constructor(home: Map<string, CachedKey>, name: string, content: Content) {
    super()
    this.home = home
    this.name = name
    this.content = content
    this.expiresAt = Number.POSITIVE_INFINITY
  }

  evict(): void {
    this.home.delete(this.name)
  }
}

export class EmbeddedCache implements Cache {
  readonly #budget: MemoryBudget
  readonly #keys = new Map<string, CachedKey>()

  constructor(budget: MemoryBudget, telemetry: Telemetry) {
    this.#budget = budget
    telemetry.gauge('tributary_cache_bytes', 'memory of cached keys and feeds', {
      collect: (gauge) => gauge.set(budget.bytes),
    })
    telemetry.gauge('tributary_cache_evictions_total', 'keys evicted for want of memory so far', {
      collect: (gauge) => gauge.set(budget.evictions),
    })
  }

  async get(key: string): Promise<string | undefined> {
    return this.#text(key)
  }

  async getMany(keys: readonly string[]): Promise<(string | undefined)[]> {
    checkKeys(keys.length)
    return keys.map((key) => this.#text(key))
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    checkValue(key, value)
    checkTtl(ttlMs)
    this.#put(key, value, ttlMs)
  }

  async setMany(values: ReadonlyMap<string, string>, ttlMs: number): Promise<void> {
    checkKeys(values.size)
    checkTtl(ttlMs)
    for (const [key, value] of values) checkValue(key, value)
    for (const [key, value] of values) this.#put(key, value, ttlMs)
  }

  async getBytes(key: string): Promise<Uint8Array | undefined> {
    const value = this.#value(key)
    return value === undefined ? undefined : Uint8Array.from(bytesOf(value))
  }

  async setBytes(key: string, value: Uint8Array, ttlMs: number): Promise<void> {
    checkValue(key, value)
    checkTtl(ttlMs)
    this.#put(key, Uint8Array.from(value), ttlMs)
  }

  async swap(key: string, change: Parameters<Cache['swap']>[1]): Promise<boolean> {
    const { expected, next, ttlMs } = change
    checkValue(key, next)
    checkTtl(ttlMs)
    if (this.#text(key) !== expected) return false
    this.#put(key, next, ttlMs)
    return true
  }

  async remove(keys: readonly string[]): Promise<number> {
    checkKeys(keys.length)
    let removed = 0
    for (const key of keys) {
      const held = this.#find(key)
      if (!held) continue
      this.#discard(held)
      removed += 1
    }
    return removed
  }

  async setFields(
    key: string,
    fields: Readonly<Record<string, string>>,
    ttlMs: number,
  ): Promise<void> {
    checkTtl(ttlMs)
    const entries = Object.entries(fields)
    checkKeys(entries.length)
    for (const [, value] of entries) checkValue(key, value)
    if (entries.length === 0) return
    this.#writeFields(key, entries, ttlMs)
  }

  async getFields(key: string): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries(this.#fields(key) ?? [])
  }

  async removeFields(key: string, fields: readonly string[]): Promise<number> {
    checkKeys(fields.length)
    if (fields.length === 0) return 0
    const held = this.#fields(key)
    if (!held) return 0
    let removed = 0
    let bytes = 0
    for (const field of fields) {
      const value = held.get(field)
      if (value === undefined) continue
      held.delete(field)
      removed += 1
      bytes -= fieldBytes(field, value)
    }
    this.#changed(key, bytes, held.size)
    return removed
  }

  async addCapped(adds: readonly CappedAdd[]): Promise<void> {
    checkKeys(adds.length)
    for (const { members, ttlMs } of adds) {
      checkTtl(ttlMs)
      for (const { score } of members) checkScore(score)
    }
    // One key of another kind fails the call but, as on servers, not the other keys.
    const usable = adds.filter(({ key }) => this.#isSortedOrAbsent(key))
    for (const add of usable) this.#addCapped(add)
    if (usable.length < adds.length) throw wrongKind()
  }

  async sliceSorted(key: string, slice: SortedSlice): Promise<Scored[]> {
    return slice.limit > 0 ? (this.#sorted(key)?.slice(slice) ?? []) : []
  }

  async removeMembers(key: string, members: readonly string[]): Promise<number> {
    checkKeys(members.length)
    return members.length === 0 ? 0 : this.#removeMembers(key, members)
  }

  async removeWhere(key: string, matches: (entry: Scored) => boolean): Promise<number> {
    const held = this.#sorted(key)
    if (!held) return 0
    const members = [...held].filter(matches).map(({ member }) => member)
    return this.#removeMembers(key, members)
  }

  async countSorted(key: string): Promise<number> {
    return this.#sorted(key)?.size ?? 0
  }

  /** In thousandths of a token: whole numbers when the refill is, so nothing is lost by rounding. */
  async takeTokens(key: string, bucket: TokenBucket): Promise<TokenGrant> {
    checkBucket(bucket)
    const full = bucket.capacity * 1000
    const cost = bucket.cost * 1000
    const fields = this.#fields(key)
    const at = Number(fields?.get('at') ?? bucket.nowMs)
    const nowMs = Math.max(bucket.nowMs, at)
    const refilled = Number(fields?.get('level') ?? full) + (nowMs - at) * bucket.refillPerSecond
    const before = Math.min(full, refilled)
    const granted = before >= cost
    const level = granted ? before - cost : before
    const state: [string, string][] = [
      ['level', String(level)],
      ['at', String(nowMs)],
    ]
    this.#writeFields(key, state, bucketTtlMs(bucket))
    const retryAfterMs = granted ? 0 : Math.ceil((cost - level) / bucket.refillPerSecond)
    return { granted, remaining: Math.floor(level / 1000), retryAfterMs }
  }

  async setBits(key: string, offsets: readonly number[], ttlMs: number): Promise<void> {
    checkOffsets(offsets)
    checkKeys(offsets.length)
    checkTtl(ttlMs)
    if (offsets.length === 0) return
    const held = bytesOf(this.#value(key) ?? '')
    const length = offsets.reduce((most, offset) => Math.max(most, (offset >> 3) + 1), held.length)
    const bytes = new Uint8Array(length)
    bytes.set(held)
    for (const offset of offsets) bytes[offset >> 3] = (bytes[offset >> 3] ?? 0) | bitOf(offset)
    this.#put(key, bytes, ttlMs)
  }

  async getBits(key: string, offsets: readonly number[]): Promise<boolean[]> {
    checkOffsets(offsets)
    checkKeys(offsets.length)
    if (offsets.length === 0) return []
    const held = bytesOf(this.#value(key) ?? '')
    return offsets.map((offset) => ((held[offset >> 3] ?? 0) & bitOf(offset)) !== 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const held of this.#keys.values()) this.#budget.remove(held)
    this.#keys.clear()
  }

  #text(key: string): string | undefined {
    const value = this.#value(key)
    return value === undefined || typeof value === 'string'
      ? value
      : Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
  }

  #value(key: string): string | Uint8Array | undefined {
    const content = this.#find(key)?.content
    if (content instanceof Map || content instanceof SortedMembers) throw wrongKind()
    return content
  }

  #fields(key: string): Map<string, string> | undefined {
    const content = this.#find(key)?.content
    if (content === undefined || content instanceof Map) return content
    throw wrongKind()
  }

  #sorted(key: string): SortedMembers | undefined {
    const content = this.#find(key)?.content
    if (content === undefined || content instanceof SortedMembers) return content
    throw wrongKind()
  }

  #isSortedOrAbsent(key: string): boolean {
    const held = this.#find(key)
    return !held || held.content instanceof SortedMembers
  }

  #find(key: string): CachedKey | undefined {
    const held = this.#keys.get(key)
    if (!held) return undefined
    if (held.expiresAt <= performance.now()) {
      this.#discard(held)
      return undefined
    }
    this.#budget.touch(held)
    return held
  }

  /** Replaces what is there, of whatever kind. */
  #put(key: string, content: string | Uint8Array, ttlMs: number): void {
    const size = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength
    const held = this.#find(key) ?? this.#make(key, content)
    held.content = content
    held.expiresAt = performance.now() + ttlMs
    this.#budget.resize(held, overheadOf(key) + size)
  }

  #make(key: string, content: Content): CachedKey {
    const made = new CachedKey(this.#keys, key, content)
    this.#keys.set(key, made)
    this.#budget.add(made, overheadOf(key))
    return made
  }

  #writeFields(key: string, entries: readonly [string, string][], ttlMs: number): void {
    const fields = this.#fields(key) ?? new Map<string, string>()
    const held = this.#find(key) ?? this.#make(key, fields)
    let bytes = held.bytes
    for (const [field, value] of entries) {
      const previous = fields.get(field)
      if (previous !== undefined) bytes -= fieldBytes(field, previous)
      fields.set(field, value)
      bytes += fieldBytes(field, value)
    }
    held.expiresAt = performance.now() + ttlMs
    this.#budget.resize(held, bytes)
  }

  #addCapped({ key, members, cap, ttlMs }: CappedAdd): void {
    const sorted = this.#sorted(key) ?? new SortedMembers()
    if (members.length === 0 && sorted.size === 0) return
    const held = this.#find(key) ?? this.#make(key, sorted)
    let bytes = held.bytes
    for (const entry of members) {
      const before = sorted.size
      sorted.set(entry)
      if (sorted.size > before) bytes += memberBytes(entry.member)
    }
    for (const { member } of sorted.trim(cap)) bytes -= memberBytes(member)
    held.expiresAt = performance.now() + ttlMs
    if (sorted.size === 0) this.#discard(held)
    else this.#budget.resize(held, bytes)
  }

  #removeMembers(key: string, members: readonly string[]): number {
    const sorted = this.#sorted(key)
    if (!sorted) return 0
    const removed = members.filter((member) => sorted.delete(member))
    const bytes = removed.reduce((sum, member) => sum - memberBytes(member), 0)
    this.#changed(key, bytes, sorted.size)
    return removed.length
  }

  /** A key without content does not exist, as on Redis. */
  #changed(key: string, byBytes: number, size: number): void {
    const held = this.#keys.get(key)
    if (!held) return
    if (size === 0) this.#discard(held)
    else this.#budget.resize(held, held.bytes + byBytes)
  }

  #discard(held: CachedKey): void {
    this.#budget.remove(held)
    held.evict()
  }
}

const wrongKind = (): Error => new WrongKindError('a cache key is used as another kind than it has')

const bytesOf = (value: string | Uint8Array): Uint8Array =>
  typeof value === 'string' ? Buffer.from(value) : value

/** Redis counts bits from the highest of a byte. */
const bitOf = (offset: number): number => 0x80 >> (offset & 7)

const overheadOf = (key: string): number => Buffer.byteLength(key) + KEY_OVERHEAD_BYTES

const fieldBytes = (field: string, value: string): number =>
  Buffer.byteLength(field) + Buffer.byteLength(value) + FIELD_OVERHEAD_BYTES

const memberBytes = (member: string): number => Buffer.byteLength(member) + MEMBER_OVERHEAD_BYTES
