/** Whom a thing decided is told to: the log, and the readers whose graph it changes. */
import {
  BlockChanged,
  type Event,
  FollowChanged,
  MuteChanged,
  makeEvent,
} from '../kernel/events.ts'
import { type AccountId, arrivalMs } from '../kernel/ids.ts'
import type { GraphChange } from './graph-changes.ts'
import { type Facet, otherEnd, type Relation } from './relation.ts'

/** The event of the last change: the same one whoever announces it, and however often. */
export const announcementOf = (relation: Relation, { by, what }: Facet): Event => {
  const { follow, block, mute } = relation.sides[by]
  const [actorId, otherId] = [relation[by], relation[otherEnd(by)]]
  const { eventId, version } = relation.sides[by][what]
  const envelope = { id: eventId, at: arrivalMs(eventId) }
  switch (what) {
    case 'follow': {
      const ends = { followerId: actorId, followedId: otherId }
      return makeEvent(FollowChanged, envelope, { ...ends, state: follow.state, version })
    }
    case 'block': {
      const { isOn } = block
      return makeEvent(BlockChanged, envelope, { actorId, blockedId: otherId, isOn, version })
    }
    case 'mute': {
      const { isOn } = mute
      return makeEvent(MuteChanged, envelope, { actorId, mutedId: otherId, isOn, version })
    }
  }
}

/** A change of a reader's graph. */
export interface ReaderChange {
  readonly reader: AccountId
  readonly change: GraphChange
}

/** Whose feeds are others from now on. A block is felt on both ends; a mere request on none. */
export const readerChangesOf = (relation: Relation, { by, what }: Facet): ReaderChange[] => {
  const side = relation.sides[by]
  const [actor, other] = [relation[by], relation[otherEnd(by)]]
  if (what === 'follow' && !side.follow.followed) return []
  const { version } = side[what]
  const own = { reader: actor, change: { authorId: other, what, version } }
  if (what !== 'block') return [own]
  return [own, { reader: other, change: { authorId: actor, what, version } }]
}
