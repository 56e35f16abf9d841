/**
 * Relations: every change between two accounts is decided here, and followed up (docs/adr/0018).
 *
 * A decision is one compare-and-set of the row of the two. What follows from it — copies in the lists
 * of both, the event, the readers' graph versions, the counts — is written with the version of the
 * decision, so anyone may write it again, late or twice, and it never overrules a later decision. A
 * task on record beforehand has it done should this process die in between.
 *
 * The first look at a relation is a plain read: it is the compare-and-set that decides. Only where
 * it seems that nothing is to be done, or that it is refused, is the relation read again serially.
 */
import { UnavailableError } from '../kernel/errors.ts'
import { type AccountId, arrivalMs, formatId, type IdGenerator, parseId } from '../kernel/ids.ts'
import type { Values } from '../kernel/settings.ts'
import type { Clock } from '../platform/clock.ts'
import type { Commit } from '../platform/commit.ts'
import { letOthersPass } from '../platform/contention.ts'
import type { PartedLists } from '../platform/parted-lists.ts'
import type { Pending } from '../platform/pending.ts'
import { GET_MANY_MAX, type ReadOptions, type Tables } from '../platform/tables.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import type { FollowCounts } from './follow-counts.ts'
import type { GraphVersions } from './graph-changes.ts'
import { announcementOf, readerChangesOf } from './graph-events.ts'
import {
  copiesOf,
  followersList,
  followingList,
  fromRelationRow,
  leftoversOf,
  relationColumns,
  relations,
  requestsList,
} from './graph-tables.ts'
import {
  type Change,
  type Decision,
  decide,
  endOf,
  type Facet,
  NO_TIE,
  type OpenParts,
  type Refusal,
  type Relation,
  strangers,
  type Tie,
  tieOf,
} from './relation.ts'
import type { graphSettings } from './settings.ts'

export interface RelationsOptions {
  readonly tables: Tables
  readonly commit: Commit
  readonly pending: Pending
  readonly lists: PartedLists
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly telemetry: Telemetry
  readonly settings: Values<typeof graphSettings>
  readonly versions: GraphVersions
  readonly counts: FollowCounts
}

/** Who wants a change towards whom. */
export interface Asked {
  readonly actor: AccountId
  readonly other: AccountId
  readonly change: Change
}

type Changed = Extract<Decision, { outcome: 'changed' }>

const TASK = 'relation'
/** A repeat within this time of the decision writes what follows again: the first may have failed. */
const REPEAT_MS = 120_000
const NO_PARTS: OpenParts = { following: 0, followers: 0, requests: 0 }

export class Relations {
  readonly #options: RelationsOptions
  readonly #changes

  constructor(options: RelationsOptions) {
    this.#options = options
    this.#changes = options.telemetry.counter(
      'tributary_graph_changes_total',
      'Changes of relations that were asked for: made, found as they were, refused, overtaken.',
      ['kind', 'outcome'],
    )
    options.pending.resumes(TASK, (subject) => this.#resume(subject))
  }

  /** Makes the change, or finds it made; says why when it may not be. */
  async change(asked: Asked): Promise<Refusal | undefined> {
    const [seen, parts] = await Promise.all([this.#read(asked), this.#openParts(asked)])
    if (this.#decide(seen, asked, parts).outcome === 'changed') {
      return await this.#settle(seen, asked, parts)
    }
    const relation = await this.#read(asked, { serial: true })
    const decision = this.#decide(relation, asked, parts)
    if (decision.outcome === 'changed') return await this.#settle(relation, asked, parts)
    return await this.#leave(relation, asked, decision)
  }

  /** How the viewer stands to each of the others, in their order; nobody has a tie to themselves. */
  async ties(viewer: AccountId, others: readonly AccountId[]): Promise<Tie[]> {
    const ties: Tie[] = []
    for (let from = 0; from < others.length; from += GET_MANY_MAX) {
      const part = others.slice(from, from + GET_MANY_MAX)
      const rows = await this.#options.tables.getMany(
        relations,
        part.map((other) => keyOf(strangers(viewer, other))),
      )
      ties.push(...rows.map((row) => (row ? tieFrom(fromRelationRow(row), viewer) : NO_TIE)))
    }
    return ties
  }

  /** Decides and follows up; others may be at it too. */
  #settle(seen: Relation, asked: Asked, parts: OpenParts): Promise<Refusal | undefined> {
    const { pending, settings } = this.#options
    return pending.follow({ kind: TASK, subject: subjectOf(seen) }, async () => {
      let relation = seen
      for (let attempt = 1; attempt <= settings.attemptsMax; attempt += 1) {
        const decision = this.#decide(relation, asked, parts)
        if (decision.outcome !== 'changed') return await this.#leave(relation, asked, decision)
        const standing = await this.#swap(relation, decision)
        this.#count(asked, standing ? 'overtaken' : 'made')
        if (!standing) return await this.#followUp(decision.relation, decision.facets)
        relation = standing
        await letOthersPass(attempt)
      }
      throw new UnavailableError('others change how these two stand to each other: try again')
    })
  }

