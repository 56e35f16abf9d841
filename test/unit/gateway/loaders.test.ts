import { describe, expect, test } from 'vitest'
import { type LoaderRequest, loadersOf } from '../../../gateway/loaders.ts'

/** No reader of these tests asks a service. */
const request = { viewer: undefined, services: {} } as LoaderRequest

const counting = () => {
  const calls: (readonly bigint[])[] = []
  const read = async (ids: readonly bigint[]) => {
    calls.push(ids)
    return ids.map((id) => (id === 0n ? undefined : `value ${id}`))
  }
  return { calls, read }
}

describe('the loaders of a request', () => {
  test('read what is asked for at the same time in one call, each once', async () => {
    const { calls, read } = counting()
    const { thing } = loadersOf({ thing: read }, request)
    const values = await Promise.all([
      thing.load(1n),
      thing.load(2n),
      thing.load(1n),
      thing.load(0n),
    ])
    expect(values).toEqual(['value 1', 'value 2', 'value 1', undefined])
    expect(calls).toEqual([[1n, 2n, 0n]])
  })

  test('are made once, and never shared by two requests', async () => {
    const { calls, read } = counting()
    const [first, second] = [
      loadersOf({ thing: read }, request),
      loadersOf({ thing: read }, request),
    ]
    expect(first.thing).toBe(first.thing)
    expect(first.thing).not.toBe(second.thing)
    await first.thing.load(1n)
    await first.thing.load(1n)
    await second.thing.load(1n)
    expect(calls).toEqual([[1n], [1n]])
  })

  test('forget what they have read when they are told to', async () => {
    const { calls, read } = counting()
    const loaders = loadersOf({ thing: read }, request)
    await loaders.thing.load(1n)
    loaders.forget()
    await loaders.thing.load(1n)
    expect(calls).toEqual([[1n], [1n]])
  })

  test('never ask a service for more than a hundred at once', async () => {
    const { calls, read } = counting()
    const { thing } = loadersOf({ thing: read }, request)
    await thing.loadMany(Array.from({ length: 250 }, (_, index) => BigInt(index + 1)))
    expect(calls.map(({ length }) => length)).toEqual([100, 100, 50])
  })
})
