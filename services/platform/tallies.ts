/**
 * Tallies: counts that are exact (the followers of an account, the likes of a post), whatever is
 * delivered twice, late or out of order.
 *
 * A tally is a set, not a number that goes up: each member contributes 0 or 1, by the change with its
 * highest version, and the total is the sum. So a change can be applied again, and an old one after
 * a new one, without effect; a version stands for one change of its member. When `apply` resolves
 * its changes count in every total read from then on; when it rejects, some may count, and the
 * caller applies them again.
 *
 * The members of a subject are spread over a fixed number of shards per kind, each one partition with
 * a header that keeps the total of the shard. The header and the members a step changes are written
 * by one `compareAndWrite` on the revision of the header: racing processes lose no change and count
 * none twice. Within a process the changes that come while a shard is being written wait and go
 * together, so a hot subject costs steps, not likes (docs/adr/0014).
 *
 * A member that contributes no more stays as a row of 0 with its version. Totals cost one point read a
 * shard; put a cache before them.
 */
import { BadInputError, DamagedError, OverloadedError } from '../kernel/errors.ts'
import type { Values } from '../kernel/settings.ts'
import { type TalliesRow, tallies } from './generated/tables.ts'
import type { tallySettings } from './settings.ts'
import { GET_MANY_MAX, type Tables } from './tables.ts'
import { HEADER, type TallyChange, TallyShard } from './tally-shard.ts'
import type { Telemetry } from './telemetry.ts'

export type { TallyChange } from './tally-shard.ts'

/** Shards of each kind, by how hot a subject can be. Never changed: members would be counted anew. */
export const TALLY_SHARDS = {
  followers: 16,
  following: 1,
  posts: 4,
  likes: 8,
  replies: 4,
  reshares: 4,
} as const

export type TallyKind = keyof typeof TALLY_SHARDS

export interface TalliesOptions {
  readonly tables: Tables
  readonly telemetry: Telemetry
  readonly settings: Values<typeof tallySettings>
}

export class Tallies implements AsyncDisposable {
  readonly #options: TalliesOptions
  /** Those with changes under way. */
  readonly #shards = new Map<string, TallyShard>()
  readonly #seconds
  readonly #meters
  #queued = 0

  constructor(options: TalliesOptions) {
    this.#options = options
    const { telemetry } = options
    this.#seconds = telemetry.duration(
      'tributary_tallies_apply_seconds',
      'From the call of an apply to its acknowledgement.',
      ['kind'],
    )
    this.#meters = {
      changes: telemetry.counter(
        'tributary_tallies_changes_total',
        'Changes applied: counted, or known already.',
        ['kind', 'outcome'],
      ),
      steps: telemetry.counter(
        'tributary_tallies_steps_total',
        'Writes of a shard: changes counted over written is how many go together.',
        ['kind', 'outcome'],
      ),
    }
    telemetry.gauge('tributary_tallies_queued', 'Changes that wait for their shard.', {
      collect: (gauge) => gauge.set(this.#queued),
    })
  }

  async apply(subject: bigint, kind: TallyKind, changes: readonly TallyChange[]): Promise<void> {
    for (const change of changes) checkChange(change)
    this.#admit(changes.length)
    const stop = this.#seconds.startTimer({ kind })
    try {
      // All are waited for, so that a rejected apply has nothing under way.
      const outcomes = await Promise.allSettled(
        [...byShard(kind, changes)].map(([shard, part]) =>
          this.#shard({ subject, kind, shard }).add(part),
        ),
      )
      const failure = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failure) throw failure.reason
    } finally {
      this.#queued -= changes.length
      stop()
    }
  }

  /** The totals in the order of the subjects. */
  async totals(subjects: readonly bigint[], kind: TallyKind): Promise<number[]> {
    const keys = [...new Set(subjects)].flatMap((subject) =>
      shardsOf(kind).map((shard) => ({ subject, kind, shard, member: HEADER })),
    )
    const totals = new Map<bigint, number>()
    for (let start = 0; start < keys.length; start += GET_MANY_MAX) {
      const part = keys.slice(start, start + GET_MANY_MAX)
      const headers = await this.#options.tables.getMany(tallies, part)
      for (const header of headers) {
        if (header) totals.set(header.subject, (totals.get(header.subject) ?? 0) + totalOf(header))
      }
    }
    return subjects.map((subject) => totals.get(subject) ?? 0)
  }

  /** Waits for what is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#shards.values()].map((shard) => shard.idle()))
  }

  #admit(count: number): void {
    // Whatever its size, one call may wait: a bound must not refuse it for ever.
    if (this.#queued > 0 && this.#queued + count > this.#options.settings.queuedMax) {
      throw new OverloadedError(`${this.#queued} changes of tallies wait: try again later`)
    }
    this.#queued += count
  }

  #shard(place: { subject: bigint; kind: TallyKind; shard: number }): TallyShard {
    const name = `${place.subject}/${place.kind}/${place.shard}`
    const known = this.#shards.get(name)
    if (known) return known
    const made = new TallyShard(place, {
      ...this.#options,
      ...this.#meters,
      emptied: () => this.#shards.delete(name),
    })
    this.#shards.set(name, made)
    return made
  }
}

const checkChange = ({ member, contribution, version }: TallyChange): void => {
  if (member < 1n) throw new BadInputError('a member of a tally is above 0', { field: 'member' })
  if (version < 1n) throw new BadInputError('a version is above 0', { field: 'version' })
  if (contribution === 0 || contribution === 1) return
  throw new BadInputError('a member contributes 0 or 1', { field: 'contribution' })
}

const shardsOf = (kind: TallyKind): readonly number[] =>
  Array.from({ length: TALLY_SHARDS[kind] }, (_none, shard) => shard)

/** 2^64 over the golden ratio: the high bits of the product depend on every bit of the member. */
const SPREAD = 0x9e3779b97f4a7c15n

const shardOf = (kind: TallyKind, member: bigint): number =>
  Number(BigInt.asUintN(64, member * SPREAD) >> 40n) % TALLY_SHARDS[kind]

const byShard = (
  kind: TallyKind,
  changes: readonly TallyChange[],
): ReadonlyMap<number, TallyChange[]> => {
  const shards = new Map<number, TallyChange[]>()
  for (const change of changes) {
    const shard = shardOf(kind, change.member)
    const part = shards.get(shard)
    if (part) part.push(change)
    else shards.set(shard, [change])
  }
  return shards
}

const totalOf = ({ subject, kind, shard, total }: TalliesRow): number => {
  if (total === null) throw new DamagedError(`the tally ${subject}/${kind}/${shard} has no total`)
  return Number(total)
}
