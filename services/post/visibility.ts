/**
 * Who may see a post. The one place in the code that decides it: whatever reads posts for somebody
 * gathers these facts and asks here, at the moment of reading.
 *
 * What the author says (deleted, visibility, a private account) and what stands between two people (a
 * block, either way) holds everywhere. What a viewer says for their own comfort (mute, hide) holds in
 * feeds, where posts come unasked; asked for directly, such a post is shown.
 *
 * A reshare without words is nothing but its original: it is visible where both are.
 */
import type { Tie } from '../graph/graph.ts'
import type { AccountId } from '../kernel/ids.ts'

export const VISIBILITIES = ['PUBLIC', 'FOLLOWERS', 'PRIVATE'] as const
export type Visibility = (typeof VISIBILITIES)[number]

/** What matters of what stands between a viewer and an author, from the viewer's side. */
export type SightTie = Pick<Tie, 'follows' | 'blocks' | 'blockedBy' | 'mutes'>

/** `direct`: somebody asked for the post or a list it is in; `feed`: it comes by itself. */
export type Place = 'direct' | 'feed'

export interface SightFacts {
  /** Nobody, when not signed in. */
  readonly viewer: AccountId | undefined
  readonly author: AccountId
  readonly authorIsPrivate: boolean
  readonly visibility: Visibility
  readonly tie: SightTie
  readonly isDeleted: boolean
  /** Whether the viewer has hidden it. */
  readonly isHidden: boolean
  readonly place: Place
}

export type Judgement =
  | 'visible'
  | 'deleted'
  | 'blocked'
  | 'for the author only'
  | 'for followers only'
  | 'muted'
  | 'hidden'

export const judge = (facts: SightFacts): Judgement => {
  const { tie, visibility } = facts
  const inFeed = facts.place === 'feed'
  if (facts.isDeleted) return 'deleted'
  if (inFeed && facts.isHidden) return 'hidden'
  if (facts.viewer === facts.author) return 'visible'
  if (tie.blocks || tie.blockedBy) return 'blocked'
  if (visibility === 'PRIVATE') return 'for the author only'
  const forFollowers = visibility === 'FOLLOWERS' || facts.authorIsPrivate
  if (forFollowers && !tie.follows) return 'for followers only'
  return inFeed && tie.mutes ? 'muted' : 'visible'
}

/** Whether somebody else may reshare it: only what everybody may see anyway. */
export const isForEverybody = ({
  visibility,
  authorIsPrivate,
}: Pick<SightFacts, 'visibility' | 'authorIsPrivate'>): boolean =>
  visibility === 'PUBLIC' && !authorIsPrivate
