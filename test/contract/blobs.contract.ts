/** What every engine of the blobs must do. */
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BadInputError } from '../../services/kernel/errors.ts'
import type { Blobs } from '../../services/platform/blobs.ts'

export interface OpenedBlobs extends AsyncDisposable {
  readonly blobs: Blobs
}

export const blobsContract = (open: () => Promise<OpenedBlobs>): void => {
  let opened: OpenedBlobs
  let blobs: Blobs
  beforeEach(async () => {
    opened = await open()
    blobs = opened.blobs
  })
  afterEach(() => opened[Symbol.asyncDispose]())

  const read = async (key: string): Promise<Buffer | undefined> => {
    const stream = await blobs.get(key)
    if (!stream) return undefined
    const chunks: Uint8Array[] = []
    for await (const chunk of stream) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
  const keysOf = async (prefix: string, page: { after?: string; limit: number }) =>
    (await blobs.list(prefix, page)).map(({ key }) => key)

  test('a blob comes back as it was put', async () => {
    const body = randomBytes(1000)
    expect(await blobs.put('media/1/original.jpg', body)).toEqual({
      key: 'media/1/original.jpg',
      bytes: 1000,
    })
    expect(await read('media/1/original.jpg')).toEqual(body)
    expect(await blobs.info('media/1/original.jpg')).toMatchObject({ bytes: 1000 })
  })

  test('an empty blob is a blob', async () => {
    await blobs.put('empty', new Uint8Array())
    expect(await read('empty')).toHaveLength(0)
    expect(await blobs.info('empty')).toEqual({ key: 'empty', bytes: 0 })
  })

  test('a streamed body of 20 MB is stored and streamed back in pieces', async () => {
    const piece = randomBytes(1024 * 1024)
    const body = async function* () {
      for (let index = 0; index < 20; index += 1) yield piece
    }
    expect((await blobs.put('large', body())).bytes).toBe(20 * piece.length)
    const stream = await blobs.get('large')
    let pieces = 0
    let bytes = 0
    for await (const chunk of stream ?? []) {
      pieces += 1
      bytes += chunk.length
    }
    expect(bytes).toBe(20 * piece.length)
    expect(pieces).toBeGreaterThan(1)
  })

  test('what is not there is undefined, and removing it is no error', async () => {
    expect(await blobs.get('nothing')).toBeUndefined()
    expect(await blobs.info('nothing')).toBeUndefined()
    await blobs.remove('nothing')
  })

  test('a removed blob is gone and can be put again', async () => {
    await blobs.put('a/b', Buffer.from('1'))
    await blobs.remove('a/b')
    expect(await blobs.get('a/b')).toBeUndefined()
    expect(await blobs.list('', { limit: 10 })).toEqual([])
    await blobs.put('a/b', Buffer.from('22'))
    expect((await read('a/b'))?.toString()).toBe('22')
  })

  test('a put over a key replaces it; who reads meanwhile gets the old bytes or the new', async () => {
    const old = Buffer.alloc(300_000, 'o')
    const next = Buffer.alloc(200_000, 'n')
    await blobs.put('k', old)
    const reading = await blobs.get('k')
    await blobs.put('k', next)
    const chunks: Uint8Array[] = []
    for await (const chunk of reading ?? []) chunks.push(chunk)
    expect(Buffer.concat(chunks).equals(old) || Buffer.concat(chunks).equals(next)).toBe(true)
    expect((await read('k'))?.equals(next)).toBe(true)
  })

  test('a put whose body fails leaves what was there, and nothing new', async () => {
    const broken = async function* () {
      yield Buffer.from('half')
      throw new RangeError('the source broke')
    }
    await expect(blobs.put('new', broken())).rejects.toThrow('the source broke')
    expect(await blobs.info('new')).toBeUndefined()
    await blobs.put('kept', Buffer.from('whole'))
    await expect(blobs.put('kept', broken())).rejects.toThrow('the source broke')
    expect((await read('kept'))?.toString()).toBe('whole')
    expect(await keysOf('', { limit: 10 })).toEqual(['kept'])
  })

  test('many puts of one key at once leave one of them whole', async () => {
    const bodies = Array.from({ length: 20 }, (_, index) => Buffer.alloc(50_000, index))
    await Promise.all(bodies.map((body) => blobs.put('raced', body)))
    const found = await read('raced')
    expect(bodies.some((body) => found?.equals(body))).toBe(true)
  })

  test('a key may go on below another key', async () => {
    for (const key of ['a', 'a/b', 'a/b/c']) await blobs.put(key, Buffer.from(key))
    for (const key of ['a', 'a/b', 'a/b/c']) expect((await read(key))?.toString()).toBe(key)
    await blobs.remove('a/b')
    expect(await keysOf('', { limit: 10 })).toEqual(['a', 'a/b/c'])
  })

  test('keys are listed in byte order, by prefix, after a key, a page at a time', async () => {
    const keys = ['B', 'a', 'a-', 'a.b', 'a/', 'a/-', 'a/b', 'a/b/c', 'a/c', 'a0', 'aa', 'b', '.x']
      .concat(['x'.repeat(200), `${'y/'.repeat(250)}z`, '9', '10'])
      .filter((key) => !key.endsWith('/'))
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    for (const key of keys.toReversed()) await blobs.put(key, Buffer.from(key))
    expect(await keysOf('', { limit: 1000 })).toEqual(keys)
    for (const prefix of ['a', 'a/', 'a/b', 'a/b/', 'y/y', 'none', 'x']) {
      const expected = keys.filter((key) => key.startsWith(prefix))
      expect(await keysOf(prefix, { limit: 1000 }), prefix).toEqual(expected)
    }
    for (const after of [...keys, 'a/b/', 'zz', '']) {
      const expected = keys.filter((key) => key > after)
      expect(await keysOf('', { after, limit: 1000 }), after).toEqual(expected)
      expect(await keysOf('', { after, limit: 2 })).toEqual(expected.slice(0, 2))
    }
    expect(await blobs.list('a/b', { limit: 1 })).toEqual([{ key: 'a/b', bytes: 3 }])
  })

  test.each([
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    '../a',
    'a/./b',
    'ä',
    'a b',
    'a+b',
    'a\u0000b',
    'a\\b',
    'x'.repeat(513),
    'x'.repeat(201),
  ])('the key %j is refused', async (key) => {
    await expect(blobs.put(key, Buffer.from('x'))).rejects.toBeInstanceOf(BadInputError)
    await expect(blobs.get(key)).rejects.toBeInstanceOf(BadInputError)
    await expect(blobs.info(key)).rejects.toBeInstanceOf(BadInputError)
    await expect(blobs.remove(key)).rejects.toBeInstanceOf(BadInputError)
  })

  test.each([0, -1, 1001, 0.5])('a page of %d keys is refused', async (limit) => {
    await expect(blobs.list('', { limit })).rejects.toBeInstanceOf(BadInputError)
  })
}
