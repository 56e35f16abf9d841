/** Messages within this process. Nothing can be missed but by a subscriber that cannot keep up. */
import { Mailbox, mailboxMetrics } from '../mailbox.ts'
import { checkMessage, type PubSub, type Subscriber } from '../pubsub.ts'
import type { Telemetry } from '../telemetry.ts'

export class EmbeddedPubSub implements PubSub {
  readonly #channels = new Map<string, Set<Mailbox>>()
  readonly #events

  constructor(telemetry: Telemetry) {
    this.#events = mailboxMetrics(telemetry)
  }

  async publish(channel: string, text: string): Promise<void> {
    checkMessage(text)
    for (const mailbox of this.#channels.get(channel) ?? []) mailbox.put(text)
  }

  async subscribe(channel: string, subscriber: Subscriber): Promise<AsyncDisposable> {
    const mailbox = new Mailbox(subscriber, this.#events)
    const mailboxes = this.#channels.get(channel) ?? new Set()
    this.#channels.set(channel, mailboxes.add(mailbox))
    return {
      [Symbol.asyncDispose]: async () => {
        mailbox.close()
        mailboxes.delete(mailbox)
        if (mailboxes.size === 0 && this.#channels.get(channel) === mailboxes) {
          this.#channels.delete(channel)
        }
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const mailboxes of this.#channels.values()) {
      for (const mailbox of mailboxes) mailbox.close()
    }
    this.#channels.clear()
  }
}
