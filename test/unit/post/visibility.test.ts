import { describe, expect, test } from 'vitest'
import { NO_TIE } from '../../../services/graph/graph.ts'
import type { AccountId } from '../../../services/kernel/ids.ts'
import {
  isForEverybody,
  judge,
  type Place,
  type SightFacts,
  type SightTie,
  VISIBILITIES,
} from '../../../services/post/visibility.ts'

/**
 * Who sees what: `yes` everywhere, `ask` only when asked for (not in a feed), `no` nowhere. Columns: of
 * an open account PUBLIC, FOLLOWERS, PRIVATE; of a private account the same.
 */
const TABLE = {
  'the author': ['yes', 'yes', 'yes', 'yes', 'yes', 'yes'],
  'a follower': ['yes', 'yes', 'no', 'yes', 'yes', 'no'],
  'a stranger': ['yes', 'no', 'no', 'no', 'no', 'no'],
  'nobody signed in': ['yes', 'no', 'no', 'no', 'no', 'no'],
  'a follower who mutes': ['ask', 'ask', 'no', 'ask', 'ask', 'no'],
  'a stranger who mutes': ['ask', 'no', 'no', 'no', 'no', 'no'],
  'somebody who blocks': ['no', 'no', 'no', 'no', 'no', 'no'],
  'somebody blocked': ['no', 'no', 'no', 'no', 'no', 'no'],
} as const

type Who = keyof typeof TABLE
type Sight = (typeof TABLE)[Who][number]

const AUTHOR = 1n as AccountId
const OTHER = 2n as AccountId

const both = [false, true] as const
const ties: readonly SightTie[] = both.flatMap((follows) =>
  both.flatMap((blocks) =>
    both.flatMap((blockedBy) => both.map((mutes) => ({ follows, blocks, blockedBy, mutes }))),
  ),
)

const kindOf = (viewer: AccountId | undefined, tie: SightTie): Who => {
  if (viewer === AUTHOR) return 'the author'
  if (viewer === undefined) return 'nobody signed in'
  if (tie.blocks) return 'somebody who blocks'
  if (tie.blockedBy) return 'somebody blocked'
  if (tie.mutes) return tie.follows ? 'a follower who mutes' : 'a stranger who mutes'
  return tie.follows ? 'a follower' : 'a stranger'
}

const cases: readonly SightFacts[] = [AUTHOR, OTHER, undefined].flatMap((viewer) =>
  (viewer === OTHER ? ties : [NO_TIE]).flatMap((tie) =>
    both.flatMap((authorIsPrivate) =>
      VISIBILITIES.flatMap((visibility) =>
        both.flatMap((isDeleted) =>
          both.flatMap((isHidden) =>
            (['direct', 'feed'] as const).map((place) => ({
              ...{ viewer, author: AUTHOR, authorIsPrivate, visibility, tie },
              ...{ isDeleted, isHidden, place },
            })),
          ),
        ),
      ),
    ),
  ),
)

const columnOf = ({ authorIsPrivate, visibility }: SightFacts): number =>
  VISIBILITIES.indexOf(visibility) + (authorIsPrivate ? VISIBILITIES.length : 0)

const shows = (sight: Sight, place: Place): boolean =>
  sight === 'yes' || (sight === 'ask' && place === 'direct')

describe('who may see a post', () => {
  test('is decided for every case as the table says', () => {
    expect(cases).toHaveLength((1 + 1 + ties.length) * 2 * 3 * 2 * 2 * 2)
    for (const facts of cases) {
      const sight = TABLE[kindOf(facts.viewer, facts.tie)][columnOf(facts)] ?? 'no'
      const isGone = facts.isDeleted || (facts.isHidden && facts.place === 'feed')
      const expected = !isGone && shows(sight, facts.place)
      expect(judge(facts) === 'visible', JSON.stringify(facts, bigints)).toBe(expected)
    }
  })

  test('is never more for a block, a mute, a hiding, or fewer for a follow', () => {
    for (const facts of cases.filter(({ viewer }) => viewer === OTHER)) {
      const seen = judge(facts) === 'visible'
      const without = (change: Partial<SightTie>) =>
        judge({ ...facts, tie: { ...facts.tie, ...change } }) === 'visible'
      if (!seen) continue
      expect(without({ blocks: false, blockedBy: false, mutes: false })).toBe(true)
      expect(without({ follows: true })).toBe(true)
      expect(judge({ ...facts, isHidden: false })).toBe('visible')
    }
  })

  test.each([
    ['deleted', { isDeleted: true, isHidden: true }],
    ['hidden', { isHidden: true, tie: { ...NO_TIE, mutes: true } }],
    ['blocked', { tie: { ...NO_TIE, follows: true, blockedBy: true, mutes: true } }],
    ['for the author only', { visibility: 'PRIVATE', tie: { ...NO_TIE, follows: true } }],
    ['for followers only', { visibility: 'FOLLOWERS' }],
    ['for followers only', { authorIsPrivate: true }],
    ['muted', { tie: { ...NO_TIE, mutes: true } }],
    ['visible', {}],
  ] as const)('says %s as the reason', (reason, facts) => {
    const plain: SightFacts = {
      ...{ viewer: OTHER, author: AUTHOR, authorIsPrivate: false, visibility: 'PUBLIC' },
      ...{ tie: NO_TIE, isDeleted: false, isHidden: false, place: 'feed' },
    }
    expect(judge({ ...plain, ...facts })).toBe(reason)
  })

  test('may be passed on by others only if it is everybody', () => {
    const open = VISIBILITIES.filter((visibility) =>
      isForEverybody({ visibility, authorIsPrivate: false }),
    )
    expect(open).toEqual(['PUBLIC'])
    expect(isForEverybody({ visibility: 'PUBLIC', authorIsPrivate: true })).toBe(false)
  })
})

const bigints = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value
