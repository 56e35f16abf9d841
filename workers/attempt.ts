/** One try at one event, and what it says: about the event, about an engine, or about this version. */

import { BadInputError } from '../services/kernel/errors.ts'
import {
  decodeEvent,
  type Event,
  type LogEvent,
  UnknownEventError,
} from '../services/kernel/events.ts'
import type { Telemetry } from '../services/platform/telemetry.ts'
import type { EventWorkerDefinition, WorkContext } from './kit.ts'
import type { WorkerMetrics } from './metrics.ts'
import { isOutage } from './retry.ts'
import { Turns } from './turns.ts'

export type Verdict =
  | { readonly kind: 'handled' }
  /** The handler failed: one attempt is used up. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** An engine does not answer: this says nothing about the event. */
  | { readonly kind: 'outage'; readonly error: unknown }
  /** Not in this version's catalogue: a later one may know it. */
  | { readonly kind: 'unknown'; readonly error: unknown }
  /** Not readable, now or ever. */
  | { readonly kind: 'poison'; readonly error: unknown }

export interface AttemptDependencies {
  readonly definition: EventWorkerDefinition
  readonly context: WorkContext
  readonly telemetry: Telemetry
  readonly metrics: WorkerMetrics
}

export class Attempts {
  readonly #own: AttemptDependencies
  readonly #turns: Turns

  constructor(dependencies: AttemptDependencies) {
    this.#own = dependencies
    this.#turns = new Turns(dependencies.definition.concurrency)
  }

  async make(record: LogEvent): Promise<Verdict> {
    const decoded = decode(record)
    if ('verdict' in decoded) return decoded.verdict
    const verdict = await this.#turns.take(() => this.#handle(decoded.event, record))
    if (verdict.kind === 'handled' || verdict.kind === 'failed') {
      this.#own.metrics.count(verdict.kind)
    }
    return verdict
  }

  async #handle(event: Event, { headers }: LogEvent): Promise<Verdict> {
    const { definition, telemetry, metrics } = this.#own
    const parent = headers['traceparent']
    const attributes = {
      'messaging.destination.name': definition.topic.name,
      'messaging.consumer.group.name': definition.name,
      'tributary.event.type': event.type,
    }
    const stop = metrics.timer()
    try {
      await telemetry.span(`${definition.name} ${event.type}`, { attributes, parent }, () =>
        this.#dispatch(event),
      )
      return { kind: 'handled' }
    } catch (error) {
      return { kind: isOutage(error) ? 'outage' : 'failed', error }
    } finally {
      stop()
    }
  }

  async #dispatch(event: Event): Promise<void> {
    const { definition, context } = this.#own
    for (const handler of definition.handlers) {
      const isFor = handler.type === event.type && handler.version === event.version
      if (isFor) await handler.handle(event, context)
    }
  }
}

const decode = (record: LogEvent): { readonly event: Event } | { readonly verdict: Verdict } => {
  try {
    return { event: decodeEvent(record) }
  } catch (error) {
    if (error instanceof UnknownEventError) return { verdict: { kind: 'unknown', error } }
    if (error instanceof BadInputError) return { verdict: { kind: 'poison', error } }
    throw error
  }
}

/** A failure in one line, as a parked event or a dead letter keeps it. */
export const reasonOf = (error: unknown): string => {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return text.slice(0, REASON_CHARACTERS_MAX)
}

const REASON_CHARACTERS_MAX = 1000
