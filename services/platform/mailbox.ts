/**
 * What waits for one subscriber: bounded, delivered in order and in turns, so that neither a burst
 * of messages nor a slow handler holds up the event loop for long. When it overflows the oldest
 * messages go, and the subscriber is told to resync after those that are left.
 */
import { MESSAGES_WAITING_MAX, type Subscriber } from './pubsub.ts'

const MESSAGES_PER_TURN = 128

export interface MailboxEvents {
  /** A handler threw; nobody else is disturbed. */
  failed(error: unknown): void
  dropped(): void
}

export class Mailbox {
  readonly #subscriber: Subscriber
  readonly #events: MailboxEvents
  #waiting: string[] = []
  #resyncDue: boolean = false
  #turn: NodeJS.Immediate | undefined
  #closed: boolean = false

  constructor(subscriber: Subscriber, events: MailboxEvents) {
    this.#subscriber = subscriber
    this.#events = events
  }

  put(text: string): void {
    if (this.#waiting.length >= MESSAGES_WAITING_MAX) {
      this.#waiting.shift()
      this.#resyncDue = true
      this.#events.dropped()
    }
    this.#waiting.push(text)
    this.#schedule()
  }

  /** Messages may have been missed. */
  resync(): void {
    this.#resyncDue = true
    this.#schedule()
  }

  close(): void {
    this.#closed = true
    this.#waiting = []
    clearImmediate(this.#turn)
  }

  #schedule(): void {
    if (this.#closed) return
    this.#turn ??= setImmediate(() => this.#deliver())
  }

  #deliver(): void {
    this.#turn = undefined
    for (const text of this.#waiting.splice(0, MESSAGES_PER_TURN)) {
      if (this.#closed) return
      this.#attempt(() => this.#subscriber.message(text))
    }
    if (this.#waiting.length > 0) this.#schedule()
    else if (this.#resyncDue) {
      this.#resyncDue = false
      this.#attempt(() => this.#subscriber.resync())
    }
  }

  #attempt(deliver: () => void): void {
    try {
      deliver()
    } catch (error) {
      this.#events.failed(error)
    }
  }
}

/** Counts what the contract says is counted. */
export const mailboxMetrics = (telemetry: {
  counter(name: string, help: string): { inc(): void }
  readonly log: { warn(details: object, message: string): void }
}): MailboxEvents => {
  const failures = telemetry.counter(
    'tributary_pubsub_handler_failures_total',
    'handlers of messages that threw',
  )
  const dropped = telemetry.counter(
    'tributary_pubsub_dropped_total',
    'messages dropped because a subscriber could not keep up',
  )
  return {
    failed: (error) => {
      failures.inc()
      telemetry.log.warn({ err: error }, 'a handler of a message failed')
    },
    dropped: () => dropped.inc(),
  }
}
