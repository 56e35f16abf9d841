import { describe, expect, test } from 'vitest'
import {
  type Change,
  type Decision,
  decide,
  type FollowState,
  type Refusal,
  type Relation,
  type Side,
  type Stamping,
  strangers,
  tieOf,
} from '../../../services/graph/relation.ts'
import type { AccountId, EventId } from '../../../services/kernel/ids.ts'

const [ADA, BO] = [1n as AccountId, 2n as AccountId]
const EVENTS = [101n, 102n, 103n].map((id) => id as EventId)

const stampingAt = (version: bigint): Stamping => ({
  version,
  at: Number(version) * 1000,
  eventIds: [EVENTS[0] ?? no(), EVENTS[1] ?? no(), EVENTS[2] ?? no()],
  parts: { following: 3, followers: 4, requests: 5 },
})
const no = (): never => {
  throw new Error('there are three')
}

/** What one side has decided, as a word for each thing: `following+blocks+mutes`. */
type Word = string

const sideOf = (word: Word): Side => {
  const stamp = { version: 7n, eventId: 70n as EventId }
  const words = new Set(word.split('+'))
  const states = ['requested', 'following'] as const
  const state: FollowState = states.find((each) => words.has(each)) ?? 'none'
  return {
    follow: {
      ...{ ...stamp, state },
      requested: state === 'requested' ? { at: 1, part: 1 } : undefined,
      followed: state === 'following' ? { at: 2, followingPart: 2, followersPart: 2 } : undefined,
    },
    block: { ...stamp, isOn: words.has('blocks') },
    mute: { ...stamp, isOn: words.has('mutes') },
  }
}
const wordOf = ({ follow, block, mute }: Side): Word => {
  const words = [follow.state, block.isOn ? 'blocks' : '', mute.isOn ? 'mutes' : '']
  const said = words.filter((word) => word !== '' && word !== 'none')
  return said.length > 0 ? said.join('+') : '-'
}
const relationOf = (mine: Word, theirs: Word): Relation => ({
  ...strangers(ADA, BO),
  version: 7n,
  sides: { low: sideOf(mine), high: sideOf(theirs) },
})
const asked = (kind: Change['kind'] | 'ask'): Change => {
  if (kind === 'ask') return { kind: 'follow', needsConsent: true }
  return kind === 'follow' ? { kind, needsConsent: false } : { kind }
}
const decided = (relation: Relation, kind: Change['kind'] | 'ask', version = 9n): Decision =>
  decide(relation, { by: 'low', change: asked(kind) }, stampingAt(version))

type Row = readonly [
  change: Change['kind'] | 'ask',
  mine: Word,
  theirs: Word,
  becomes: readonly [mine: Word, theirs: Word] | 'same' | Refusal,
]

/** `ask` is the follow of a private account. */
const TABLE: readonly Row[] = [
  ['follow', '-', '-', ['following', '-']],
  ['follow', 'requested', '-', ['following', '-']],
  ['follow', 'following', '-', 'same'],
  ['follow', 'mutes', 'following', ['following+mutes', 'following']],
  ['follow', '-', 'blocks', 'hidden'],
  ['follow', 'blocks', '-', 'blocking'],
  ['follow', 'blocks', 'blocks', 'hidden'],
  ['ask', '-', '-', ['requested', '-']],
  ['ask', 'requested', '-', 'same'],
  ['ask', 'following', '-', 'same'],
  ['ask', '-', 'blocks', 'hidden'],
  ['ask', 'blocks', '-', 'blocking'],
  ['unfollow', '-', '-', 'same'],
  ['unfollow', 'requested', '-', ['-', '-']],
  ['unfollow', 'following+mutes', 'following', ['mutes', 'following']],
  ['accept', '-', '-', 'no request'],
  ['accept', '-', 'requested', ['-', 'following']],
  ['accept', '-', 'following', 'same'],
  ['accept', 'blocks', '-', 'no request'],
  ['refuse', '-', '-', 'same'],
  ['refuse', '-', 'requested', ['-', '-']],
  ['refuse', '-', 'following', 'accepted'],
  ['removeFollower', 'following', 'following', ['following', '-']],
  ['removeFollower', '-', 'requested', ['-', '-']],
  ['removeFollower', '-', '-', 'same'],
  ['block', '-', '-', ['blocks', '-']],
  ['block', 'following', 'requested', ['blocks', '-']],
  ['block', 'requested+mutes', 'following+mutes', ['blocks+mutes', 'mutes']],
  ['block', '-', 'blocks', ['blocks', 'blocks']],
  ['block', 'blocks', '-', 'same'],
  ['unblock', 'blocks', 'blocks', ['-', 'blocks']],
  ['unblock', '-', 'blocks', 'same'],
  ['mute', 'following', 'mutes', ['following+mutes', 'mutes']],
  ['mute', 'mutes', '-', 'same'],
  ['unmute', 'mutes', 'mutes', ['-', 'mutes']],
  ['unmute', '-', '-', 'same'],
]

