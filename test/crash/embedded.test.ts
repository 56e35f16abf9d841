/**
 * `kill -9` at random points, again and again on one folder: what was acknowledged is there, nothing
 * is half there, the log of a key is in order. TRIBUTARY_CRASH_ROUNDS sets how often,
 * TRIBUTARY_CRASH_SEED replays the moments.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { topics } from '../../services/kernel/events.ts'
import type { LogRecord } from '../../services/platform/log.ts'
import { pages } from '../../services/platform/tables.ts'
import { byName, byNameDown, oldest, samples } from '../contract/tables-fixture.ts'
import { Child } from '../kit/child.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'
import { blobOf, type CrashStore, headOf, openCrashStore } from './crash-store.ts'

const ROUNDS = Number(process.env['TRIBUTARY_CRASH_ROUNDS'] ?? 50)
const SEED = Number(process.env['TRIBUTARY_CRASH_SEED'] ?? Date.now() % 2 ** 31)
const WRITERS = 8

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
const randomFrom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The highest step a child said of each writer, by kind of line. */
const saidBy = (child: Child, kind: 'ack' | 'pair'): Map<number, number> => {
  const said = new Map<number, number>()
  for (const line of child.lines) {
    const [word, writer, step] = line.split(' ')
    if (word === kind) said.set(Number(writer), Number(step))
  }
  return said
}

const stepsOf = async ({ tables }: CrashStore, writer: number): Promise<number[]> => {
  const steps: number[] = []
  const partition = { reader: BigInt(writer) }
  for await (const page of pages(tables, oldest, partition, { limit: 1000 })) {
    for (const { ms, title, rank } of page) {
      expect([title, rank], 'a row is whole').toEqual([`${ms}`, ms])
      steps.push(ms)
    }
  }
  return steps
}

/** The steps in the log by key, in its order. */
const eventsIn = async ({ log }: CrashStore): Promise<Map<string, number[]>> => {
  const events = new Map<string, number[]>()
  const note = ({ key, value }: LogRecord): void => {
    const { data } = JSON.parse(value) as { data: { value: string } }
    events.set(key, [...(events.get(key) ?? []), Number(data.value)])
  }
  const topic = topics.operations
  for (let partition = 0; partition < topic.partitions; partition += 1) {
    let offset = 0n
    for (;;) {
      const records = await log.read(topic, { partition, offset, limit: 1000 })
      const last = records.at(-1)
      if (!last) break
      records.forEach(note)
      offset = last.offset + 1n
    }
  }
  return events
}

const checkWriters = async (store: CrashStore, acknowledged: Map<number, number>) => {
  const events = await eventsIn(store)
  for (let writer = 0; writer < WRITERS; writer += 1) {
    const steps = await stepsOf(store, writer)
    const count = steps.length
    expect(steps, 'no step is missing').toEqual(Array.from({ length: count }, (_, step) => step))
    expect(count, 'what was acknowledged is there').toBeGreaterThan(acknowledged.get(writer) ?? -1)
    const head = await store.tables.get(samples, headOf(writer))
    expect(head?.whole ?? -1, 'the head row is of the last step').toBe(count - 1)
    expect(events.get(`writer ${writer}`) ?? [], 'the log has each step once, in order').toEqual(
      steps,
    )
  }
}

const checkPairs = async ({ tables }: CrashStore, child: Child) => {
  const said = saidBy(child, 'pair')
  for (let writer = 0; writer < WRITERS; writer += 1) {
    const key = { scope: `writer ${writer}`, name: 'pair' }
    const [up, down] = [await tables.get(byName, key), await tables.get(byNameDown, key)]
    expect(up, 'both rows of a pair are of one step').toEqual(down)
    const step = Number(/pair \d+ (\d+);/.exec(up?.value ?? '')?.[1] ?? -1)
    expect(step, 'an acknowledged pair is there').toBeGreaterThanOrEqual(said.get(writer) ?? -1)
  }
}

const checkBlobs = async ({ blobs }: CrashStore, child: Child) => {
  for (const line of child.lines.filter((each) => each.startsWith('blob'))) {
    const step = Number(line.split(' ')[2])
    const chunks: Uint8Array[] = []
    for await (const chunk of (await blobs.get(`step/${step}`)) ?? []) chunks.push(chunk)
    expect(Buffer.concat(chunks).equals(blobOf(step)), `blob ${step} is whole`).toBe(true)
  }
}

test(`PLT-5: nothing acknowledged is lost to ${ROUNDS} kills, nothing is half there`, {
  timeout: 20_000 + ROUNDS * 20_000,
}, async () => {
  const random = randomFrom(SEED)
  using folder = temporaryFolder('crash')
  const acknowledged = new Map<number, number>()
  for (let round = 1; round <= ROUNDS; round += 1) {
    const place = `round ${round}, TRIBUTARY_CRASH_SEED=${SEED}`
    await using child = new Child('crash/crash-child.ts', { args: [folder.path, `${WRITERS}`] })
    // One in five is killed while it starts, whatever it does then.
    if (random() < 0.8) await child.says('open')
    await pause(random() * 400)
    const { signal } = await child.kill()
    expect(signal, `${place}\n${child.errors}`).toBe('SIGKILL')
    for (const [writer, step] of saidBy(child, 'ack')) acknowledged.set(writer, step)
    await using store = await openCrashStore(folder.path)
    try {
      await checkWriters(store, acknowledged)
      await checkPairs(store, child)
      await checkBlobs(store, child)
    } catch (error) {
      throw new Error(place, { cause: error })
    }
  }
  expect(Math.min(...acknowledged.values()), 'every writer got on').toBeGreaterThan(ROUNDS)
})
