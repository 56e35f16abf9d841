/**
 * What two accounts have decided about each other, and how a change of it is decided (GRA-1 to 3).
 *
 * Pure. A change is nothing but the states it wants; deciding it is to see whether it may have them,
 * and to stamp those that are not so already. So the same change again changes nothing, whatever
 * happened in between, and a change that touches one thing leaves the stamps of the others alone.
 *
 * Every thing decided keeps the version and the event of its own last change, and where its rows lie
 * in the lists, even when it is over: what follows from it can be written again from this alone.
 */
import type { AccountId, EventId } from '../kernel/ids.ts'

export type FollowState = 'none' | 'requested' | 'following'

/** A change that was made: of two writes of one thing the one with the higher version stands. */
export interface Stamp {
  readonly version: bigint
  readonly eventId: EventId
}

/** Where a request lies in the list of who is asked. */
export interface RequestPlace {
  readonly at: number
  readonly part: number
}

/** Where a follow lies in the two lists it is in. */
export interface FollowPlace {
  readonly at: number
  /** Of what the follower follows. */
  readonly followingPart: number
  /** Of the followers of who is followed. */
  readonly followersPart: number
}

export interface Follow extends Stamp {
  readonly state: FollowState
  /** Also of what is over, until the next one. */
  readonly requested?: RequestPlace | undefined
  readonly followed?: FollowPlace | undefined
}

export interface Mark extends Stamp {
  readonly isOn: boolean
}

/** What one of the two has decided about the other. */
export interface Side {
  readonly follow: Follow
  readonly block: Mark
  readonly mute: Mark
}

export type End = 'low' | 'high'

export interface Relation {
  /** The two ids, the smaller one first. */
  readonly low: AccountId
  readonly high: AccountId
  /** 0 before anything was decided. */
  readonly version: bigint
  readonly sides: Readonly<Record<End, Side>>
}

export type Change =
  /** Needs the consent of who is followed: a request. */
  | { readonly kind: 'follow'; readonly needsConsent: boolean }
  | {
      readonly kind:
        | 'unfollow'
        | 'accept'
        | 'refuse'
        | 'removeFollower'
        | 'block'
        | 'unblock'
        | 'mute'
        | 'unmute'
    }

export type Refusal =
  /** Who is followed blocks who asks, and is not there for them. */
  | 'hidden'
  /** Who asks blocks whom they would follow. */
  | 'blocking'
  /** There is nothing to accept. */
  | 'no request'
  /** What should be refused was accepted already. */
  | 'accepted'

/** One thing decided: by whom, and what. */
export interface Facet {
  readonly by: End
  readonly what: keyof Side
}

/** What a change that is made is stamped with. */
export interface Stamping {
  readonly version: bigint
  readonly at: number
  /** One for each thing that a change can touch. */
  readonly eventIds: readonly [EventId, EventId, EventId]
  /** The parts that take new entries. */
  readonly parts: OpenParts
}

export interface OpenParts {
  readonly following: number
  readonly followers: number
  readonly requests: number
}

export type Decision =
  | {
      readonly outcome: 'changed'
      readonly relation: Relation
      readonly facets: readonly Facet[]
    }
  /** Everything is as it was wanted to be. */
  | { readonly outcome: 'same'; readonly facets: readonly Facet[] }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }

/** How one account stands to another, seen from its own side. */
export interface Tie {
  readonly follows: boolean
  readonly requested: boolean
  readonly blocks: boolean
  readonly mutes: boolean
  readonly followedBy: boolean
  readonly blockedBy: boolean
}

export const NO_TIE: Tie = {
  follows: false,
  requested: false,
  blocks: false,
  mutes: false,
  followedBy: false,
  blockedBy: false,
}

const NEVER: Stamp = { version: 0n, eventId: 0n as EventId }

const STRANGER: Side = {
  follow: { ...NEVER, state: 'none' },
  block: { ...NEVER, isOn: false },
  mute: { ...NEVER, isOn: false },
}

export const strangers = (one: AccountId, other: AccountId): Relation => ({
  low: one < other ? one : other,
  high: one < other ? other : one,
  version: 0n,
  sides: { low: STRANGER, high: STRANGER },
})

export const endOf = ({ low }: Pick<Relation, 'low'>, account: AccountId): End =>
  account === low ? 'low' : 'high'

export const otherEnd = (end: End): End => (end === 'low' ? 'high' : 'low')