describe('GRA-1, 2, 3: a change of a relation', () => {
  test.each(TABLE)('%s where they are %s and %s: %s', (change, mine, theirs, becomes) => {
    const decision = decided(relationOf(mine, theirs), change)
    if (decision.outcome === 'changed') {
      const { low, high } = decision.relation.sides
      expect([wordOf(low), wordOf(high)]).toEqual(becomes)
    } else {
      expect(decision.outcome === 'refused' ? decision.refusal : 'same').toEqual(becomes)
    }
  })

  const FOLLOWS = ['-', 'requested', 'following']
  const MARKS = ['', '+blocks', '+mutes', '+blocks+mutes']
  const words = FOLLOWS.flatMap((follow) => MARKS.map((mark) => `${follow}${mark}`))
  const kinds = [...new Set(TABLE.map(([kind]) => kind))]
  const everyCase = words.flatMap((mine) =>
    words.flatMap((theirs) => kinds.map((kind) => ({ mine, theirs, kind }))),
  )

  test('made again changes nothing, from any state', () => {
    expect(everyCase.length).toBeGreaterThan(1_000)
    for (const { mine, theirs, kind } of everyCase) {
      const first = decided(relationOf(mine, theirs), kind)
      if (first.outcome !== 'changed') continue
      const second = decided(first.relation, kind, 11n)
      expect(second.outcome, `${kind} at ${mine}, ${theirs}`).toBe('same')
    }
  })

  test('stamps what it changes and leaves the stamps of all else alone', () => {
    for (const { mine, theirs, kind } of everyCase) {
      const before = relationOf(mine, theirs)
      const decision = decided(before, kind)
      if (decision.outcome !== 'changed') continue
      expect(decision.relation.version).toBe(9n)
      const events = new Set<bigint>()
      for (const by of ['low', 'high'] as const) {
        for (const what of ['follow', 'block', 'mute'] as const) {
          const isChanged = decision.facets.some((each) => each.by === by && each.what === what)
          const after = decision.relation.sides[by][what]
          if (!isChanged) expect(after).toBe(before.sides[by][what])
          else expect(after.version).toBe(9n)
          if (isChanged) events.add(after.eventId)
        }
      }
      expect(events.size).toBe(decision.facets.length)
    }
  })

  test('after a block nobody follows or asks, whatever was before', () => {
    for (const mine of words) {
      for (const theirs of words) {
        const decision = decided(relationOf(mine, theirs), 'block')
        if (decision.outcome === 'refused') expect.unreachable('a block is never refused')
        if (decision.outcome === 'same') continue
        const tie = tieOf(decision.relation, 'low')
        expect(tie).toMatchObject({ blocks: true, follows: false, followedBy: false })
      }
    }
  })

  test('keeps where its rows lie, also when it is over', () => {
    const asking = decided(strangers(ADA, BO), 'ask', 1n)
    if (asking.outcome !== 'changed') expect.unreachable('they are strangers')
    const { low } = asking.relation.sides
    expect(low.follow).toMatchObject({ state: 'requested', requested: { at: 1000, part: 5 } })
    const following = decided(asking.relation, 'follow', 2n)
    if (following.outcome !== 'changed') expect.unreachable('they only asked')
    const ended = decided(following.relation, 'unfollow', 3n)
    if (ended.outcome !== 'changed') expect.unreachable('they follow')
    expect(ended.relation.sides.low.follow).toMatchObject({
      state: 'none',
      requested: { at: 1000, part: 5 },
      followed: { at: 2000, followingPart: 3, followersPart: 4 },
    })
  })

  test('is seen from either side', () => {
    const relation = relationOf('following+mutes', 'requested')
    expect(tieOf(relation, 'low')).toEqual({
      ...{ follows: true, requested: false, mutes: true, blocks: false },
      ...{ followedBy: false, blockedBy: false },
    })
    expect(tieOf(relation, 'high')).toEqual({
      ...{ follows: false, requested: true, mutes: false, blocks: false },
      ...{ followedBy: true, blockedBy: false },
    })
  })
})
