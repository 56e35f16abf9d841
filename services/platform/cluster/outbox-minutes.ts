/**
 * Which minutes of a shard may hold events. Whoever reads the outbox reads these and no others, so
 * that after a long rest it costs what lies there, not the time that has passed.
 *
 * Where an event lies, its minute is listed. A writer lists a minute and has that acknowledged before
 * it sends the first event of it; not in the batch of the event, of which a reader may see one row
 * without the other, and whose limits belong to the caller. Two processes that list a minute write
 * the same row. One that dies in between leaves a minute without events, which costs a read.
 *
 * A minute is struck off when it was found empty and is older than `lateMs`. Nothing is written into
 * it after that: a writer never goes back in time, and one that slept through that long in the middle
 * of a commit stores its events again, in a minute that is listed (commit.ts).
 */
import type { Clock } from '../clock.ts'
import { outboxMinutes } from '../generated/tables.ts'
import { BATCH_WRITES_MAX, pages, put, remove, type Tables } from '../tables.ts'

const PAGE_ROWS = 500

/** Oldest first. */
export async function* listedMinutes(
  tables: Tables,
  { shard, from }: { readonly shard: number; readonly from: number },
): AsyncGenerator<number, void> {
  const slice = { limit: PAGE_ROWS, from: { minute: from } }
  for await (const rows of pages(tables, outboxMinutes, { shard }, slice)) {
    for (const { minute } of rows) yield minute
  }
}

export const strikeOff = async (
  tables: Tables,
  { shard, minutes }: { readonly shard: number; readonly minutes: readonly number[] },
): Promise<void> => {
  for (let from = 0; from < minutes.length; from += BATCH_WRITES_MAX) {
    const part = minutes.slice(from, from + BATCH_WRITES_MAX)
    await tables.write(part.map((minute) => remove(outboxMinutes, { shard, minute })))
  }
}

interface Listed {
  readonly minute: number
  readonly written: Promise<void>
}

/** What one process has listed: the last minute of each shard, as its minutes never go back. */
export class MinuteList {
  readonly #tables: Tables
  readonly #clock: Clock
  readonly #last = new Map<number, Listed>()

  constructor({ tables, clock }: { readonly tables: Tables; readonly clock: Clock }) {
    this.#tables = tables
    this.#clock = clock
  }

  /** Resolves when the minute is listed in each of the shards. */
  async list(shards: Iterable<number>, minute: number): Promise<void> {
    await Promise.all([...new Set(shards)].map((shard) => this.#listIn(shard, minute)))
  }

  #listIn(shard: number, minute: number): Promise<void> {
    const last = this.#last.get(shard)
    if (last?.minute === minute) return last.written
    const written = this.#write(shard, minute)
    this.#last.set(shard, { minute, written })
    return written
  }

  /** When it fails, so do all commits that wait for it, and the next one tries again. */
  async #write(shard: number, minute: number): Promise<void> {
    try {
      await this.#tables.write([put(outboxMinutes, { shard, minute, notedAt: this.#clock.now() })])
    } catch (error) {
      this.#last.delete(shard)
      throw error
    }
  }
}
