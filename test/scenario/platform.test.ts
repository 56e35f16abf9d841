import { describe, expect, test } from 'vitest'
import { SettingChanged, topics } from '../../services/kernel/events.ts'
import { partitionOf } from '../../services/platform/log.ts'
import { audit } from '../../workers/audit.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { engines } from '../kit/engines.ts'
import { eventually } from '../kit/eventually.ts'
import { World } from '../kit/world.ts'

const LEVEL = 'telemetry.level'
/** The waits after a first and a second failure. */
const [FIRST_MS, SECOND_MS] = [100, 200]

/** A worker beside the audit that fails while it is told to. */
const moody = () => {
  const handled: string[] = []
  const mood: { bad: boolean } = { bad: true }
  const worker = defineWorker({
    name: 'moody',
    role: 'audit',
    topic: topics.operations,
    handlers: [
      on(SettingChanged, async ({ data }) => {
        if (mood.bad) throw new Error('in a bad mood')
        handled.push(data.value)
      }),
    ],
  })
  return { handled, mood, worker }
}

describe.each(engines)('the platform on %s', (engine) => {
  test('OPS-1: a live setting changes at once and is audited once', async () => {
    await using world = await World.open({ engine })
    const { settings } = world.services
    await settings.set(LEVEL, 'error', 'ada')
    await world.settle()
    expect(world.settings.text(LEVEL)).toBe('error')
    expect(await settings.history(10)).toMatchObject([
      { actor: 'ada', subject: LEVEL, detail: 'silent → error', action: 'setting.changed' },
    ])
  })

  test('a wrong value, an unknown setting and one that is not live change nothing', async () => {
    await using world = await World.open({ engine })
    const { settings } = world.services
    await expect(settings.set(LEVEL, 'loud', 'ada')).rejects.toThrow('must be one of')
    await expect(settings.set('telemetry.lvl', 'warn', 'ada')).rejects.toThrow('telemetry.level?')
    await expect(settings.set('server.port', '1', 'ada')).rejects.toThrow('cannot change')
    await world.settle()
    expect(await settings.history(10)).toEqual([])
  })

  test('PLT-3: what was changed survives a restart', async () => {
    await using world = await World.open({ engine })
    await world.services.settings.set(LEVEL, 'warn', 'ada')
    await world.settle()
    await world.restart()
    expect(world.settings.text(LEVEL)).toBe('warn')
    await world.services.settings.set(LEVEL, 'error', 'bo')
    await world.settle()
    const history = await world.services.settings.history(10)
    expect(history.map(({ actor }) => actor)).toEqual(['bo', 'ada'])
  })

  test('an event that comes again changes nothing', async () => {
    await using world = await World.open({ engine })
    await world.services.settings.set(LEVEL, 'warn', 'ada')
    await world.settle()
    const before = await world.services.settings.history(10)
    const partition = partitionOf(LEVEL, topics.operations.partitions)
    const [{ committed } = { committed: 0n }] = (
      await world.platform.log.lag(audit.name, [topics.operations])
    ).filter((lag) => lag.partition === partition)
    const records = await world.platform.log.read(topics.operations, {
      partition,
      offset: committed - 1n,
      limit: 1,
    })
    await world.platform.log.append(topics.operations, records)
    await world.settle()
    expect(await world.services.settings.history(10)).toEqual(before)
  })

  test('a failing handler parks, then dies, and a replay makes it good', async () => {
    const { handled, mood, worker } = moody()
    await using world = await World.open({ engine, workers: [audit, worker] })
    const { settings, deadLetters } = world.services
    await settings.set(LEVEL, 'warn', 'ada')
    await world.settle()
    await world.pass(FIRST_MS)
    expect(await deadLetters.list({ first: 10 })).toEqual({ items: [] })
    await world.pass(SECOND_MS)
    const [letter] = (await deadLetters.list({ first: 10 })).items
    expect(letter).toMatchObject({
      ...{ group: 'moody', topic: 'operations', attempts: 3, reason: 'Error: in a bad mood' },
      event: { key: LEVEL },
    })
    await settings.set(LEVEL, 'error', 'ada')
    mood.bad = false
    await world.settle()
    await deadLetters.replay(letter?.id ?? 0n, 'ada')
    await world.settle()
    expect(handled).toEqual(['error', 'warn'])
    expect(await deadLetters.list({ first: 10 })).toEqual({ items: [] })
    const audited = await world.services.audit.recent({ limit: 10 })
    expect(audited.map(({ action }) => action)).toEqual([
      'dead-letter.replayed',
      'setting.changed',
      'setting.changed',
    ])
  })

  test('a dropped letter is gone, and who dropped it is known', async () => {
    const { worker } = moody()
    await using world = await World.open({ engine, workers: [worker] })
    const { settings, deadLetters, audit: trail } = world.services
    await settings.set(LEVEL, 'warn', 'ada')
    await world.settle()
    await world.pass(FIRST_MS)
    await world.pass(SECOND_MS)
    const [letter] = (await deadLetters.list({ first: 10 })).items
    await deadLetters.drop(letter?.id ?? 0n, 'bo')
    await expect(deadLetters.show(letter?.id ?? 0n)).rejects.toThrow('there is no dead letter')
    expect(await trail.recent({ limit: 1 })).toMatchObject([
      { actor: 'bo', action: 'dead-letter.dropped' },
    ])
  })

  test('every part of the platform answers its probe', async () => {
    await using world = await World.open({ engine })
    const names = world.platform.probes.map(({ name }) => name)
    expect(names).toEqual(['tables', 'log', 'cache'])
    for (const probe of world.platform.probes) await probe.ask()
  })
})

describe.skipIf(!engines.includes('cluster'))('several processes on cluster', () => {
  test('OPS-1: a setting changed in one process reaches another', async () => {
    await using world = await World.open({ engine: 'cluster' })
    await using other = await world.beside()
    await world.services.settings.set(LEVEL, 'error', 'ada')
    await eventually(() => other.settings.text(LEVEL) === 'error')
    await world.settle()
    expect(await other.services.settings.history(10)).toHaveLength(1)
  })
})
