/** What operators see of the embedded log, read from memory whenever it is scraped. */
import type { Clock } from '../clock.ts'
import type { Telemetry } from '../telemetry.ts'
import type { Cursor } from './log-claims.ts'
import type { StoredPartitions } from './log-topics.ts'

/** PLT-2: an event that waits for longer than this is stuck. */
const STUCK_MS = 5 * 60_000

export interface LogSight {
  readonly clock: Clock
  topics(): Iterable<StoredPartitions>
  /** Every group's place in the topics it reads. */
  cursors(): Iterable<Cursor>
}

export const observeLog = (telemetry: Telemetry, sight: LogSight): void => {
  const labels = ['group', 'topic'] as const
  telemetry.gauge('tributary_log_depth_events', 'Events stored', {
    labels: ['topic'],
    collect: (gauge) => {
      for (const { name, partitions } of sight.topics()) {
        const depths = partitions.map(({ start, visible }) => visible - start)
        gauge.set({ topic: name }, sum(depths))
      }
    },
  })
  const perGroup = (name: string, help: string, merge: Merge, measure: Measure) =>
    telemetry.gauge(name, help, {
      labels,
      collect: (gauge) => {
        const values = new Map<string, { group: string; topic: string; of: number[] }>()
        for (const cursor of sight.cursors()) {
          const { group, partition } = cursor
          const line = values.get(`${group} ${partition.topic}`) ?? {
            group,
            topic: partition.topic,
            of: [],
          }
          line.of.push(measure(cursor, sight.clock.now()))
          values.set(`${group} ${partition.topic}`, line)
        }
        for (const { group, topic, of } of values.values()) gauge.set({ group, topic }, merge(of))
      },
    })
  perGroup('tributary_log_pending_events', 'Events a group has not committed', sum, pending)
  perGroup(
    'tributary_log_stuck_events',
    'Events a group has not committed in 5 minutes',
    sum,
    stuck,
  )
  perGroup(
    'tributary_log_oldest_pending_seconds',
    'Age of the oldest event a group has not committed',
    (of) => Math.max(0, ...of),
    oldestSeconds,
  )
}

type Merge = (values: readonly number[]) => number
type Measure = (cursor: Cursor, now: number) => number

const sum: Merge = (values) => values.reduce((total, value) => total + value, 0)

const nextOf = ({ committed, partition }: Cursor): number => Math.max(committed, partition.start)

const pending: Measure = (cursor) => Math.max(0, cursor.partition.visible - nextOf(cursor))

const stuck: Measure = (cursor, now) =>
  Math.max(0, cursor.partition.offsetAt(now - STUCK_MS) - nextOf(cursor))

const oldestSeconds: Measure = (cursor, now) => {
  if (pending(cursor, now) === 0) return 0
  const at = cursor.partition.appendedAt(nextOf(cursor))
  return at === undefined ? 0 : Math.max(0, (now - at) / 1_000)
}
