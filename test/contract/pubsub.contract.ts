/** What every pubsub promises (services/platform/pubsub.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  MESSAGE_BYTES_MAX,
  MESSAGES_WAITING_MAX,
  type PubSub,
  type Subscriber,
} from '../../services/platform/pubsub.ts'
import { holds } from '../kit/holds.ts'

export class Recorder implements Subscriber {
  readonly messages: string[] = []
  resyncs = 0

  message(text: string): void {
    this.messages.push(text)
  }

  resync(): void {
    this.resyncs += 1
  }
}

export const pubsubContract = (
  open: () => Promise<AsyncDisposable & { readonly pubsub: PubSub }>,
): void => {
  let opened: AsyncDisposable & { readonly pubsub: PubSub }
  let pubsub: PubSub
  beforeAll(async () => {
    opened = await open()
    pubsub = opened.pubsub
  })
  afterAll(async () => {
    await opened[Symbol.asyncDispose]()
  })

  test('what is published after a subscription is live arrives, in order', async () => {
    const recorder = new Recorder()
    await using _subscription = await pubsub.subscribe('news', recorder)
    const texts = Array.from({ length: 200 }, (_, at) => `${at} é 🦜`)
    await Promise.all(texts.map((text) => pubsub.publish('news', text)))
    await holds(() => expect(recorder.messages).toEqual(texts))
    expect(recorder.resyncs).toBe(0)
  })

  test('each subscriber of a channel gets it, those of others do not', async () => {
    const [first, second, other] = [new Recorder(), new Recorder(), new Recorder()]
    await using _first = await pubsub.subscribe('shared', first)
    await using _second = await pubsub.subscribe('shared', second)
    await using _other = await pubsub.subscribe('other', other)
    await pubsub.publish('shared', 'for two')
    await pubsub.publish('other', 'for one')
    await holds(() => expect(second.messages).toEqual(['for two']))
    await holds(() => expect(first.messages).toEqual(['for two']))
    await holds(() => expect(other.messages).toEqual(['for one']))
  })

  test('the last to leave a channel ends it, the others go on', async () => {
    const [first, second] = [new Recorder(), new Recorder()]
    const leaving = await pubsub.subscribe('left', first)
    await using _staying = await pubsub.subscribe('left', second)
    await leaving[Symbol.asyncDispose]()
    await pubsub.publish('left', 'after')
    await holds(() => expect(second.messages).toEqual(['after']))
    expect(first.messages).toEqual([])
  })

  test('a channel can be left and joined again at once', async () => {
    const recorder = new Recorder()
    for (let round = 0; round < 20; round += 1) {
      const subscription = await pubsub.subscribe('again', new Recorder())
      const [, next] = await Promise.all([
        subscription[Symbol.asyncDispose](),
        pubsub.subscribe('again', recorder),
      ])
      const before = recorder.messages.length
      await pubsub.publish('again', `${round}`)
      await holds(() => expect(recorder.messages).toHaveLength(before + 1))
      await next[Symbol.asyncDispose]()
    }
  })

  test('a handler that throws disturbs nobody', async () => {
    const recorder = new Recorder()
    const broken: Subscriber = {
      message: () => {
        throw new Error('broken handler')
      },
      resync: () => undefined,
    }
    await using _broken = await pubsub.subscribe('risky', broken)
    await using _recorder = await pubsub.subscribe('risky', recorder)
    await pubsub.publish('risky', 'one')
    await pubsub.publish('risky', 'two')
    await holds(() => expect(recorder.messages).toEqual(['one', 'two']))
  })

  test('publishing to nobody resolves', async () => {
    await expect(pubsub.publish('empty', 'unheard')).resolves.toBeUndefined()
  })

  test('a message has a greatest size', async () => {
    const recorder = new Recorder()
    await using _subscription = await pubsub.subscribe('large', recorder)
    const largest = 'x'.repeat(MESSAGE_BYTES_MAX)
    await pubsub.publish('large', largest)
    await holds(() => expect(recorder.messages).toEqual([largest]))
    await expect(pubsub.publish('large', `${largest}x`)).rejects.toThrow(
      expect.objectContaining({ code: 'TOO_LARGE' }),
    )
  })

  test('a subscriber that cannot keep up loses the oldest and is told', async () => {
    const recorder = new Recorder()
    const slow: Subscriber = {
      message: (text) => {
        // Holds the process up for longer than a burst takes to arrive.
        if (recorder.messages.length === 0)
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
        recorder.message(text)
      },
      resync: () => recorder.resync(),
    }
    await using _subscription = await pubsub.subscribe('burst', slow)
    const total = MESSAGES_WAITING_MAX * 3
    const texts = Array.from({ length: total }, (_, at) => `${at}`)
    const published = Promise.all(texts.map((text) => pubsub.publish('burst', text)))
    await published
    await holds(() => expect(recorder.messages.at(-1)).toBe(`${total - 1}`))
    if (recorder.messages.length < total) {
      await holds(() => expect(recorder.resyncs).toBeGreaterThan(0))
    }
    const order = recorder.messages.map(Number)
    expect(order).toEqual([...order].sort((a, b) => a - b))
  })
}
