/**
 * The relay: publishes what its writer has not, because it crashed, was cut off from the log or had
 * too much in its queue.
 *
 * Several relays share the shards (shard-turns.ts): each reads its own, in order, and publishes the
 * rows that are older than the grace in which writers publish themselves. In a quiet system it
 * finds nothing, so `tributary_outbox_repairs_total` stays where it is.
 *
 * It reads the minutes of a shard that are listed (outbox-minutes.ts), in two ways. Every turn, the ids
 * of the last two minutes: cheap, however much was committed. Once a minute, and whenever anything
 * went wrong, everything from the low mark on: this finds rows that came to light late, as those of a
 * batch that a crashed server finishes when it is back. The low mark stays `lateMs` behind for them;
 * what lies further back and is empty is struck off the list, then the mark passes it. A relay that
 * dies in between, or whose lease has ended meanwhile, has struck off what nobody needs.
 */
import { DomainError } from '../../kernel/errors.ts'
import type { Topic } from '../../kernel/events.ts'
import { firstIdAt } from '../../kernel/ids.ts'
import { outbox, outboxMarks } from '../generated/tables.ts'
import { pages, put } from '../tables.ts'
import {
  entryOf,
  forEachBounded,
  groupBy,
  MINUTE_MS,
  minuteOf,
  type OutboxEntry,
  oneAppend,
  outboxRemove,
  readLowMinutes,
} from './outbox.ts'
import { listedMinutes, strikeOff } from './outbox-minutes.ts'
import type { OutboxEngines } from './publisher.ts'
import { ShardTurns } from './shard-turns.ts'

const SHARDS_AT_ONCE = 8
const PAGE_ROWS = 500
const RECENT_MS = 2 * MINUTE_MS
const FULL_SCAN_MS = MINUTE_MS

export interface RelayOptions extends OutboxEngines {
  /** Those whose events it may find. */
  readonly topics: readonly Topic[]
}

export class OutboxRelay implements AsyncDisposable {
  readonly #options: RelayOptions
  readonly #topics: ReadonlyMap<string, Topic>
  readonly #turns: ShardTurns
  readonly #repairs
  readonly #closing = new AbortController()
  /** When each shard is to be read in full again. */
  readonly #fullScanAt = new Map<number, number>()
  #running: Promise<void> = Promise.resolve()