  #decide(relation: Relation, { actor, change }: Asked, parts: OpenParts): Decision {
    const { ids, clock } = this.#options
    const id = ids.next<'event'>()
    // Whatever the clocks say, what is decided after something stands over it.
    const version = id > relation.version ? id : relation.version + 1n
    const eventIds = [id, ids.next<'event'>(), ids.next<'event'>()] as const
    const stamping = { version, at: clock.now(), eventIds, parts }
    return decide(relation, { by: endOf(relation, actor), change }, stamping)
  }

  /** What stands there instead, when somebody was faster. */
  async #swap(before: Relation, { relation, facets }: Changed): Promise<Relation | undefined> {
    const { tables } = this.#options
    const leftovers = facets.flatMap((facet) => leftoversOf(before, relation, facet))
    if (leftovers.length > 0) await tables.write(leftovers)
    const columns = relationColumns(relation)
    const key = keyOf(relation)
    const expected = { version: before.version }
    const outcome =
      before.version === 0n
        ? await tables.insertIfAbsent(relations, { ...key, ...columns })
        : await tables.compareAndSet(relations, key, { expected, next: columns })
    if (outcome.applied) return undefined
    return outcome.current ? fromRelationRow(outcome.current) : strangers(before.low, before.high)
  }

  /** Nothing is to be decided. */
  async #leave(
    relation: Relation,
    asked: Asked,
    decision: Exclude<Decision, Changed>,
  ): Promise<Refusal | undefined> {
    this.#count(asked, decision.outcome)
    if (decision.outcome === 'refused') return decision.refusal
    return await this.#repeat(relation, decision.facets)
  }

  #count({ change }: Asked, outcome: 'made' | 'overtaken' | 'same' | 'refused'): void {
    this.#changes.inc({ kind: change.kind, outcome })
  }

  async #repeat(relation: Relation, facets: readonly Facet[]): Promise<undefined> {
    const youngest = this.#options.clock.now() - REPEAT_MS
    const recent = facets.filter((facet) => {
      const { version } = relation.sides[facet.by][facet.what]
      return version > 0n && arrivalMs(version) > youngest
    })
    if (recent.length > 0) await this.#followUp(relation, recent)
  }

  async #resume(subject: string): Promise<void> {
    const [low = '', high = ''] = subject.split(':')
    const ends = { actor: parseId<'account'>(low), other: parseId<'account'>(high) }
    const relation = await this.#read(ends, { serial: true })
    const decided = ALL_FACETS.filter(({ by, what }) => relation.sides[by][what].version > 0n)
    if (decided.length > 0) await this.#followUp(relation, decided)
  }

  /** Writes what follows from these things as they stand in the relation. */
  async #followUp(relation: Relation, facets: readonly Facet[]): Promise<undefined> {
    const { commit, versions, counts } = this.#options
    await commit.commit(
      facets.flatMap((facet) => copiesOf(relation, facet)),
      facets.map((facet) => announcementOf(relation, facet)),
    )
    const changes = facets.flatMap((facet) => readerChangesOf(relation, facet))
    const follows = facets.filter(({ what }) => what === 'follow')
    await Promise.all([
      ...changes.map(({ reader, change }) => versions.bump(reader, change)),
      ...follows.map(({ by }) => counts.noted(relation, by)),
    ])
  }

  /** Only of the lists that the change can add to. */
  async #openParts({ actor, other, change }: Asked): Promise<OpenParts> {
    const { lists } = this.#options
    if (change.kind === 'follow' && change.needsConsent) {
      return { ...NO_PARTS, requests: await lists.openPart(requestsList, other) }
    }
    if (change.kind !== 'follow' && change.kind !== 'accept') return NO_PARTS
    const [follower, followed] = change.kind === 'follow' ? [actor, other] : [other, actor]
    const [following, followers] = await Promise.all([
      lists.openPart(followingList, follower),
      lists.openPart(followersList, followed),
    ])
    return { ...NO_PARTS, following, followers }
  }

  async #read(
    { actor, other }: Pick<Asked, 'actor' | 'other'>,
    options: ReadOptions = {},
  ): Promise<Relation> {
    const unknown = strangers(actor, other)
    const row = await this.#options.tables.get(relations, keyOf(unknown), options)
    return row ? fromRelationRow(row) : unknown
  }
}

const ALL_FACETS: readonly Facet[] = (['low', 'high'] as const).flatMap((by) =>
  (['follow', 'block', 'mute'] as const).map((what) => ({ by, what })),
)

const keyOf = ({ low, high }: Relation) => ({ low, high })

const subjectOf = ({ low, high }: Relation): string => `${formatId(low)}:${formatId(high)}`

const tieFrom = (relation: Relation, viewer: AccountId): Tie =>
  tieOf(relation, endOf(relation, viewer))
