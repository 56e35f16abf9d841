/**
 * Random changes of tallies, brought by several processes at once, some of them twice, over tables
 * that lose answers; compared with a map. Replay with TRIBUTARY_MODEL_SEED=… .
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OutcomeUnknownError } from '../../services/kernel/errors.ts'
import type { Tables } from '../../services/platform/tables.ts'
import type { Tallies, TallyChange, TallyKind } from '../../services/platform/tallies.ts'
import { freshReader as freshSubject } from '../contract/tables-subject.ts'
import { type EngineName, engines } from '../kit/engines.ts'
import { type OpenedTables, openTables } from '../kit/open-tables.ts'
import { openTallies } from '../kit/open-tallies.ts'
import { seeded } from '../kit/random.ts'
import { losingTables } from '../kit/watched-tables.ts'

const RUNS: Readonly<Record<EngineName, number>> = { embedded: 150, cluster: 12 }
const KINDS: readonly TallyKind[] = ['likes', 'following']
const SUBJECTS = 2
const PROCESSES = 3

interface Call {
  readonly process: number
  readonly subject: number
  readonly kind: TallyKind
  readonly changes: readonly TallyChange[]
}

/** A version of a member is one change: what it contributes follows from both. */
const changes: fc.Arbitrary<TallyChange> = fc
  .record({ member: fc.bigInt(1n, 12n), version: fc.bigInt(1n, 6n) })
  .map(({ member, version }) => ({
    member,
    version,
    contribution: (member * 7n + version) % 3n === 0n ? 0 : 1,
  }))

const calls: fc.Arbitrary<Call> = fc.record({
  process: fc.nat(PROCESSES - 1),
  subject: fc.nat(SUBJECTS - 1),
  kind: fc.constantFrom(...KINDS),
  changes: fc.array(changes, { maxLength: 8 }),
})

/** Rounds: what is in one is called at the same time. */
const histories = fc.record({
  rounds: fc.array(fc.array(calls, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 6 }),
  losses: fc.nat(),
})

/** Tallies as simply as they can be said. */
class TalliesModel {
  readonly #members = new Map<string, TallyChange>()

  apply({ subject, kind, changes: given }: Call): void {
    for (const change of given) {
      const name = `${subject}/${kind}/${change.member}`
      const other = this.#members.get(name)
      if (!other || other.version < change.version) this.#members.set(name, change)
    }
  }

  total(subject: number, kind: TallyKind): number {
    const own = [...this.#members].filter(([name]) => name.startsWith(`${subject}/${kind}/`))
    return own.reduce((sum, [, { contribution }]) => sum + contribution, 0)
  }
}

const untilDone = async (apply: () => Promise<void>): Promise<void> => {
  for (;;) {
    try {
      return await apply()
    } catch (error) {
      if (!(error instanceof OutcomeUnknownError)) throw error
    }
  }
}

const replay = async (
  tables: Tables,
  { rounds, losses }: { readonly rounds: readonly Call[][]; readonly losses: number },
): Promise<void> => {
  const shaky = losingTables(tables, seeded(losses))
  const processes = Array.from({ length: PROCESSES }, () => openTallies(shaky, { joinMax: 5 }))
  const subjects = Array.from({ length: SUBJECTS }, freshSubject)
  const model = new TalliesModel()
  const compare = async (by: Tallies | undefined): Promise<void> => {
    for (const kind of KINDS) {
      const expected = subjects.map((_subject, index) => model.total(index, kind))
      expect(await by?.totals(subjects, kind), kind).toEqual(expected)
    }
  }
  for (const round of rounds) {
    await Promise.all(
      round.map(({ process, subject, kind, changes: given }) =>
        untilDone(async () => processes[process]?.apply(subjects[subject] ?? 0n, kind, given)),
      ),
    )
    for (const call of round) model.apply(call)
    await compare(processes[rounds.length % PROCESSES])
  }
}

const seedGiven = process.env['TRIBUTARY_MODEL_SEED']

for (const engine of engines) {
  describe(`ENG-2: the model of tallies on ${engine}`, () => {
    let opened: OpenedTables
    beforeAll(async () => {
      opened = await openTables[engine]()
    })
    afterAll(() => opened[Symbol.asyncDispose]())

    test('totals are those of the model after every round', { timeout: 280_000 }, async () => {
      const property = fc.asyncProperty(histories, (history) => replay(opened.tables, history))
      await fc.assert(property, {
        numRuns: RUNS[engine],
        ...(seedGiven === undefined ? {} : { seed: Number(seedGiven) }),
      })
    })
  })
}
