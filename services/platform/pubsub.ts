/**
 * Messages between processes that are online now: at most once, no memory, no order promised
 * between channels. What must not be lost goes on the log.
 *
 * A subscription outlives a restart of the server behind it. Whenever messages may have been
 * missed (a reconnect), `resync` is called once on every subscription after it is live again; a
 * subscriber that holds derived state reads the truth again then.
 *
 * A handler that throws is counted and never disturbs another. Messages are bounded to
 * `MESSAGE_BYTES_MAX`; the oldest undelivered ones are dropped, with a `resync`, when a subscriber
 * cannot keep up.
 */
import { TooLargeError, UnavailableError } from '../kernel/errors.ts'

export const MESSAGE_BYTES_MAX = 64 * 1024
/** Messages waiting for one subscriber before the oldest are dropped. */
export const MESSAGES_WAITING_MAX = 1024

export interface Subscriber {
  message(text: string): void
  resync(): void
}

export interface PubSub extends AsyncDisposable {
  /** Resolves when the message was handed to the transport; nobody may be listening. */
  publish(channel: string, text: string): Promise<void>
  /** Resolves once live: a message published after that arrives. Dispose it to unsubscribe. */
  subscribe(channel: string, subscriber: Subscriber): Promise<AsyncDisposable>
}

export class PubSubUnavailableError extends UnavailableError {
  override readonly name = 'PubSubUnavailableError'
}

export const checkMessage = (text: string): void => {
  const bytes = Buffer.byteLength(text)
  if (bytes <= MESSAGE_BYTES_MAX) return
  throw new TooLargeError(`a message of ${bytes} bytes is over ${MESSAGE_BYTES_MAX}`)
}
