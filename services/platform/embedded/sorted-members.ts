/**
 * A sorted set as Redis has it: members by (score, member's bytes), each once. A sorted array beats a
 * tree at the sizes a cap allows.
 */
import type { Scored, SortedSlice } from '../cache.ts'

/** The order of the UTF-8 bytes, which differs from that of UTF-16 units only past U+D800. */
export const compareBytes = (a: string, b: string): number => {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at += 1) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) return rankOf(left) - rankOf(right)
  }
  return a.length - b.length
}

/** Surrogates stand for what lies above every other unit. */
const rankOf = (unit: number): number => {
  if (unit < 0xd800) return unit
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000
}

const compare = (a: Scored, b: Scored): number =>
  a.score === b.score ? compareBytes(a.member, b.member) : a.score - b.score

export class SortedMembers {
  readonly #scores = new Map<string, number>()
  readonly #entries: Scored[] = []

  get size(): number {
    return this.#entries.length
  }

  set(entry: Scored): void {
    const { score, member } = entry
    const previous = this.#scores.get(member)
    if (previous === score) return
    if (previous !== undefined) this.delete(member)
    this.#scores.set(member, score)
    this.#entries.splice(this.#find(entry), 0, { score, member })
  }

  delete(member: string): boolean {
    const score = this.#scores.get(member)
    if (score === undefined) return false
    this.#scores.delete(member)
    this.#entries.splice(this.#find({ score, member }), 1)
    return true
  }

  /** Keeps the highest; gives what was cut off. */
  trim(cap: number): Scored[] {
    const cut = this.#entries.splice(0, Math.max(0, this.#entries.length - cap))
    for (const { member } of cut) this.#scores.delete(member)
    return cut
  }

  slice({ limit, direction = 'falling', after, until }: SortedSlice): Scored[] {
    return direction === 'rising'
      ? this.#rising(limit, after, until ?? Number.POSITIVE_INFINITY)
      : this.#falling(limit, after, until ?? Number.NEGATIVE_INFINITY)
  }

  [Symbol.iterator](): Iterator<Scored> {
    return this.#entries[Symbol.iterator]()
  }

  #rising(limit: number, after: Scored | undefined, until: number): Scored[] {
    let start = after ? this.#find(after) : 0
    const first = this.#entries[start]
    if (after && first && compare(first, after) === 0) start += 1
    return this.#entries.slice(start, start + limit).filter(({ score }) => score <= until)
  }

  #falling(limit: number, after: Scored | undefined, until: number): Scored[] {
    const stop = after ? this.#find(after) : this.#entries.length
    return this.#entries
      .slice(Math.max(0, stop - limit), stop)
      .filter(({ score }) => score >= until)
      .reverse()
  }

  /** The index of the first entry that is not before `entry`. */
  #find(entry: Scored): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const held = this.#entries[middle]
      if (held && compare(held, entry) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