  constructor(options: RelayOptions) {
    this.#options = options
    this.#topics = new Map(options.topics.map((topic) => [topic.name, topic]))
    this.#turns = new ShardTurns(options)
    this.#repairs = options.telemetry.counter(
      'tributary_outbox_repairs_total',
      'events the relay published in place of their writer',
    )
  }

  /** Takes turns until it is disposed. */
  start(): void {
    this.#running = this.#run()
  }

  async #run(): Promise<void> {
    const { clock, settings, telemetry } = this.#options
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        await this.turn()
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        telemetry.log.warn({ err: error }, 'the outbox relay could not do its turn')
      }
      await clock.sleep(settings.relayPollMs, signal)
    }
  }

  /** Takes or renews its share of the shards and publishes what has lain in them too long. */
  async turn(): Promise<void> {
    const shards = await this.#turns.take()
    for (const shard of this.#fullScanAt.keys()) {
      if (!shards.includes(shard)) this.#fullScanAt.delete(shard)
    }
    const lows = await readLowMinutes(this.#options.tables)
    await forEachBounded(shards, SHARDS_AT_ONCE, (shard) => this.#relay(shard, lows[shard]))
  }

  /** A shard without a low mark has never been used. */
  async #relay(shard: number, lowMinute: number | undefined): Promise<void> {
    if (lowMinute === undefined) return
    const now = this.#options.clock.now()
    const fullScanAt = this.#fullScanAt.get(shard) ?? 0
    const full = now >= fullScanAt
    const scan = new ShardScan({ shard, settledMs: now - this.#options.settings.relayGraceMs })
    // Anything that goes wrong is found again from the low mark on.
    this.#fullScanAt.delete(shard)
    const fromMs = full ? lowMinute * MINUTE_MS : Math.max(lowMinute * MINUTE_MS, now - RECENT_MS)
    const list = { shard, from: minuteOf(fromMs) }
    for await (const minute of listedMinutes(this.#options.tables, list)) {
      // After a long rest there may be many; a stop does not wait for them.
      if (this.#closing.signal.aborted) return
      await this.#relayMinute(scan, { minute, fromMs: full ? undefined : fromMs })
    }
    if (full) await this.#raiseLowMark(scan, { lowMinute, now })
    if (scan.blocked.size > 0) return
    this.#fullScanAt.set(shard, full ? now + FULL_SCAN_MS : fullScanAt)
  }

  async #relayMinute(
    scan: ShardScan,
    { minute, fromMs }: { readonly minute: number; readonly fromMs: number | undefined },
  ): Promise<void> {
    const { tables } = this.#options
    const slice = {
      limit: PAGE_ROWS,
      ...(fromMs === undefined ? {} : { from: { id: firstIdAt(fromMs) } }),
      until: { id: firstIdAt(scan.settledMs) },
    }
    let isEmpty = true
    for await (const rows of pages(tables, outbox, { shard: scan.shard, minute }, slice)) {
      isEmpty = false
      if (!this.#turns.isMine(scan.shard)) break
      await this.#publish(scan, rows.map(entryOf))
    }
    if (isEmpty) scan.empty.push(minute)
    else scan.firstHeld ??= minute
  }

  /** In order, topic by topic; when one does not take its events, its later ones wait as well. */
  async #publish(scan: ShardScan, entries: readonly OutboxEntry[]): Promise<void> {
    for (const [name, all] of groupBy(entries, ({ topic }) => topic)) {
      for (let rest = all; rest.length > 0 && !scan.blocked.has(name); ) {
        const batch = oneAppend(rest)
        await this.#append(scan, { name, batch })
        rest = rest.slice(batch.length)
      }
    }
  }

  async #append(
    scan: ShardScan,
    { name, batch }: { readonly name: string; readonly batch: readonly OutboxEntry[] },
  ): Promise<void> {
    const { log, tables, telemetry } = this.#options
    const topic = this.#topics.get(name)
    try {
      if (!topic) {
        scan.blocked.add(name)
        telemetry.log.error({ topic: name }, 'the outbox holds events of a topic unknown here')
        return
      }
      await log.append(
        topic,
        batch.map(({ event }) => event),
      )
      await tables.write(batch.map(outboxRemove))
      this.#repairs.inc(batch.length)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      scan.blocked.add(name)
      telemetry.log.warn({ err: error, topic: name }, 'the relay could not publish')
    }
  }

  /** Up to the first minute in which something was found: the next scan sees whether it is gone. */
  async #raiseLowMark(
    { shard, empty, firstHeld = Number.POSITIVE_INFINITY }: ShardScan,
    { lowMinute, now }: { readonly lowMinute: number; readonly now: number },
  ): Promise<void> {
    const { tables, settings } = this.#options
    const settled = minuteOf(now - settings.lateMs)
    if (!this.#turns.isMine(shard)) return
    await strikeOff(tables, { shard, minutes: empty.filter((minute) => minute < settled) })
    const raised = Math.min(settled, firstHeld)
    if (raised > lowMinute) await tables.write([put(outboxMarks, { shard, lowMinute: raised })])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await this.#running
    await this.#turns[Symbol.asyncDispose]()
  }
}

/** One reading of a shard. */
class ShardScan {
  readonly shard: number
  /** Writers have had their time for events up to here. */
  readonly settledMs: number
  /** Topics that did not take an event. */
  readonly blocked = new Set<string>()
  /** Minutes in which nothing was found. */
  readonly empty: number[] = []
  /** The first in which something was. */
  firstHeld: number | undefined

  constructor({ shard, settledMs }: { readonly shard: number; readonly settledMs: number }) {
    this.shard = shard
    this.settledMs = settledMs
  }
}
