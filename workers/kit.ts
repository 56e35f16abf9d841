/**
 * What a worker is: a name, the events or the tick it lives on, and one service method to call.
 *
 * Definitions hold no state; `EventWorker` and `TickWorker` run them. A handler is called at least
 * once for each event, in the order of the event's key, and at the same time for different keys;
 * it must be idempotent. Everything else (retry, parking, dead letters, pauses, metrics, spans) is
 * the kit's and described in event-worker.ts.
 */

import type { Services } from '../services/compose.ts'
import {
  type Event,
  type EventType,
  type Fields,
  isA,
  type Topic,
} from '../services/kernel/events.ts'

export type Role = 'gateway' | 'audit' | 'count' | 'repair'

export interface WorkContext {
  readonly services: Services
  /** Aborts when the time to finish is over: what goes on then is done again by another. */
  readonly signal: AbortSignal
}

export interface Handler {
  readonly type: string
  readonly version: number
  handle(event: Event, context: WorkContext): Promise<void>
}

/** Ties a handler to the event it was written for. */
export const on = <F extends Fields>(
  definition: EventType<F>,
  handle: (event: Event<F>, context: WorkContext) => Promise<void>,
): Handler => ({
  type: definition.type,
  version: definition.version,
  handle: async (event, context) => {
    if (isA(event, definition)) await handle(event, context)
  },
})

export interface EventWorkerDefinition {
  readonly kind: 'events'
  /** Unique; also the name of its group on the log, so it never changes. */
  readonly name: string
  readonly role: Role
  readonly topic: Topic
  readonly handlers: readonly Handler[]
  /** Most events taken from the log at once. */
  readonly batchMax: number
  /** Keys handled at the same time. */
  readonly concurrency: number
}

export interface TickWorkerDefinition {
  readonly kind: 'tick'
  readonly name: string
  readonly role: Role
  readonly everyMs: number
  run(context: WorkContext): Promise<void>
}

export type WorkerDefinition = EventWorkerDefinition | TickWorkerDefinition

type EventWorkerOptions = Omit<EventWorkerDefinition, 'kind' | 'batchMax' | 'concurrency'> &
  Partial<Pick<EventWorkerDefinition, 'batchMax' | 'concurrency'>>

export const defineWorker = (options: EventWorkerOptions): EventWorkerDefinition => ({
  kind: 'events',
  batchMax: 100,
  concurrency: 8,
  ...options,
})

export const defineTick = (options: Omit<TickWorkerDefinition, 'kind'>): TickWorkerDefinition => ({
  kind: 'tick',
  ...options,
})
