/** Removes events older than their topic keeps them, in small transactions. */
import type { LogPartition } from './log-partition.ts'
import type { StoredPartitions, TopicRegistry } from './log-topics.ts'
import type { Store } from './store.ts'

export interface Retention {
  readonly store: Store
  readonly topics: TopicRegistry
  /** Events removed in one transaction. */
  readonly purgeMax: number
}

/** Returns how many events were removed. Topics nobody has declared since the start are left. */
export const purge = async (retention: Retention, now: number): Promise<number> => {
  let removed = 0
  for (const topic of retention.topics.all()) {
    if (!topic.declared) continue
    const before = now - topic.declared.retentionMs
    for (const partition of topic.partitions) {
      removed += await purgePartition(retention, topic, { partition, before })
    }
  }
  return removed
}

const purgePartition = async (
  { store, topics, purgeMax }: Retention,
  topic: StoredPartitions,
  { partition, before }: { readonly partition: LogPartition; readonly before: number },
): Promise<number> => {
  const end = partition.offsetAt(before)
  let removed = 0
  while (partition.start < end) {
    const portion = await store.transaction(
      () => {
        // With its last event a partition would lose its place and give offsets twice.
        topics.put(topic)
        return partition.removeBelow(end, purgeMax)
      },
      { writes: purgeMax, bytes: 0, reclaims: true },
    )
    partition.startAt(portion.start)
    removed += portion.removed
  }
  return removed
}
