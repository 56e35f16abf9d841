/**
 * Random histories of appends, consumers that come, fail, crash and go, and seeks, against a list of
 * what was appended. After every history, whatever happened in it: each group has finished every
 * event from the place it was last moved to, was given each key's events in order of their first
 * delivery since then, no partition to two members at once, and nothing that was never appended.
 *
 * MODEL_SEED repeats a history, MODEL_RUNS sets how many there are.
 */
import { describe, expect, test } from 'vitest'
import type { Topic } from '../../services/kernel/events.ts'
import type { Log, LogBatch, LogRecord } from '../../services/platform/log.ts'
import { type EngineName, engines, requireStack } from '../kit/engines.ts'
import { EmbeddedLogs, freshTopic, KafkaLogs } from '../kit/log-engines.ts'
import { event, joinGroup, type Reader } from '../kit/log-readers.ts'
import { type Random, seeded } from '../kit/random.ts'

const RUNS: Record<EngineName, number> = { embedded: 60, cluster: 4 }
const STEPS: Record<EngineName, number> = { embedded: 60, cluster: 25 }
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const GROUPS = ['one', 'two']
const PARTITIONS = 3

/** One group as the model sees it. */
class ModelGroup {
  readonly members = new Set<Reader>()
  /** Values delivered since the last seek, by key, in order of their first delivery. */
  readonly seen = new Map<string, Set<number>>()
  /** What handlers have finished since then. */
  readonly finished = new Map<string, Set<number>>()
  /** How many of each key's events the last seek passed over. */
  readonly skipped = new Map<string, number>()
  readonly #busy = new Set<number>()
  overlaps = 0

  enter(partition: number): void {
    if (this.#busy.has(partition)) this.overlaps += 1
    this.#busy.add(partition)
  }

  leave(partition: number): void {
    this.#busy.delete(partition)
  }

  see({ key, value }: LogRecord): void {
    this.seen.set(key, (this.seen.get(key) ?? new Set()).add(Number(value)))
  }

  finish({ key, value, offset }: LogRecord, batch: LogBatch): void {
    this.finished.set(key, (this.finished.get(key) ?? new Set()).add(Number(value)))
    batch.done(offset)
  }
}

class History {
  readonly #log: Log
  readonly #topic: Topic
  readonly #random: Random
  readonly #appended = new Map(KEYS.map((key) => [key, 0]))
  readonly #groups = new Map(GROUPS.map((name) => [name, new ModelGroup()]))

  constructor(log: Log, topic: Topic, random: Random) {
    this.#log = log
    this.#topic = topic
    this.#random = random
  }

  async step(): Promise<void> {
    const name = this.#random.pick(GROUPS)
    const group = this.#groups.get(name) ?? new ModelGroup()
    const roll = this.#random.below(10)
    if (roll < 5) return this.#append()
    if (roll < 7 && group.members.size < 3) return this.#join(name, group)
    if (roll < 9) return this.#part(group)
    if (group.members.size === 0) await this.#seek(name, group)
  }

  /** Lets everybody finish, and compares. */
  async check(): Promise<void> {
    for (const [name, group] of this.#groups) {
      if (group.members.size === 0) await this.#join(name, group)
      await this.#log.settled(name, [this.#topic])
      for (const member of group.members) await member[Symbol.asyncDispose]()
      expect(group.overlaps).toBe(0)
      for (const [key, count] of this.#appended) {
        const skipped = group.skipped.get(key) ?? 0
        const expected = Array.from({ length: count - skipped }, (_, n) => skipped + n)
        expect({ name, key, seen: [...(group.seen.get(key) ?? [])] }).toEqual({
          name,
          key,
          seen: expected,
        })
        expect(group.finished.get(key) ?? new Set()).toEqual(new Set(expected))
      }
    }
  }

  async #append(): Promise<void> {
    const events = Array.from({ length: 1 + this.#random.below(8) }, () => {
      const key = this.#random.pick(KEYS)
      const value = this.#appended.get(key) ?? 0
      this.#appended.set(key, value + 1)
      return event(key, String(value))
    })
    await this.#log.append(this.#topic, events)
  }

  async #join(name: string, group: ModelGroup): Promise<void> {
    const member = await joinGroup(this.#log, {
      group: name,
      topics: [this.#topic],
      batchMax: 1 + this.#random.below(10),
      partitionsAtOnce: 1 + this.#random.below(3),
      handle: (batch) => this.#handle(group, batch),
    })
    group.members.add(member)
  }

  async #part(group: ModelGroup): Promise<void> {
    const [member] = group.members
    if (!member) return
    group.members.delete(member)
    await member[Symbol.asyncDispose]()
  }

  /** A handler that dawdles, fails in the middle, forgets, or stops when told. */
  async #handle(group: ModelGroup, batch: LogBatch): Promise<void> {
    group.enter(batch.partition)
    try {
      if (this.#random.below(4) === 0) return this.#handleBackwards(group, batch)
      for (const record of batch.records) {
        if (this.#random.below(4) === 0) await new Promise((resolve) => setImmediate(resolve))
        if (batch.signal.aborted) return
        group.see(record)
        const fate = this.#random.below(25)
        if (fate === 0) throw new Error('bad luck')
        if (fate === 1) return
        group.finish(record, batch)
      }
    } finally {
      group.leave(batch.partition)
    }
  }

  /** Sees all in order, then marks some of it done, the last first. */
  #handleBackwards(group: ModelGroup, batch: LogBatch): void {
    for (const record of batch.records) group.see(record)
    for (const record of batch.records.toReversed()) {
      if (this.#random.below(5) === 0) return
      group.finish(record, batch)
    }
  }

  async #seek(name: string, group: ModelGroup): Promise<void> {
    const isStart = this.#random.below(2) === 0
    await this.#log.seek(name, this.#topic, { at: isStart ? 'start' : 'end' })
    group.seen.clear()
    group.finished.clear()
    group.skipped.clear()
    if (isStart) return
    for (const [key, count] of this.#appended) group.skipped.set(key, count)
  }
}

const openLog = async (engine: EngineName) => {
  if (engine === 'cluster') {
    const logs = new KafkaLogs(requireStack().kafka.brokers)
    const topic = await logs.topic(PARTITIONS)
    const log = await logs.open([topic])
    return { topic, log, close: [log, logs] }
  }
  const logs = new EmbeddedLogs()
  const opened = logs.open()
  return { topic: freshTopic(PARTITIONS), log: opened.log, close: [opened, logs] }
}

for (const engine of engines) {
  const runs = Number(process.env['MODEL_RUNS'] ?? RUNS[engine])
  describe(`random histories of the log on ${engine}`, () => {
    test(`${runs} of them agree with the model`, { timeout: 280_000 }, async () => {
      const first = Number(process.env['MODEL_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
      for (let seed = first; seed < first + runs; seed += 1) {
        const { topic, log, close } = await openLog(engine)
        try {
          const history = new History(log, topic, seeded(seed))
          for (let step = 0; step < STEPS[engine]; step += 1) await history.step()
          await history.check()
        } catch (cause) {
          throw new Error(`MODEL_SEED=${seed} MODEL_RUNS=1 repeats this`, { cause })
        } finally {
          for (const each of close) await each[Symbol.asyncDispose]()
        }
      }
    })
  })
}
