import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { OverloadedError, UnavailableError } from '../../services/kernel/errors.ts'
import { Store } from '../../services/platform/embedded/store.ts'
import { Telemetry } from '../../services/platform/telemetry.ts'
import { Child } from '../kit/child.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'

const key = (text: string | number): Buffer => Buffer.from(`${text}`)

describe('the store when it is full', () => {
  test.each(['blind', 'reading'])(
    'a full disk fails a %s write, not the process, and the store stays readable',
    async (kind) => {
      using folder = temporaryFolder('full')
      // ulimit counts in KiB here: room for the hole the store keeps, and 2 MiB of rows.
      const limit = 66 * 1024
      await using child = new Child('fault/full-disk-child.ts', {
        args: [folder.path, kind],
        under: ['bash', '-c', `ulimit -f ${limit}; exec "$@"`, 'limited'],
      })
      const ending = await child.ended()
      expect(ending, child.errors).toEqual({ code: 0, signal: null })
      const refused = child.lines.filter((line) => line.startsWith('refused'))
      expect(refused.length).toBeGreaterThanOrEqual(20)
      for (const line of refused) expect(line).toMatch(/^refused UNAVAILABLE .*is the disk full\?/)
      const kept = Number((await child.says('kept')).split(' ')[1])
      expect(kept).toBeGreaterThan(50)
      expect(await child.says('readable')).toBe(`readable ${kept}`)
      await child.says('writes again')
    },
  )

  test('embedded.mapBytes stops growth, lets rows be removed, and then written again', async () => {
    using folder = temporaryFolder('full')
    await using store = new Store({ folder: folder.path, mapBytes: 2 ** 20 })
    const rows = store.database('rows')
    const write = (index: number) =>
      store.transaction(() => void rows.put(key(index), randomBytes(10_000)))
    let kept = 0
    const error = await (async () => {
      for (; kept < 1000; kept += 1) await write(kept)
    })().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(UnavailableError)
    expect(String(error)).toMatch(/embedded\.mapBytes \(1048576\): remove data or raise it/)
    expect(kept).toBeGreaterThan(60)
    expect(kept).toBeLessThan(120)
    expect(rows.get(key(kept - 1))).toHaveLength(10_000)
    const reclaims = { writes: 1, bytes: 0, reclaims: true }
    for (let index = 0; index < kept; index += 1) {
      await store.transaction(() => void rows.remove(key(index)), reclaims)
    }
    for (let index = 0; index < 20; index += 1) await write(index)
  })
})

