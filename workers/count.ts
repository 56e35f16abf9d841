/**
 * Keeps the counts: followers, posts, replies, reshares, likes. Each service knows what its events
 * count; a change counts once by its version, so replays are harmless. Most of them are known already,
 * because the call that made them has counted them: this is what a crash, or a failure there, leaves.
 */
import {
  EngagementChanged,
  FollowChanged,
  PostCreated,
  PostDeleted,
  topics,
} from '../services/kernel/events.ts'
import { defineWorker, on } from './kit.ts'

/** Many at a time: changes of one subject are written together. */
const together = { batchMax: 500, concurrency: 64 }

export const counting = [
  defineWorker({
    ...{ name: 'count-graph', role: 'count', topic: topics.graph, ...together },
    handlers: [on(FollowChanged, ({ data }, { services }) => services.graph.count(data))],
  }),
  defineWorker({
    ...{ name: 'count-posts', role: 'count', topic: topics.posts, ...together },
    handlers: [
      on(PostCreated, ({ data }, { services }) => services.posts.count(data, 'made')),
      on(PostDeleted, ({ data }, { services }) => services.posts.count(data, 'deleted')),
    ],
  }),
  defineWorker({
    ...{ name: 'count-engagement', role: 'count', topic: topics.engagement, ...together },
    handlers: [on(EngagementChanged, ({ data }, { services }) => services.engagement.count(data))],
  }),
]
