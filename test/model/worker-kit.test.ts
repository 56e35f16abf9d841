/**
 * Random histories of a worker: two members, partitions that move in the middle of a batch, handlers
 * that fail for a while or for ever, outages, poison, replays. Whatever happens: nothing is lost,
 * the events of a key first succeed in their order, and only what deserves it dies.
 */
import { expect, test } from 'vitest'
import { UnavailableError } from '../../services/kernel/errors.ts'
import { topics } from '../../services/kernel/events.ts'
import { partitionOf } from '../../services/platform/log.ts'
import { type Random, seeded } from '../kit/random.ts'
import { quickSettings, WorkerBench } from '../kit/worker-bench.ts'

const HISTORIES = 40
const STEPS = 80
const KEYS = ['ada', 'bo', 'cy', 'di', 'eve']
const { partitions } = topics.operations

class History implements AsyncDisposable {
  readonly #bench: WorkerBench
  readonly #random: Random
  /** How often each event still fails before it succeeds. */
  readonly #failuresLeft = new Map<string, number>()
  readonly #doomed = new Set<string>()
  readonly #appended: { readonly key: string; readonly subject: string }[] = []
  readonly #succeeded: string[] = []
  #poison = 0
  #isDown: boolean = false

  constructor(bench: WorkerBench, random: Random) {
    this.#bench = bench
    this.#random = random
  }

  async play(): Promise<void> {
    for (let member = 0; member < 2; member += 1) {
      await this.#bench.member((subject) => this.#handle(subject))
    }
    for (let partition = 0; partition < partitions; partition += 1) await this.#move(partition)
    for (let step = 0; step < STEPS; step += 1) await this.#step()
    this.#isDown = false
    await this.#bench.until(() => this.#isQuiet(), 20)
  }

  async check(): Promise<void> {
    const { items: letters } = await this.#bench.deadLetters.list({ first: 1000 })
    const dead = letters.flatMap(({ event }) => subjectOf(event.value))
    expect(new Set(dead)).toEqual(this.#doomed)
    // A hand-over between the letter and the commit leaves a letter twice, never nowhere.
    expect(letters.length - dead.length).toBeGreaterThanOrEqual(this.#poison)
    for (const key of KEYS) {
      const wanted = this.#appended
        .filter((event) => event.key === key && !this.#doomed.has(event.subject))
        .map(({ subject }) => subject)
      const mine = new Set(wanted)
      const first = [...new Set(this.#succeeded.filter((subject) => mine.has(subject)))]
      expect(first).toEqual(wanted)
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#bench[Symbol.asyncDispose]()
  }

  async #step(): Promise<void> {
    const dice = this.#random.below(100)
    const partition = this.#random.below(partitions)
    if (dice < 35) await this.#append()
    else if (dice < 65) this.#bench.log.deliver(partition)
    else if (dice < 75) await this.#move(partition)
    else if (dice < 78) this.#isDown = !this.#isDown
    else if (dice < 80) await this.#replay()
    else await this.#bench.clock.advance(this.#random.below(60))
    for (let turn = this.#random.below(4); turn > 0; turn -= 1) await aTurn()
  }

  async #append(): Promise<void> {
    const key = this.#random.pick(KEYS)
    if (this.#random.below(20) === 0) {
      this.#poison += 1
      return await this.#bench.appendRaw(key, '{')
    }
    const subject = `${key}-${this.#appended.length}`
    this.#appended.push({ key, subject })
    const failures = this.#random.pick([0, 0, 0, 1, 2, quickSettings.attemptsMax - 1, Infinity])
    this.#failuresLeft.set(subject, failures)
    if (failures === Infinity) this.#doomed.add(subject)
    await this.#bench.append(key, subject)
  }

  async #handle(subject: string): Promise<void> {
    for (let turn = this.#random.below(3); turn > 0; turn -= 1) await aTurn()
    if (this.#isDown) throw new UnavailableError('the engine is away')
    const left = this.#failuresLeft.get(subject) ?? 0
    this.#failuresLeft.set(subject, left - 1)
    if (left > 0) throw new Error('not yet')
    this.#succeeded.push(subject)
  }

  async #move(partition: number): Promise<void> {
    await this.#bench.log.give(partition, this.#random.pick(this.#bench.log.members))
  }

  /** A person replays what died: it dies again, having disturbed nobody. */
  async #replay(): Promise<void> {
    const { items: letters } = await this.#bench.deadLetters.list({ first: 10 })
    const letter = letters.find(({ event }) => subjectOf(event.value).length > 0)
    if (letter) await this.#bench.deadLetters.replay(letter.id, 'ada')
  }

  async #isQuiet(): Promise<boolean> {
    for (let partition = 0; partition < partitions; partition += 1) {
      this.#bench.log.deliver(partition)
    }
    if (this.#bench.log.backlog > 0) return false
    for (let partition = 0; partition < partitions; partition += 1) {
      const lane = { group: 'bench', topic: topics.operations.name, partition }
      for await (const _head of this.#bench.deadLetters.parking.heads(lane)) return false
    }
    return true
  }
}

const aTurn = () => new Promise((resolve) => setImmediate(resolve))

const subjectOf = (value: string): string[] => /"value":"([^"]+)"/.exec(value)?.slice(1) ?? []

const firstSeed = Number(process.env['TRIBUTARY_CRASH_SEED'] ?? Date.now() % 1_000_000)

test('keys stay in order and nothing is lost, whoever owns them and whatever fails', {
  timeout: 240_000,
}, async () => {
  for (let seed = firstSeed; seed < firstSeed + HISTORIES; seed += 1) {
    await using history = new History(await WorkerBench.open(), seeded(seed))
    try {
      await history.play()
      await history.check()
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      })
    }
  }
})

test('the histories reach several partitions', () => {
  const reached = new Set(KEYS.map((key) => partitionOf(key, partitions)))
  expect(reached.size).toBeGreaterThanOrEqual(3)
})
