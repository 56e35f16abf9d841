/**
 * Random histories of feeds against a model that knows nothing of packing and trims: a feed holds
 * every pair it was given above its floor and nothing else, and the floor only rises. When and how
 * far a trim cuts is the engine's affair, within the bounds of the contract.
 */
import { describe, expect, test } from 'vitest'
import { comparePairs, LOWEST, newest, newestFirst, type Pair } from '../../services/kernel/pair.ts'
import type { FeedKey, FeedRange, FeedState, Feeds } from '../../services/platform/feeds.ts'
import { cacheEngines, openCaches } from '../kit/caches.ts'
import { Dice, seeds } from '../kit/dice.ts'

const STEPS = 1_200
const OWNERS = 4

class ModelFeed {
  pairs: Pair[] = []
  state: FeedState
  cap = Number.POSITIVE_INFINITY

  constructor(state: FeedState) {
    this.state = state
  }

  add(entries: readonly Pair[]): void {
    const fresh = entries.filter((entry) => !this.#has(entry))
    const unique = fresh.filter(
      (entry, at) => fresh.findIndex((other) => comparePairs(entry, other) === 0) === at,
    )
    this.pairs = [...this.pairs, ...unique]
    this.#settle()
  }

  remove(entries: readonly Pair[]): void {
    this.pairs = this.pairs.filter(
      (held) => !entries.some((entry) => comparePairs(held, entry) === 0),
    )
  }

  raiseFloor(floor: Pair): void {
    this.state = { ...this.state, floor: newest(this.state.floor, floor) }
    this.#settle()
  }

  in({ limit, below, above }: FeedRange): { entries: Pair[]; more: boolean } {
    const range = this.pairs
      .filter((held) => !below || comparePairs(held, below) < 0)
      .filter((held) => !above || comparePairs(held, above) > 0)
    return { entries: range.slice(0, limit), more: range.length > limit }
  }

  #has(entry: Pair): boolean {
    return this.pairs.some((held) => comparePairs(held, entry) === 0)
  }

  #settle(): void {
    this.pairs = this.pairs
      .filter((held) => comparePairs(held, this.state.floor) > 0)
      .sort(newestFirst)
  }
}

class History {
  readonly #feeds: Feeds
  readonly #dice: Dice
  readonly #model = new Map<bigint, ModelFeed>()
  #now = 1_000

  constructor(feeds: Feeds, dice: Dice) {
    this.#feeds = feeds
    this.#dice = dice
  }

