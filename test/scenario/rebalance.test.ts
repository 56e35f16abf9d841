/**
 * Partitions that move between two members of a group while a key is parked: its events stay in
 * order and none is lost, whoever has them.
 */
import { describe, expect, test } from 'vitest'
import { encodeEvent, makeEvent, SettingChanged, topics } from '../../services/kernel/events.ts'
import { partitionOf } from '../../services/platform/log.ts'
import { EventWorker } from '../../workers/event-worker.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { workerSettings } from '../../workers/settings.ts'
import { engines } from '../kit/engines.ts'
import { eventually } from '../kit/eventually.ts'
import { World } from '../kit/world.ts'

const { partitions } = topics.operations
/** A key for every partition, so that one of them moves whatever the engine decides. */
const KEYS = Array.from({ length: partitions }, (_, partition) =>
  Array.from({ length: 100 }, (_each, at) => `key-${at}`).find(
    (key) => partitionOf(key, partitions) === partition,
  ),
).filter((key) => key !== undefined)

interface Handled {
  readonly member: string
  readonly key: string
  readonly value: string
}

const GROUP = 'moving'

/** Two members share a list of what they handled and one mood. */
class Members {
  readonly handled: Handled[] = []
  readonly #world: World
  isFailing: boolean = true

  constructor(world: World) {
    this.#world = world
  }

  static readonly definition = defineWorker({
    name: GROUP,
    role: 'audit',
    topic: topics.operations,
    handlers: [],
  })

  async join(member: string): Promise<EventWorker> {
    const { platform, services, settings, clock } = this.#world
    const handler = on(SettingChanged, async ({ data: { name: key, value } }) => {
      if (this.isFailing) throw new Error('not yet')
      this.handled.push({ member, key, value })
    })
    const worker = new EventWorker(
      { ...Members.definition, handlers: [handler] },
      {
        ...{ log: platform.log, telemetry: platform.telemetry, clock, services },
        settings: { ...settings.view(workerSettings), attemptsInPlace: 1, attemptsMax: 1000 },
        random: () => 1,
      },
    )
    await worker.start()
    return worker
  }

  async append(value: string): Promise<void> {
    const { platform, clock } = this.#world
    const at = clock.now()
    const events = KEYS.map((name) => {
      const data = { name, value, actor: 'test', changedAt: at }
      return encodeEvent(makeEvent(SettingChanged, { id: platform.ids.next(), at }, data))
    })
    await platform.log.append(topics.operations, events)
  }

  values(key: string): string[] {
    return this.handled.filter((each) => each.key === key).map(({ value }) => value)
  }
}

describe.each(engines)('a rebalance with parked keys on %s', (engine) => {
  const passed = (world: World) => world.platform.log.settled(GROUP, [topics.operations])

  test('a key parked by one member is worked off by the next owner, in order', async () => {
    await using world = await World.open({ engine, workers: [Members.definition] })
    await world.workers[Symbol.asyncDispose]()
    const members = new Members(world)
    await using first = await members.join('first')
    await members.append('1')
    await members.append('2')
    await passed(world)
    expect(members.handled).toEqual([])

    await using second = await members.join('second')
    await members.append('3')
    await passed(world)
    members.isFailing = false
    await eventually(
      async () => {
        await world.clock.advance(1_000)
        await Promise.all([first.scanParked(), second.scanParked()])
        return members.handled.length >= KEYS.length * 3
      },
      { withinMs: 40_000 },
    )
    await members.append('4')
    await passed(world)
    await first.scanParked()
    await second.scanParked()
    for (const key of KEYS) expect(members.values(key)).toEqual(['1', '2', '3', '4'])
    const workers = new Set(members.handled.map(({ member }) => member))
    expect(workers).toEqual(new Set(['first', 'second']))
  })

  test('the keys of a member that leaves stay parked and go on at the one that stays', async () => {
    await using world = await World.open({ engine, workers: [Members.definition] })
    await world.workers[Symbol.asyncDispose]()
    const members = new Members(world)
    const first = await members.join('first')
    await using second = await members.join('second')
    await members.append('1')
    await passed(world)
    await first[Symbol.asyncDispose]()
    await members.append('2')
    await passed(world)
    members.isFailing = false
    await eventually(
      async () => {
        await world.clock.advance(1_000)
        await second.scanParked()
        return members.handled.length >= KEYS.length * 2
      },
      { withinMs: 40_000 },
    )
    for (const key of KEYS) expect(members.values(key)).toEqual(['1', '2'])
    expect(new Set(members.handled.map(({ member }) => member))).toEqual(new Set(['second']))
  })
})