export const tieOf = ({ sides }: Relation, end: End): Tie => {
  const mine = sides[end]
  const theirs = sides[otherEnd(end)]
  return {
    follows: mine.follow.state === 'following',
    requested: mine.follow.state === 'requested',
    blocks: mine.block.isOn,
    mutes: mine.mute.isOn,
    followedBy: theirs.follow.state === 'following',
    blockedBy: theirs.block.isOn,
  }
}

/** The states a change wants: on the side of who asks, and on the other. */
interface Wanted {
  readonly mine?: WantedSide
  readonly theirs?: WantedSide
}
interface WantedSide {
  readonly follow?: FollowState
  readonly block?: boolean
  readonly mute?: boolean
}

const wantedBy = (change: Change, mine: Side, theirs: Side): Wanted | Refusal => {
  switch (change.kind) {
    case 'follow':
      if (theirs.block.isOn) return 'hidden'
      if (mine.block.isOn) return 'blocking'
      // Who follows already goes on, also when the account has become private since.
      if (!change.needsConsent || mine.follow.state === 'following') {
        return { mine: { follow: 'following' } }
      }
      return { mine: { follow: 'requested' } }
    case 'unfollow':
      return { mine: { follow: 'none' } }
    case 'accept':
      return theirs.follow.state === 'none' ? 'no request' : { theirs: { follow: 'following' } }
    case 'refuse':
      return theirs.follow.state === 'following' ? 'accepted' : { theirs: { follow: 'none' } }
    case 'removeFollower':
      return { theirs: { follow: 'none' } }
    case 'block':
      return { mine: { block: true, follow: 'none' }, theirs: { follow: 'none' } }
    case 'unblock':
      return { mine: { block: false } }
    case 'mute':
      return { mine: { mute: true } }
    case 'unmute':
      return { mine: { mute: false } }
  }
}

/** What becomes of a relation when the account at `by` wants a change. */
export const decide = (
  relation: Relation,
  { by, change }: { readonly by: End; readonly change: Change },
  stamping: Stamping,
): Decision => {
  const { sides } = relation
  const wanted = wantedBy(change, sides[by], sides[otherEnd(by)])
  if (typeof wanted === 'string') return { outcome: 'refused', refusal: wanted }
  const touched = [...facetsOf(by, wanted.mine), ...facetsOf(otherEnd(by), wanted.theirs)]
  const changed = touched.filter(({ isWanted }) => !isWanted(sides))
  if (changed.length === 0) return { outcome: 'same', facets: touched }
  let next = sides
  for (const [index, { apply }] of changed.entries()) {
    const eventId = stamping.eventIds[index] ?? stamping.eventIds[0]
    next = apply(next, { ...stamping, eventId })
  }
  const { version } = stamping
  return { outcome: 'changed', relation: { ...relation, version, sides: next }, facets: changed }
}

type Sides = Relation['sides']
type FacetStamping = Stamp & Pick<Stamping, 'at' | 'parts'>

interface WantedFacet extends Facet {
  isWanted(sides: Sides): boolean
  apply(sides: Sides, stamping: FacetStamping): Sides
}

const facetsOf = (by: End, { follow, block, mute }: WantedSide = {}): WantedFacet[] => [
  ...(block === undefined ? [] : [markFacet({ by, what: 'block' }, block)]),
  ...(mute === undefined ? [] : [markFacet({ by, what: 'mute' }, mute)]),
  ...(follow === undefined ? [] : [followFacet(by, follow)]),
]

const markFacet = (facet: { by: End; what: 'block' | 'mute' }, isOn: boolean): WantedFacet => ({
  ...facet,
  isWanted: (sides) => sides[facet.by][facet.what].isOn === isOn,
  apply: (sides, { version, eventId }) => ({
    ...sides,
    [facet.by]: { ...sides[facet.by], [facet.what]: { isOn, version, eventId } },
  }),
})

const followFacet = (by: End, state: FollowState): WantedFacet => ({
  by,
  what: 'follow',
  isWanted: (sides) => sides[by].follow.state === state,
  apply: (sides, stamping) => ({
    ...sides,
    [by]: { ...sides[by], follow: nextFollow(sides[by].follow, state, stamping) },
  }),
})

const nextFollow = (
  current: Follow,
  state: FollowState,
  { version, eventId, at, parts }: FacetStamping,
): Follow => {
  const next = { ...current, state, version, eventId }
  if (state === 'requested') return { ...next, requested: { at, part: parts.requests } }
  if (state === 'none') return next
  const { following: followingPart, followers: followersPart } = parts
  return { ...next, followed: { at, followingPart, followersPart } }
}
