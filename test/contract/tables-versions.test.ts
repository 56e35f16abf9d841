/** What versions mean for the inside of each engine; the promise itself is in the suite of tables. */
import { describe, expect, test } from 'vitest'
import { Store } from '../../services/platform/embedded/store.ts'
import { EmbeddedTables } from '../../services/platform/embedded/tables.ts'
import { put, remove, VERSION_MAX } from '../../services/platform/tables.ts'
import { engines } from '../kit/engines.ts'
import { eventually } from '../kit/eventually.ts'
import { borrowKeyspace } from '../kit/keyspace.ts'
import { silentTelemetry } from '../kit/log-engines.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'
import { byName, copies } from './tables-fixture.ts'
import { freshName } from './tables-subject.ts'

const rowOf = (scope: string, name: string) => ({ scope, name, value: 'v', rank: 1 })

describe('versions and markers of removed rows on LMDB', () => {
  const open = (removedKeptMs?: number) => {
    const folder = temporaryFolder('versions')
    const telemetry = silentTelemetry()
    const store = new Store({ folder: folder.path, mapBytes: 2 ** 30, telemetry })
    const tables = new EmbeddedTables(store, {
      sweepMs: 3_600_000,
      sweepMax: 100,
      telemetry,
      ...(removedKeptMs === undefined ? {} : { removedKeptMs }),
    })
    return {
      tables,
      stored: () => store.passingDatabase(`table/${copies.name}`).getCount(),
      indexed: () => store.database('expiries').getCount(),
      [Symbol.asyncDispose]: async () => {
        await tables[Symbol.asyncDispose]()
        await store[Symbol.asyncDispose]()
        folder[Symbol.dispose]()
      },
    }
  }

  test('stay through a sweep before their time', async () => {
    await using opened = open()
    const row = rowOf(freshName(), 'n')
    await opened.tables.write([remove(copies, row, { version: 2n })])
    expect(await opened.tables.sweep()).toBe(0)
    expect(opened.stored()).toBe(1)
    await opened.tables.write([put(copies, row, { version: 1n })])
    expect(await opened.tables.get(copies, row)).toBeUndefined()
  })

  test('are swept when their time is over, and leave nothing behind', async () => {
    await using opened = open(1)
    const scope = freshName()
    const names = ['a', 'b', 'c']
    await opened.tables.write(names.map((name) => put(copies, rowOf(scope, name), { version: 1n })))
    await opened.tables.write(names.map((name) => remove(copies, { scope, name }, { version: 2n })))
    expect([opened.stored(), opened.indexed()]).toEqual([3, 3])
    await eventually(async () => {
      await opened.tables.sweep()
      return opened.stored() === 0
    })
    expect(opened.indexed()).toBe(0)
  })

  test('that were written over do not take the row with them', async () => {
    await using opened = open(1)
    const row = rowOf(freshName(), 'n')
    await opened.tables.write([remove(copies, row, { version: 2n })])
    await opened.tables.write([put(copies, row, { version: 3n })])
    await eventually(async () => {
      await opened.tables.sweep()
      return opened.indexed() === 0
    })
    expect(await opened.tables.get(copies, row)).toEqual(row)
  })

  test('are not laid over a plain row: that is a mistake, and told', async () => {
    await using opened = open()
    const row = rowOf(freshName(), 'n')
    await opened.tables.write([put(copies, row)])
    await expect(opened.tables.write([put(copies, row, { version: 1n })])).rejects.toThrow(
      'versions always or never',
    )
    expect(await opened.tables.get(copies, row)).toEqual(row)
  })
})

describe.runIf(engines.includes('cluster'))('versions on Cassandra', () => {
  test('do not move the clock of plain writes, however large', { timeout: 120_000 }, async () => {
    await using keyspace = await borrowKeyspace()
    await using reader = await keyspace.open()
    await using other = await keyspace.open()
    const scope = freshName()
    const last = rowOf(scope, 'n')
    await reader.write([put(copies, last, { version: VERSION_MAX })])
    expect(await reader.get(copies, last)).toEqual(last)
    expect(await reader.slice(copies, { scope }, { limit: 1 })).toEqual([last])
    const key = { scope, name: 'plain' }
    await reader.write([put(byName, { ...key, value: 'before' })])
    // It has seen nothing of the reader's: its own clock alone makes it the later one.
    const writtenAt = Date.now()
    await eventually(() => Date.now() > writtenAt + 1)
    await other.write([put(byName, { ...key, value: 'after' })])
    expect(await reader.get(byName, key)).toMatchObject({ value: 'after' })
  })
})
