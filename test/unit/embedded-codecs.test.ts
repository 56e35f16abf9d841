import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DamagedError } from '../../services/kernel/errors.ts'
import { KeyCodec } from '../../services/platform/embedded/key-codec.ts'
import { RowCodec, type RowTarget } from '../../services/platform/embedded/row-codec.ts'
import type { AnyTable } from '../../services/platform/tables.ts'
import { byName, byNameDown, marks, newest, oldest, samples } from '../contract/tables-fixture.ts'

const decoded = (table: AnyTable, bytes: Buffer): RowTarget => {
  const row: RowTarget = {}
  new RowCodec(table).decode(bytes, row)
  return row
}

describe('the row codec', () => {
  const row = { plainText: 'ä', whole: -1, large: -1n, ratio: 0.5, isOn: true, seenAt: 5 }

  test('a row written before its table grew reads its new columns as null', () => {
    const before: AnyTable = { ...samples, columns: samples.columns.slice(0, 2) }
    const bytes = new RowCodec(before).encode(row)
    expect(decoded(samples, bytes)).toEqual({
      ...{ plainText: 'ä', whole: -1, large: null, ratio: null },
      ...{ isOn: null, body: null, seenAt: null },
    })
  })

  test('a table may grow past eight columns', () => {
    const more = Array.from({ length: 20 }, (_, index) => ({
      ...{ name: `extra${index}`, column: `extra_${index}`, type: 'int' as const },
    }))
    const grown: AnyTable = { ...samples, columns: [...samples.columns, ...more] }
    expect(decoded(grown, new RowCodec(samples).encode(row))['extra19']).toBeNull()
    const full = new RowCodec(grown).encode({ ...row, extra19: 7 })
    expect(decoded(grown, full)).toMatchObject({ ...row, body: null, extra18: null, extra19: 7 })
  })

  test('a row that was cut off is damaged, wherever it was cut', () => {
    const body = Uint8Array.of(1, 2, 3)
    const bytes = new RowCodec(samples).encode({ ...row, body })
    for (let end = 3; end < bytes.length; end += 1) {
      const cut = Buffer.from(bytes.subarray(0, end))
      expect(() => decoded(samples, cut), `${end} bytes`).toThrow(DamagedError)
    }
  })
})

describe('the key codec', () => {
  const text = fc.string({ unit: 'binary', maxLength: 12 })
  const ms = fc.integer({ min: -8.64e15, max: 8.64e15 })
  const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })

  test.each([byName, byNameDown])('text of $name is ordered as its UTF-8 bytes', (table) => {
    const codec = new KeyCodec(table)
    const sign = table === byName ? 1 : -1
    const property = fc.property(text, text, (a, b) => {
      const keys = [a, b].map((name) => codec.key({ scope: 's', name })) as [Buffer, Buffer]
      const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b))
      expect(Buffer.compare(...keys) - sign * bytes).toBe(0)
    })
    fc.assert(property)
  })

  test.each([oldest, newest])('pairs of $name are ordered as numbers', (table) => {
    const codec = new KeyCodec(table)
    const sign = table === oldest ? 1 : -1
    const pair = fc.record({ ms, id })
    const property = fc.property(pair, pair, (a, b) => {
      const keys = [a, b].map((each) => codec.key({ reader: 1n, ...each })) as [Buffer, Buffer]
      const order = a.ms - b.ms || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
      expect(Buffer.compare(...keys) - sign * Math.sign(order)).toBe(0)
    })
    fc.assert(property)
  })

  test('clustering columns come back from a key', () => {
    const mark = fc.record({
      isPinned: fc.boolean(),
      place: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      tag: fc.uint8Array({ maxLength: 12 }),
    })
    const property = fc.property(text, mark, (home, cells) => {
      const codec = new KeyCodec(marks)
      const prefix = codec.partition({ home })
      const row: RowTarget = {}
      const key = codec.key({ home, ...cells })
      codec.readClustering(key, { start: prefix.length, end: key.length }, row)
      expect(row).toEqual(cells)
    })
    fc.assert(property)
  })
})
