/** One group of readers: where it is in each partition, who its members are, who waits for it. */
import { LogUnavailableError } from '../log.ts'
import type { Cursor } from './log-claims.ts'
import type { StoredPartitions } from './log-topics.ts'
import type { Bytes } from './store.ts'

/** A member as its group sees it. */
export interface Member {
  readonly topics: ReadonlySet<string>
  /** Replaces what the member may handle. */
  assign(cursors: ReadonlySet<Cursor>): void
  /** Something may be there to handle. */
  wake(): void
}

interface Waiter {
  readonly targets: ReadonlyMap<Cursor, number>
  resolve(): void
  reject(error: Error): void
}

export class LogGroup {
  readonly name: string
  readonly #offsets: Bytes
  readonly #cursors = new Map<string, readonly Cursor[]>()
  readonly #members = new Map<Member, ReadonlySet<Cursor>>()
  readonly #waiters = new Set<Waiter>()

  constructor(offsets: Bytes, name: string) {
    this.#offsets = offsets
    this.name = name
  }

  get hasMembers(): boolean {
    return this.#members.size > 0
  }

  /** Whether somebody here waits for events of `topic`. */
  reads(topic: string): boolean {
    return this.#members.size > 0 && this.#cursors.has(topic)
  }

  *all(): Iterable<Cursor> {
    for (const cursors of this.#cursors.values()) yield* cursors
  }

  cursors(topic: StoredPartitions): readonly Cursor[] {
    const known = this.#cursors.get(topic.name)
    if (known) return known
    const loaded = topic.partitions.map((partition): Cursor => {
      const stored = this.#offsets.get(this.#key(topic.number, partition.partition))
      return { group: this.name, partition, committed: stored ? Number(stored.toString()) : 0 }
    })
    this.#cursors.set(topic.name, loaded)
    return loaded
  }

  /** Queues the write of an offset; the caller's transaction makes it durable. */
  put({ partition }: Cursor, next: number): void {
    const { topic, partition: number } = partition.place
    void this.#offsets.put(this.#key(topic, number), Buffer.from(String(next)))
  }

  moved(): void {
    for (const waiter of this.#waiters) {
      if (!isReached(waiter.targets)) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  /** Resolves when every cursor has reached its target. */
  reaches(targets: ReadonlyMap<Cursor, number>): Promise<void> {
    if (isReached(targets)) return Promise.resolve()
    return new Promise((resolve, reject) => this.#waiters.add({ targets, resolve, reject }))
  }

  abandonWaiters(): void {
    for (const { reject } of this.#waiters) reject(new LogUnavailableError('the log is closed'))
    this.#waiters.clear()
  }

  join(member: Member): void {
    this.#members.set(member, new Set())
    this.#rebalance()
  }

  leave(member: Member): void {
    if (!this.#members.delete(member)) return
    member.assign(new Set())
    this.#rebalance()
  }

  wake(): void {
    for (const member of this.#members.keys()) member.wake()
  }

  #rebalance(): void {
    const wanted = new Set([...this.#members.keys()].flatMap(({ topics }) => [...topics]))
    const cursors = [...this.all()].filter(({ partition }) => wanted.has(partition.topic))
    const shares = share(cursors, this.#members)
    for (const [member, dealt] of shares) this.#members.set(member, dealt)
    for (const [member, dealt] of shares) member.assign(dealt)
  }

  #key(topic: number, partition: number): Buffer {
    const place = Buffer.allocUnsafe(4)
    place.writeUInt16BE(topic, 0)
    place.writeUInt16BE(partition, 2)
    return Buffer.concat([Buffer.from(this.name), Buffer.of(0), place])
  }
}

/** What a key that `LogGroup` wrote speaks of. */
export const groupOfKey = (key: Buffer): { readonly group: string; readonly topic: number } => ({
  group: key.toString('utf8', 0, key.length - 5),
  topic: key.readUInt16BE(key.length - 4),
})

const isReached = (targets: ReadonlyMap<Cursor, number>): boolean => {
  for (const [{ committed, partition }, target] of targets) {
    if (Math.max(committed, partition.start) < target) return false
  }
  return true
}

/**
 * Deals partitions out evenly, each to a member that reads its topic. Members keep what they have
 * as far as that is fair, since a partition that moves interrupts its handler.
 */
export const share = (
  cursors: readonly Cursor[],
  members: ReadonlyMap<Member, ReadonlySet<Cursor>>,
): Map<Member, Set<Cursor>> => {
  const shares = new Map<Member, Set<Cursor>>()
  for (const member of members.keys()) shares.set(member, new Set())
  const least = Math.floor(cursors.length / Math.max(1, members.size))
  let extras = cursors.length % Math.max(1, members.size)
  const orphans: Cursor[] = []
  for (const cursor of cursors) {
    const owner = [...members].find(([, owned]) => owned.has(cursor))?.[0]
    const kept = owner && shares.get(owner)
    const isFair = kept !== undefined && kept.size < least + (extras > 0 ? 1 : 0)
    if (!isFair) orphans.push(cursor)
    else if (kept.add(cursor).size > least) extras -= 1
  }
  for (const cursor of orphans) leastLoaded(cursor, shares)?.add(cursor)
  return shares
}

const leastLoaded = (
  { partition }: Cursor,
  shares: ReadonlyMap<Member, Set<Cursor>>,
): Set<Cursor> | undefined => {
  let least: Set<Cursor> | undefined
  for (const [{ topics }, cursors] of shares) {
    if (!topics.has(partition.topic)) continue
    if (least === undefined || cursors.size < least.size) least = cursors
  }
  return least
}
