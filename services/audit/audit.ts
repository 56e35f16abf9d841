/**
 * What operators did: append-only, by month, newest first.
 *
 * An entry is keyed by the id of what caused it, so that writing it again changes nothing.
 */
import type { Clock } from '../platform/clock.ts'
import { auditLog } from '../platform/generated/tables.ts'
import { pages, put, type Tables, type Write } from '../platform/tables.ts'

export interface AuditEntry {
  /** The id of the event or of the act itself. */
  readonly id: bigint
  readonly at: number
  readonly actor: string
  /** `setting.changed`, `dead-letter.replayed`: a noun and what happened to it. */
  readonly action: string
  readonly subject: string
  readonly detail: string
}

export interface AuditQuery {
  readonly limit: number
  readonly matches?: (entry: AuditEntry) => boolean
}

/** How far back `recent` looks, and how many entries it reads at once. */
const MONTHS_BACK = 24
const PAGE_ROWS = 200

export class AuditService {
  readonly #tables: Tables
  readonly #clock: Clock

  constructor({ tables, clock }: { readonly tables: Tables; readonly clock: Clock }) {
    this.#tables = tables
    this.#clock = clock
  }

  async record(entry: AuditEntry): Promise<void> {
    await this.#tables.write([this.entry(entry)])
  }

  /** The entry as a write, for those who keep it in one batch with the act. */
  entry({ id, at, actor, action, subject, detail }: AuditEntry): Write {
    const month = monthOf(at)
    return put(auditLog, { month, id, actor, action, subject, detail, happenedAt: at })
  }

  /** The newest entries that match, newest first. */
  async recent({ limit, matches = () => true }: AuditQuery): Promise<AuditEntry[]> {
    const found: AuditEntry[] = []
    for (const month of monthsBefore(this.#clock.now())) {
      for await (const entry of this.#entriesOf(month)) {
        if (matches(entry)) found.push(entry)
        if (found.length === limit) return found
      }
    }
    return found
  }

  async *#entriesOf(month: string): AsyncGenerator<AuditEntry, void> {
    for await (const rows of pages(this.#tables, auditLog, { month }, { limit: PAGE_ROWS })) {
      for (const { id, happenedAt, actor, action, subject, detail } of rows) {
        yield {
          id,
          at: happenedAt ?? 0,
          actor: actor ?? '',
          action: action ?? '',
          subject: subject ?? '',
          detail: detail ?? '',
        }
      }
    }
  }
}

const monthOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 7)

/** This month and those before it, with the next one: another process's clock may be ahead. */
const monthsBefore = (nowMs: number): string[] => {
  const now = new Date(nowMs)
  return Array.from({ length: MONTHS_BACK + 1 }, (_, back) =>
    monthOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1 - back, 1)),
  )
}