  async step(): Promise<void> {
    const actions = [this.#open, this.#push, this.#push, this.#push, this.#add, this.#remove]
    const rare = [this.#complete, this.#cover, this.#drop, this.#open]
    const action = this.#dice.below(8) === 0 ? this.#dice.pick(rare) : this.#dice.pick(actions)
    // Openings empty a feed: too many of them and none grows enough to be trimmed.
    if (action === this.#open && this.#model.size === OWNERS && this.#dice.below(20) > 0) return
    await action.call(this)
    await this.#check()
  }

  #key(): FeedKey {
    return { kind: 'celeb', owner: BigInt(this.#dice.below(OWNERS)) << 40n }
  }

  /** Mostly new, often a little late, sometimes long ago; ids near each other and far apart. */
  #pair(): Pair {
    this.#now += this.#dice.below(2)
    const late = this.#dice.pick([0, 0, 0, 0, 1, 2, 5, 60])
    const high = BigInt(this.#dice.pick([0, 1, 2 ** 31 - 1])) << 32n
    const low = BigInt(this.#dice.pick([0, 9, 10, 2 ** 31, 2 ** 32 - 1]))
    return { ms: Math.max(1, this.#now - this.#dice.below(late + 1)), id: high | low }
  }

  #versions() {
    return { graphVersion: this.#dice.below(100), pulledVersion: this.#dice.below(100) }
  }

  async #open(): Promise<void> {
    const key = this.#key()
    const versions = this.#versions()
    const state = await this.#feeds.open({ key, keepMs: 600_000, ...versions })
    expect(state).toMatchObject({ building: true, floor: LOWEST, ...versions })
    this.#model.set(key.owner, new ModelFeed(state))
  }

  async #push(): Promise<void> {
    const [keys, entry] = [this.#dice.list(3, () => this.#key()), this.#pair()]
    const cap = this.#dice.pick([20, 40, 40, 40])
    const flags = await this.#feeds.push(keys, entry, cap)
    expect(flags).toEqual(keys.map(({ owner }) => this.#model.has(owner)))
    for (const { owner } of keys) this.#added(owner, [entry], cap)
  }

  async #add(): Promise<void> {
    const key = this.#key()
    const entries = this.#dice.list(this.#dice.pick([1, 3, 60]), () => this.#pair())
    const flags = await this.#feeds.add([{ key, entries }], 40)
    expect(flags).toEqual([this.#model.has(key.owner)])
    this.#added(key.owner, entries, 40)
  }

  #added(owner: bigint, entries: readonly Pair[], cap: number): void {
    const model = this.#model.get(owner)
    if (!model) return
    const before = model.pairs.length
    model.add(entries)
    if (model.pairs.length > before) model.cap = cap
  }

  async #remove(): Promise<void> {
    const key = this.#key()
    const model = this.#model.get(key.owner)
    const entries = this.#dice.list(3, () =>
      model && model.pairs.length > 0 ? this.#dice.pick(model.pairs) : this.#pair(),
    )
    expect(await this.#feeds.remove([{ key, entries }])).toEqual([model !== undefined])
    model?.remove(entries)
  }

  async #complete(): Promise<void> {
    const [key, versions] = [this.#key(), this.#versions()]
    const model = this.#model.get(key.owner)
    const entries = this.#dice.list(30, () => this.#pair())
    const floor = this.#dice.pick([LOWEST, this.#pair()])
    const expected = this.#expectation(model)
    const done = await this.#feeds.complete(key, { expected, entries, floor, ...versions })
    expect(done).toBe(model?.state.building === true && model.state === expected)
    if (!(done && model)) return
    model.raiseFloor(floor)
    model.add(entries)
    await this.#adopt(key, model, { building: false, ...versions })
  }

  async #cover(): Promise<void> {
    const [key, versions] = [this.#key(), this.#versions()]
    const model = this.#model.get(key.owner)
    const entries = this.#dice.list(5, () => this.#pair())
    const expected = this.#expectation(model)
    const done = await this.#feeds.cover(key, { expected, entries, ...versions })
    expect(done).toBe(model?.state.building === false && model.state === expected)
    if (!(done && model)) return
    model.add(entries)
    await this.#adopt(key, model, versions)
  }

  /** The state of the model, or one that is stale. */
  #expectation(model: ModelFeed | undefined): FeedState {
    if (model && this.#dice.below(3) > 0) return model.state
    const versions = { graphVersion: 0, pulledVersion: 0 }
    return { building: true, floor: LOWEST, ...versions, revision: '0'.repeat(16), epoch: '' }
  }

  async #adopt(key: FeedKey, model: ModelFeed, change: Partial<FeedState>): Promise<void> {
    const read = await this.#feeds.read(key, { limit: 0 })
    const revision = read.resident ? read.state.revision : ''
    expect(revision).not.toBe(model.state.revision)
    model.state = { ...model.state, ...change, revision }
    model.cap = Number.POSITIVE_INFINITY
  }

  async #drop(): Promise<void> {
    if (this.#dice.below(4) > 0) return
    const key = this.#key()
    await this.#feeds.drop([key])
    this.#model.delete(key.owner)
  }

  async #check(): Promise<void> {
    for (let owner = 0; owner < OWNERS; owner += 1) {
      const key: FeedKey = { kind: 'celeb', owner: BigInt(owner) << 40n }
      const model = this.#model.get(key.owner)
      const whole = await this.#feeds.read(key, { limit: 4096 })
      expect(whole.resident).toBe(model !== undefined)
      if (!(whole.resident && model)) continue
      this.#checkFloor(model, whole.state.floor)
      expect(whole.state).toEqual(model.state)
      expect([...whole.entries]).toEqual(model.pairs)
      const range = this.#range(model)
      const part = await this.#feeds.read(key, range)
      if (!part.resident) throw new Error('the feed went away')
      expect({ entries: [...part.entries], more: part.more }).toEqual(model.in(range))
    }
  }

  /** The engine may have trimmed: never below the cap, and what was cut is all at or below. */
  #checkFloor(model: ModelFeed, floor: Pair): void {
    expect(comparePairs(floor, model.state.floor)).toBeGreaterThanOrEqual(0)
    const before = model.pairs.length
    model.raiseFloor(floor)
    if (model.pairs.length < before) expect(model.pairs.length).toBeGreaterThanOrEqual(model.cap)
    if (model.cap < 100)
      expect(model.pairs.length).toBeLessThanOrEqual(Math.ceil(model.cap * 1.125) + 1)
  }

  #range(model: ModelFeed): FeedRange {
    const edge = () =>
      this.#dice.pick([this.#pair(), model.pairs.at(0) ?? LOWEST, model.pairs.at(5) ?? LOWEST])
    return {
      limit: this.#dice.below(12),
      ...(this.#dice.below(2) ? { below: edge() } : {}),
      ...(this.#dice.below(2) ? { above: edge() } : {}),
    }
  }
}

for (const engine of cacheEngines) {
  describe(`feeds on ${engine} follow the model`, () => {
    for (const seed of seeds(2)) {
      test(`in ${STEPS} random steps of seed ${seed}`, async () => {
        await using opened = await openCaches(engine)
        const history = new History(opened.feeds, new Dice(seed))
        for (let at = 0; at < STEPS; at += 1) await history.step()
      })
    }
  })
}
