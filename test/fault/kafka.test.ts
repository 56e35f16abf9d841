/** The log while its broker is killed or frozen and comes back. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OutcomeUnknownError } from '../../services/kernel/errors.ts'
import type { Topic } from '../../services/kernel/events.ts'
import { type Assignment, type Log, LogUnavailableError } from '../../services/platform/log.ts'
import { stack } from '../kit/engines.ts'
import { eventually } from '../kit/eventually.ts'
import { KafkaLogs } from '../kit/log-engines.ts'
import { event, joinGroup, type Reader, series } from '../kit/log-readers.ts'
import { PrivateKafka } from '../kit/private-kafka.ts'

const PORT_OFFSET = 4_300
/** Three sessions without a fetch, counted from the next. */
const SILENT_MS = 4 * 6_000
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f']

const isFailure = (error: unknown): boolean =>
  error instanceof OutcomeUnknownError || error instanceof LogUnavailableError

/** Appends 0, 1, 2 … to a key until told to stop, each again and again until it is acknowledged. */
class Writer {
  acknowledged = 0
  failures = 0
  readonly #stopping = new AbortController()
  readonly #work: Promise<void>

  constructor(log: Log, topic: Topic, key: string) {
    this.#work = this.#run(log, topic, key)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#work
  }

  async #run(log: Log, topic: Topic, key: string): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await log.append(topic, series(key, 5, this.acknowledged))
        this.acknowledged += 5
      } catch (error) {
        if (!isFailure(error)) throw error
        this.failures += 1
      }
    }
  }
}

/** The values of a key as they came first: repetitions are allowed, gaps and swaps are not. */
const firsts = (reader: Reader, key: string): number[] => [
  ...new Set(reader.values(key).map(Number)),
]

// The engines' absence is reported by the stack's own check; a private broker needs the same jars.
describe.skipIf(!stack)('log on a broker that is killed or frozen', () => {
  let kafka: PrivateKafka
  beforeAll(async () => {
    kafka = await PrivateKafka.open(PORT_OFFSET)
  })
  afterAll(() => kafka[Symbol.asyncDispose]())

  test('PLT-5: no acknowledged event is missing, keys keep their order, consumers go on by themselves', async () => {
    const logs = new KafkaLogs(kafka.brokers)
    const topic = await logs.topic(4)
    await using log = await logs.open([topic])
    await using reader = await joinGroup(log, { group: 'g', topics: [topic] })
    const writers = KEYS.map((key) => new Writer(log, topic, key))
    const total = () => writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0)
    for (let round = 1; round <= 2; round += 1) {
      const before = total()
      await eventually(() => total() > before + 500, { withinMs: 60_000 })
      await kafka.kill()
      await kafka.start()
    }
    const after = total()
    await eventually(() => total() > after + 500, { withinMs: 60_000 })
    await Promise.all(writers.map((writer) => writer.stop()))
    await log.settled('g', [topic])
    KEYS.forEach((key, index) => {
      const expected = Array.from({ length: writers[index]?.acknowledged ?? 0 }, (_, n) => n)
      expect(firsts(reader, key).slice(0, expected.length)).toEqual(expected)
    })
  })

  test('appends during an outage reject within their bound, and work again after it', async () => {
    const logs = new KafkaLogs(kafka.brokers, { appendTimeoutMs: 3_000 })
    const topic = await logs.topic(2)
    await using log = await logs.open([topic])
    await log.append(topic, [event('a', 'before')])
    await kafka.kill()
    const started = performance.now()
    const appends = Array.from({ length: 20 }, (_, n) => log.append(topic, [event('a', `${n}`)]))
    const outcomes = await Promise.allSettled(appends)
    expect(performance.now() - started).toBeLessThan(3_000 + 1_500)
    for (const outcome of outcomes) {
      expect(outcome.status === 'rejected' && isFailure(outcome.reason)).toBe(true)
    }
    const again = performance.now()
    await expect(log.append(topic, [event('a', 'again')])).rejects.toSatisfy(isFailure)
    expect(performance.now() - again).toBeLessThan(3_000 + 1_500)
    await kafka.start()
    await eventually(
      async () => {
        await log.append(topic, [event('a', 'after')])
        return true
      },
      { withinMs: 60_000 },
    )
    const values = (await log.read(topic, { partition: 0, offset: 0n, limit: 1_000 })).map(
      ({ value }) => value,
    )
    expect(values[0]).toBe('before')
    expect(values).toContain('after')
    // What was given up on did not come after what was acknowledged later.
    expect(values.slice(values.indexOf('after')).every((value) => value === 'after')).toBe(true)
  })

  test('a consumer whose broker falls silent gives its partitions up and goes on when it can', async () => {
    // Requests may wait for longer than the member is patient, so the member has to find out.
    const logs = new KafkaLogs(kafka.brokers, { appendTimeoutMs: 120_000 })
    const topic = await logs.topic(2)
    await using log = await logs.open([topic])
    const given: Assignment[] = []
    await using reader = await joinGroup(log, {
      group: 'g',
      topics: [topic],
      assigned: async (assignments) => void given.push(...assignments),
    })
    await log.append(topic, [event('a', 'before')])
    await eventually(() => reader.values('a').includes('before'), { withinMs: 20_000 })
    const [held] = given
    const gone = { withinMs: SILENT_MS + logs.settings.sessionTimeoutMs }
    kafka.freeze()
    try {
      await eventually(() => held?.signal.aborted, gone)
    } finally {
      kafka.thaw()
    }
    await log.append(topic, [event('a', 'after')])
    await eventually(() => reader.values('a').includes('after'), { withinMs: 60_000 })
    expect(given.at(-1)?.signal.aborted).toBe(false)
  }, 150_000)

  test('a log is not opened on brokers that do not answer, and says so in bounded time', async () => {
    const logs = new KafkaLogs(['127.0.0.1:1'])
    const started = performance.now()
    await expect(logs.open([{ name: 't', partitions: 1, retentionMs: 1 }])).rejects.toBeInstanceOf(
      LogUnavailableError,
    )
    expect(performance.now() - started).toBeLessThan(15_000)
  })
})