describe('the queue of the store', () => {
  test('more writes than may wait are refused, the others are kept', async () => {
    using folder = temporaryFolder('queue')
    await using store = new Store({ folder: folder.path, mapBytes: 2 ** 28, writesQueuedMax: 100 })
    const rows = store.database('rows')
    const results = await Promise.allSettled(
      Array.from({ length: 150 }, (_, index) =>
        store.transaction(() => void rows.put(key(index), key('kept'))),
      ),
    )
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused).toHaveLength(50)
    for (const { reason } of refused) expect(reason).toBeInstanceOf(OverloadedError)
    for (const [index, { status }] of results.entries()) {
      expect(rows.get(key(index)) !== undefined).toBe(status === 'fulfilled')
    }
  })

  test('more bytes than may wait are refused, but one large write is not', async () => {
    using folder = temporaryFolder('queue')
    const options = { folder: folder.path, mapBytes: 2 ** 28, bytesQueuedMax: 1000 }
    await using store = new Store(options)
    const large = store.transaction(() => 'large', { writes: 1, bytes: 5000 })
    const small = store.transaction(() => 'small', { writes: 1, bytes: 1 })
    await expect(small).rejects.toBeInstanceOf(OverloadedError)
    expect(await large).toBe('large')
  })

  test('work that throws undoes itself and harms no other in its group', async () => {
    using folder = temporaryFolder('queue')
    await using store = new Store({ folder: folder.path, mapBytes: 2 ** 28 })
    const rows = store.database('rows')
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) =>
        store.transaction(() => {
          void rows.put(key(index), key('written'))
          if (index % 20 === 7) throw new RangeError(`no ${index}`)
          return index
        }),
      ),
    )
    for (const [index, result] of results.entries()) {
      const isGuilty = index % 20 === 7
      if (isGuilty)
        expect(result).toMatchObject({ status: 'rejected', reason: RangeError(`no ${index}`) })
      else expect(result).toEqual({ status: 'fulfilled', value: index })
      expect(rows.get(key(index)) === undefined).toBe(isGuilty)
    }
  })

  test('work runs in the order of the calls and sees what came before', async () => {
    using folder = temporaryFolder('queue')
    await using store = new Store({ folder: folder.path, mapBytes: 2 ** 28 })
    const rows = store.database('rows')
    const append = (letter: string) =>
      store.transaction(() => {
        const text = `${rows.get(key('word'))?.toString() ?? ''}${letter}`
        void rows.put(key('word'), key(text))
        return text
      })
    const results = await Promise.all([...'tributary'].map(append))
    expect(results.at(-1)).toBe('tributary')
    expect(results).toEqual([...'tributary'].map((_, index) => 'tributary'.slice(0, index + 1)))
  })

  test('blind work and work that reads keep their order', async () => {
    using folder = temporaryFolder('queue')
    await using store = new Store({ folder: folder.path, mapBytes: 2 ** 28 })
    const rows = store.database('rows')
    const set = (text: string) =>
      store.write({ writes: 1, bytes: 0, apply: () => void rows.put(key('k'), key(text)) })
    const read = () => store.transaction(() => rows.get(key('k'))?.toString())
    const results = await Promise.all([read(), set('1'), set('2'), read(), set('3'), read()])
    expect(results.filter((_, index) => [0, 3, 5].includes(index))).toEqual([undefined, '2', '3'])
    await Promise.all([set('4'), set('5')])
    expect(await read()).toBe('5')
  })

  test('writes that come while a group is on its way count with their own group', async () => {
    using folder = temporaryFolder('queue')
    const telemetry = new Telemetry({ level: 'silent', version: 'test' })
    await using store = new Store({ folder: folder.path, mapBytes: 2 ** 28, telemetry })
    const rows = store.database('rows')
    const late: Promise<void>[] = []
    await store.transaction(() => {
      for (let index = 0; index < 50; index += 1) {
        const apply = () => void rows.put(key(index), key('kept'))
        late.push(store.write({ writes: 2, bytes: 1, apply }))
      }
    })
    await Promise.all(late)
    const text = await telemetry.registry.metrics()
    expect(text).toContain('tributary_store_commit_writes_total 101')
    expect(text).toContain('tributary_store_writes_queued 0')
  })

  test('a write is seen when it resolves and not before', async () => {
    using folder = temporaryFolder('queue')
    await using store = new Store({ folder: folder.path, mapBytes: 2 ** 28 })
    const rows = store.database('rows')
    const writing = store.transaction(() => void rows.put(key('a'), key('b')))
    expect(rows.get(key('a'))).toBeUndefined()
    await writing
    expect(rows.get(key('a'))?.toString()).toBe('b')
  })

  test('closing waits for what was queued and refuses what comes later', async () => {
    using folder = temporaryFolder('queue')
    const store = new Store({ folder: folder.path, mapBytes: 2 ** 28 })
    const rows = store.database('rows')
    const writing = Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        store.transaction(() => void rows.put(key(index), key('kept'))),
      ),
    )
    const closing = store[Symbol.asyncDispose]()
    await expect(store.transaction(() => 'late')).rejects.toBeInstanceOf(UnavailableError)
    await writing
    await closing
    await using again = new Store({ folder: folder.path, mapBytes: 2 ** 28 })
    expect([...again.database('rows').getKeys()]).toHaveLength(100)
  })
})
