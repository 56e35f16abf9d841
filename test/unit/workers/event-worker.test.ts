import { describe, expect, test } from 'vitest'
import { UnavailableError } from '../../../services/kernel/errors.ts'
import { topics } from '../../../services/kernel/events.ts'
import { partitionOf } from '../../../services/platform/log.ts'
import { gate } from '../../kit/gate.ts'
import { type Handle, WorkerBench } from '../../kit/worker-bench.ts'

const KEY = 'telemetry.level'
const PARTITION = partitionOf(KEY, topics.operations.partitions)
const lane = { group: 'bench', topic: topics.operations.name, partition: PARTITION }

/** A handler that notes what it handled and fails as told. */
const scripted = () => {
  const handled: string[] = []
  const failing = new Set<string>()
  const attempts = new Map<string, number>()
  const handle: Handle = async (subject) => {
    attempts.set(subject, (attempts.get(subject) ?? 0) + 1)
    if (failing.has(subject)) throw new Error(`${subject} fails`)
    handled.push(subject)
  }
  return { handled, failing, attempts, handle }
}

const letters = async (bench: WorkerBench) => (await bench.deadLetters.list({ first: 10 })).items

describe('EventWorker', () => {
  test('events of a key are handled in order and committed', async () => {
    await using bench = await WorkerBench.open()
    const { handled, handle } = scripted()
    await bench.log.give(PARTITION, await bench.member(handle))
    for (const subject of ['1', '2', '3']) await bench.append(KEY, subject)
    bench.log.deliver(PARTITION)
    await bench.until(() => bench.log.backlog === 0)
    expect(handled).toEqual(['1', '2', '3'])
  })

  test('a failing event parks its key, later events follow it, other keys go on', async () => {
    await using bench = await WorkerBench.open()
    const { handled, failing, attempts, handle } = scripted()
    const other = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].find(
      (key) => partitionOf(key, topics.operations.partitions) === PARTITION,
    )
    failing.add('1')
    await bench.log.give(PARTITION, await bench.member(handle, { attemptsMax: 1000 }))
    await bench.append(KEY, '1')
    await bench.append(KEY, '2')
    await bench.append(other ?? KEY, 'other')
    bench.log.deliver(PARTITION)
    await bench.until(() => bench.log.backlog === 0)
    expect(handled).toEqual(['other'])
    expect(attempts.get('1')).toBeGreaterThanOrEqual(2)
    expect((await bench.deadLetters.parking.next(lane, KEY))?.reason).toContain('1 fails')
    failing.clear()
    await bench.until(() => handled.length === 3)
    expect(handled).toEqual(['other', '1', '2'])
    await bench.append(KEY, '3')
    bench.log.deliver(PARTITION)
    await bench.until(() => bench.log.backlog === 0)
    expect(handled.at(-1)).toBe('3')
    expect(await bench.deadLetters.parking.next(lane, KEY)).toBeUndefined()
  })

  test('after all attempts an event is a dead letter and its key goes on', async () => {
    await using bench = await WorkerBench.open()
    const { handled, failing, attempts, handle } = scripted()
    failing.add('1')
    await bench.log.give(PARTITION, await bench.member(handle))
    await bench.append(KEY, '1')
    await bench.append(KEY, '2')
    bench.log.deliver(PARTITION)
    await bench.until(() => handled.length === 1)
    expect(handled).toEqual(['2'])
    expect(attempts.get('1')).toBe(4)
    const [letter] = await letters(bench)
    expect(letter).toMatchObject({
      ...{ group: 'bench', topic: 'operations', partition: PARTITION, offset: 0n, attempts: 4 },
      reason: 'Error: 1 fails',
    })
  })

  test('a replayed letter is handled by its group, before later events of its key', async () => {
    await using bench = await WorkerBench.open()
    const { handled, failing, handle } = scripted()
    failing.add('1')
    await bench.log.give(PARTITION, await bench.member(handle))
    await bench.append(KEY, '1')
    bench.log.deliver(PARTITION)
    await bench.until(async () => (await letters(bench)).length === 1)
    const [letter] = await letters(bench)
    failing.clear()
    await bench.deadLetters.replay(letter?.id ?? 0n, 'ada')
    await bench.until(() => handled.length === 1)
    expect(handled).toEqual(['1'])
    expect(await letters(bench)).toEqual([])
  })

  test('a letter that dies again keeps the offset it came from', async () => {
    await using bench = await WorkerBench.open()
    const { failing, handle } = scripted()
    failing.add('1')
    await bench.append(KEY, '0')
    await bench.append(KEY, '1')
    await bench.log.give(PARTITION, await bench.member(handle))
    bench.log.deliver(PARTITION)
    await bench.until(async () => (await letters(bench)).length === 1)
    const [first] = await letters(bench)
    await bench.deadLetters.replay(first?.id ?? 0n, 'ada')
    await bench.until(async () => (await letters(bench)).length === 1)
    const [second] = await letters(bench)
    expect(second).toMatchObject({ offset: 1n, event: first?.event })
    expect(second?.id).not.toBe(first?.id)
  })

  test('what cannot be read is a dead letter at once', async () => {
    await using bench = await WorkerBench.open()
    const { handled, handle } = scripted()
    await bench.log.give(PARTITION, await bench.member(handle))
    await bench.appendRaw(KEY, 'not json')
    await bench.append(KEY, '1')
    bench.log.deliver(PARTITION)
    await bench.until(() => bench.log.backlog === 0)
    expect(handled).toEqual(['1'])
    expect(await letters(bench)).toMatchObject([{ attempts: 1, event: { value: 'not json' } }])
  })

  test('what this version does not know stays parked and is never given up', async () => {
    await using bench = await WorkerBench.open()
    const { handled, handle } = scripted()
    await bench.log.give(PARTITION, await bench.member(handle))
    const future = { type: 'setting.changed', v: 99, id: '4611686018427387904', at: 0, data: {} }
    await bench.appendRaw(KEY, JSON.stringify(future))
    await bench.append(KEY, '1')
    bench.log.deliver(PARTITION)
    await bench.until(() => bench.log.backlog === 0)
    await bench.clock.advance(10_000)
    await bench.workers[0]?.scanParked()
    expect(handled).toEqual([])
    expect(await letters(bench)).toEqual([])
    expect(await bench.deadLetters.parking.next(lane, KEY)).toMatchObject({
      attempts: 0,
      reason: expect.stringContaining('version 99'),
    })
  })

  test('an outage pauses the worker, costs no attempt and parks nothing', async () => {
    await using bench = await WorkerBench.open()
    let isUp: boolean = false
    let tries = 0
    const member = await bench.member(async () => {
      tries += 1
      if (!isUp) throw new UnavailableError('away')
    })
    await bench.log.give(PARTITION, member)
    await bench.append(KEY, '1')
    bench.log.deliver(PARTITION)
    let pauses = 0
    await bench.until(() => {
      pauses += member.paused ? 1 : 0
      return tries > 10
    }, 1)
    expect(pauses).toBeGreaterThan(100)
    isUp = true
    await bench.until(() => bench.log.backlog === 0)
    expect(member.paused).toBe(false)
    expect(await letters(bench)).toEqual([])
    expect(await bench.deadLetters.parking.next(lane, KEY)).toBeUndefined()
  })

  test('a member that lost its partition parks nothing behind the new owner', async () => {
    await using bench = await WorkerBench.open()
    const handled: string[] = []
    let fail: ((error: Error) => void) | undefined
    const begun = () =>
      new Promise<void>((_, reject) => {
        fail = reject
      })
    const first = await bench.member(() => begun(), { attemptsInPlace: 1 })
    const second = await bench.member(async (subject) => void handled.push(subject))
    await bench.log.give(PARTITION, first)
    await bench.append(KEY, '1')
    bench.log.deliver(PARTITION)
    await bench.until(() => fail !== undefined)
    await bench.log.give(PARTITION, second)
    fail?.(new Error('too late'))
    await bench.log.idle()
    expect(await bench.deadLetters.parking.next(lane, KEY)).toBeUndefined()
    bench.log.deliver(PARTITION)
    await bench.until(() => bench.log.backlog === 0)
    expect(handled).toEqual(['1'])
    expect(await bench.deadLetters.parking.next(lane, KEY)).toBeUndefined()
  })

  test('PLT-5: a stop lets the handler finish and hands the rest back', async () => {
    await using bench = await WorkerBench.open()
    const handled: string[] = []
    let finish: (() => void) | undefined
    const member = await bench.member(async (subject) => {
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      handled.push(subject)
    })
    await bench.log.give(PARTITION, member)
    for (const subject of ['1', '2']) await bench.append(KEY, subject)
    bench.log.deliver(PARTITION)
    await bench.until(() => finish !== undefined)
    const stopped = bench.workers[0]?.[Symbol.asyncDispose]()
    finish?.()
    await stopped
    expect(handled).toEqual(['1'])
    expect(bench.log.backlog).toBe(1)
  })

  test('PLT-5: a handler that does not finish is told and left behind at the deadline', async () => {
    await using bench = await WorkerBench.open()
    let told: AbortSignal | undefined
    const member = await bench.member((_subject, { signal }) => {
      told = signal
      return new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    })
    await bench.log.give(PARTITION, member)
    await bench.append(KEY, '1')
    bench.log.deliver(PARTITION)
    await bench.until(() => told !== undefined)
    let isStopped: boolean = false
    const stopping = bench.workers[0]?.[Symbol.asyncDispose]().then(() => {
      isStopped = true
    })
    await bench.clock.advance(4_999)
    expect(isStopped).toBe(false)
    expect(told?.aborted).toBe(false)
    await bench.clock.advance(1)
    await stopping
    expect(told?.aborted).toBe(true)
  })

  test('more parked keys than memory may hold are still parked', async () => {
    await using bench = await WorkerBench.open()
    const { handled, failing, handle } = scripted()
    const keys = Array.from({ length: 40 }, (_, at) => `key-${at}`).filter(
      (key) => partitionOf(key, topics.operations.partitions) === PARTITION,
    )
    const settings = { parkedKeysMax: 2, attemptsMax: 1000 }
    for (const key of keys) {
      failing.add(`${key}/1`)
      await bench.append(key, `${key}/1`)
    }
    const deliverAll = () =>
      bench.until(() => {
        bench.log.deliver(PARTITION)
        return bench.log.backlog === 0
      })
    await bench.log.give(PARTITION, await bench.member(handle, settings))
    await deliverAll()
    for (const key of keys) await bench.append(key, `${key}/2`)
    await bench.log.give(PARTITION, await bench.member(handle, settings))
    await deliverAll()
    expect(handled).toEqual([])
    failing.clear()
    await bench.until(() => handled.length === keys.length * 2)
    for (const key of keys) {
      expect(handled.indexOf(`${key}/1`)).toBeLessThan(handled.indexOf(`${key}/2`))
    }
  })

  /** A member in the middle of event 1, which fails there when the gate opens; then it is cut off. */
  const stuckMember = async (bench: WorkerBench, openGate: Promise<void>) => {
    const tries: string[] = []
    const member = await bench.member(
      async (subject) => {
        tries.push(subject)
        await openGate
        throw tries.length === 1 ? new Error('it fails') : new UnavailableError('cut off')
      },
      { attemptsInPlace: 1 },
    )
    await bench.log.give(PARTITION, member)
    for (const subject of ['1', '2']) await bench.append(KEY, subject)
    bench.log.deliver(PARTITION)
    await bench.until(() => tries.length === 1)
  }
  const takeOver = async (bench: WorkerBench, how: 'give' | 'slip') => {
    const { handled, handle } = scripted()
    await bench.log[how](PARTITION, await bench.member(handle))
    bench.log.deliver(PARTITION)
    await bench.until(() => handled.length === 2)
    return handled
  }

  test('a member that heard of its loss parks nothing', async () => {
    await using bench = await WorkerBench.open()
    const { opened, open } = gate()
    await stuckMember(bench, opened)
    const handled = await takeOver(bench, 'give')
    open()
    await bench.log.idle()
    expect(await bench.deadLetters.parking.next(lane, KEY)).toBeUndefined()
    expect(handled).toEqual(['1', '2'])
  })

  test('what a member parks that did not hear of its loss is repeated, and its key goes on', async () => {
    await using bench = await WorkerBench.open()
    const { opened, open } = gate()
    await stuckMember(bench, opened)
    const handled = await takeOver(bench, 'slip')
    open()
    await bench.until(() => handled.length >= 3)
    // The first time in order; then once more what the other one had parked.
    expect(handled.slice(0, 3)).toEqual(['1', '2', '1'])
    await bench.append(KEY, '3')
    bench.log.deliver(PARTITION)
    await bench.until(() => handled.includes('3'))
    await bench.until(async () => !(await bench.deadLetters.parking.next(lane, KEY)))
    expect(await letters(bench)).toEqual([])
  })
})
