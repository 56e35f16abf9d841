import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConflictError, DamagedError } from '../../services/kernel/errors.ts'
import { backUp, restore } from '../../services/platform/embedded/backup.ts'
import { FolderBlobs } from '../../services/platform/embedded/blobs.ts'
import { DataFolder } from '../../services/platform/embedded/data-folder.ts'
import type { Store } from '../../services/platform/embedded/store.ts'
import { EmbeddedTables } from '../../services/platform/embedded/tables.ts'
import { pages, put } from '../../services/platform/tables.ts'
import { Telemetry } from '../../services/platform/telemetry.ts'
import { oldest, samples } from '../contract/tables-fixture.ts'
import { Child } from '../kit/child.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'

const telemetry = new Telemetry({ level: 'silent', version: 'test' })
const tablesOn = (store: Store) =>
  new EmbeddedTables(store, { sweepMs: 10_000, sweepMax: 100, telemetry })

interface Served extends AsyncDisposable {
  readonly path: string
  readonly store: Store
  readonly tables: EmbeddedTables
  readonly blobs: FolderBlobs
}

const serve = async (path: string): Promise<Served> => {
  const folder = await DataFolder.open(path)
  const store = folder.openStore({ mapBytes: 2 ** 30 })
  const tables = tablesOn(store)
  const blobs = await FolderBlobs.open(folder.blobs)
  const dispose = async (): Promise<void> => {
    for (const each of [tables, blobs, store, folder]) await each[Symbol.asyncDispose]()
  }
  return { path, store, tables, blobs, [Symbol.asyncDispose]: dispose }
}

/** A step writes two rows of different tables, and a blob before them: a copy has all or nothing. */
const step = async ({ tables, blobs }: Served, index: number): Promise<void> => {
  await blobs.put(`step/${index}`, Buffer.from(`${index}`))
  await tables.write([
    put(oldest, { reader: 1n, ms: index, id: 1n, title: `${index}`, rank: index }),
    put(samples, { owner: 'newest', shard: 0, whole: index, plainText: 'x'.repeat(500) }),
  ])
}

const stepsIn = async ({ tables }: Served): Promise<number[]> => {
  const steps: number[] = []
  for await (const page of pages(tables, oldest, { reader: 1n }, { limit: 1000 })) {
    steps.push(...page.map(({ ms }) => ms))
  }
  return steps
}

test('PLT-6: a copy taken while serving is a whole prefix of what was written, with its blobs', async () => {
  using place = temporaryFolder('backup')
  await using served = await serve(join(place.path, 'data'))
  const stop = new AbortController()
  let written = 0
  const writing = (async () => {
    for (; !stop.signal.aborted; written += 1) await step(served, written)
  })()
  const copies: { path: string; before: number; after: number }[] = []
  for (let turn = 0; turn < 4; turn += 1) {
    const before = written
    const path = join(place.path, `copy ${turn}`)
    const report = await backUp(served.store, { from: served.path, into: path })
    copies.push({ path, before, after: written })
    expect(report.storeBytes).toBeGreaterThan(0)
    expect(report.blobs).toBeGreaterThanOrEqual(before)
  }
  stop.abort()
  await writing
  for (const { path, before, after } of copies) {
    const into = `${path} restored`
    await restore({ from: path, into })
    await using copy = await serve(into)
    const steps = await stepsIn(copy)
    expect(steps).toEqual(steps.map((_, index) => index))
    expect(steps.length).toBeGreaterThanOrEqual(before)
    expect(steps.length).toBeLessThanOrEqual(after + 1)
    const last = await copy.tables.get(samples, { owner: 'newest', shard: 0 })
    expect(last?.whole ?? -1).toBe(steps.length - 1)
    for (const index of steps) expect(await copy.blobs.info(`step/${index}`)).toBeDefined()
    await step(copy, steps.length)
  }
  expect(copies.at(-1)?.before).toBeGreaterThan(0)
  expect(await stepsIn(served)).toHaveLength(written)
})

test('neither a backup nor a restore touches a folder that holds anything', async () => {
  using place = temporaryFolder('backup')
  await using served = await serve(join(place.path, 'data'))
  await step(served, 0)
  const into = join(place.path, 'occupied')
  mkdirSync(into)
  writeFileSync(join(into, 'letter.txt'), 'dear')
  const from = join(place.path, 'copy')
  await expect(backUp(served.store, { from: served.path, into })).rejects.toBeInstanceOf(
    ConflictError,
  )
  await backUp(served.store, { from: served.path, into: from })
  await expect(restore({ from, into })).rejects.toBeInstanceOf(ConflictError)
  await expect(restore({ from, into: served.path })).rejects.toBeInstanceOf(ConflictError)
  expect(readdirSync(into)).toEqual(['letter.txt'])
  expect(await stepsIn(served)).toEqual([0])
})

test('a backup that is cut short, damaged or none at all is not restored', async () => {
  using place = temporaryFolder('backup')
  await using served = await serve(join(place.path, 'data'))
  for (let index = 0; index < 100; index += 1) await step(served, index)
  const into = join(place.path, 'new')
  const copy = async (name: string) => {
    const path = join(place.path, name)
    await backUp(served.store, { from: served.path, into: path })
    return path
  }
  const cut = await copy('cut')
  rmSync(join(cut, 'format'))
  const damaged = await copy('damaged')
  truncateSync(join(damaged, 'store.mdb'), 20_000)
  for (const from of [cut, damaged, join(place.path, 'nowhere')]) {
    await expect(restore({ from, into })).rejects.toBeInstanceOf(DamagedError)
  }
  await restore({ from: await copy('whole'), into })
  await using restored = await serve(into)
  expect(await stepsIn(restored)).toHaveLength(100)
})

test('the lock of a served folder survives a backup of it', async () => {
  using place = temporaryFolder('backup')
  await using served = await serve(join(place.path, 'data'))
  await backUp(served.store, { from: served.path, into: join(place.path, 'copy') })
  await using _copy = await serve(join(place.path, 'copy'))
  await using other = new Child('fault/folder-child.ts', { args: [served.path] })
  expect(await other.says('refused')).toContain(`process ${process.pid}`)
})
