/**
 * Embedded tables against lmdb alone doing the same bytes: the same keys and values, encoded once
 * before the clock starts, in a store opened the same way. Both are durable when they resolve: lmdb
 * groups the puts of an event turn by itself. What ours does more (checks, encoding, decoding into
 * rows of plain values, order, bounds, metrics) has to fit into the difference.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, open } from 'lmdb'
import { KeyCodec } from '../services/platform/embedded/key-codec.ts'
import { RowCodec } from '../services/platform/embedded/row-codec.ts'
import { Store } from '../services/platform/embedded/store.ts'
import { EmbeddedTables } from '../services/platform/embedded/tables.ts'
import { put, type Write } from '../services/platform/tables.ts'
import { Telemetry } from '../services/platform/telemetry.ts'
import { type EntryRow, newest } from '../test/contract/tables-fixture.ts'
import type { BenchKit, Contest, Figure, Work } from './kit.ts'

const WRITERS = 256
const READERS = 500
const ROWS_A_READER = 40
const SLICE = 20
const PORTION = 4096
const GOAL = 0.6
const REFERENCE = 'lmdb alone'
const TITLE = 'a title of about the length that titles have'
const FIRST_MS = Date.UTC(2026, 0, 1)
const MAP_BYTES = 2 ** 34

/** Rows as they come: a reader now, another next, each with its own run of times. */
const rowOf = (index: number): EntryRow => ({
  reader: BigInt(index % READERS),
  ms: FIRST_MS + (Math.floor(index / READERS) % ROWS_A_READER),
  id: 1n << 62n,
  title: TITLE,
  rank: index % 1000,
})

const ROWS = Array.from({ length: READERS * ROWS_A_READER }, (_, index) => rowOf(index))
const keys = new KeyCodec(newest)
const rows = new RowCodec(newest)
const ENCODED = ROWS.map((row) => ({ key: keys.key({ ...row }), value: rows.encode({ ...row }) }))
const WRITES: readonly (readonly Write[])[] = ROWS.map((row) => [put(newest, row)])

/** Goes through a list again and again. */
const roundAbout = <Item>(items: readonly Item[]): (() => Item) => {
  let next = 0
  return () => {
    const item = items[next] as Item
    next = next + 1 === items.length ? 0 : next + 1
    return item
  }
}

/** `PORTION` writes by 256 writers, each of which waits for its own to be on the disk. */
const by256 =
  (write: () => Promise<unknown>): Work =>
  async () => {
    let left = PORTION
    const writer = async (): Promise<void> => {
      for (; left > 0; await write()) left -= 1
    }
    await Promise.all(Array.from({ length: WRITERS }, writer))
    return PORTION
  }

/** Reads one after the other, as a resolver would await them. */
const inTurn =
  (read: () => unknown): Work =>
  async () => {
    for (let turn = 0; turn < PORTION; turn += 1) await read()
    return PORTION
  }

interface Raw extends AsyncDisposable {
  readonly entries: Database<Buffer, Buffer>
}

const openRaw = (folder: string): Raw => {
  const binary = { keyEncoding: 'binary', encoding: 'binary' } as const
  const root = open<Buffer, Buffer>({
    ...binary,
    path: join(folder, 'raw.mdb'),
    mapSize: MAP_BYTES,
    overlappingSync: false,
  })
  const entries = root.openDB<Buffer, Buffer>({ ...binary, name: 'entries' })
  return { entries, [Symbol.asyncDispose]: () => root.close() }
}

const writesContest = (tables: EmbeddedTables, { entries }: Raw): Contest => {
  const nextWrite = roundAbout(WRITES)
  const nextPut = roundAbout(ENCODED)
  return {
    name: `durable single-row writes, ${WRITERS} writers`,
    ours: by256(() => tables.write(nextWrite())),
    reference: by256(() => {
      const { key, value } = nextPut()
      return entries.put(key, value)
    }),
    referenceName: REFERENCE,
    goal: GOAL,
  }
}

const getsContest = (tables: EmbeddedTables, { entries }: Raw): Contest => {
  const nextRow = roundAbout(ROWS)
  const nextKey = roundAbout(ENCODED)
  return {
    name: 'point gets',
    ours: inTurn(() => tables.get(newest, nextRow())),
    reference: inTurn(() => entries.get(nextKey().key)),
    referenceName: REFERENCE,
    goal: GOAL,
  }
}

const slicesContest = (tables: EmbeddedTables, { entries }: Raw): Contest => {
  const readers = Array.from({ length: READERS }, (_, index) => BigInt(index))
  const nextReader = roundAbout(readers)
  const ranges = readers.map((reader) => keys.range(keys.partition({ reader }), {}, false))
  const nextRange = roundAbout(ranges)
  return {
    name: `slices of ${SLICE} rows`,
    ours: inTurn(() => tables.slice(newest, { reader: nextReader() }, { limit: SLICE })),
    reference: inTurn(() => {
      const { low, high } = nextRange()
      return [...entries.getRange({ start: low, end: high, limit: SLICE })]
    }),
    referenceName: REFERENCE,
    goal: GOAL,
  }
}

export const embeddedFigures = async (kit: BenchKit): Promise<Figure[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
  try {
    const telemetry = new Telemetry({ level: 'silent', version: 'bench' })
    await using store = new Store({ folder, mapBytes: MAP_BYTES, telemetry })
    await using tables = new EmbeddedTables(store, { sweepMs: 10_000, sweepMax: 1000, telemetry })
    await using raw = openRaw(folder)
    kit.say('filling both stores')
    await Promise.all(WRITES.map((writes) => tables.write(writes)))
    await Promise.all(ENCODED.map(({ key, value }) => raw.entries.put(key, value)))
    const figures: Figure[] = []
    for (const contest of [writesContest, getsContest, slicesContest]) {
      figures.push(await kit.contest(contest(tables, raw)))
    }
    return figures
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
