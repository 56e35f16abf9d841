/** What was decided is followed up, whoever crashes in between. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { UnavailableError } from '../../services/kernel/errors.ts'
import { pending as pendingTable } from '../../services/platform/generated/tables.ts'
import { partitionOf } from '../../services/platform/log.ts'
import { PENDING_SHARDS, type Pending } from '../../services/platform/pending.ts'
import { ManualClock } from '../kit/manual-clock.ts'
import { openPending } from '../kit/open-pending.ts'
import type { OpenedTables, OpenTables } from '../kit/open-tables.ts'

const MINUTE_MS = 60_000

export const pendingContract = (open: OpenTables): void => {
  let opened: OpenedTables
  /** Each test comes hours after the one before: marks are never lowered. */
  const clock = new ManualClock()
  let writer: Pending
  let sweeper: Pending
  let resumed: string[]
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened[Symbol.asyncDispose]())
  beforeEach(async () => {
    clock.step(clock.now() + 3_600_000)
    resumed = []
    writer = openPending(opened.tables, clock)
    sweeper = openPending(opened.tables, clock)
    sweeper.resumes('test', async (subject) => void resumed.push(subject))
  })
  afterEach(async () => {
    await writer[Symbol.asyncDispose]()
    await sweeper[Symbol.asyncDispose]()
  })

  const begun = async (subject: string): Promise<number> => {
    const shard = partitionOf(subject, PENDING_SHARDS)
    const rows = await opened.tables.slice(pendingTable, { shard }, { limit: 100 })
    return rows.filter((row) => row.subject === subject).length
  }
  const crash = async (subject: string, kind = 'test'): Promise<void> => {
    const dying = writer.follow({ kind, subject }, async () => {
      throw new Error('the process dies here')
    })
    await expect(dying).rejects.toThrow('dies here')
  }

  test('a task is on record while its body runs, and off when it has ended', async () => {
    const subject = randomUUID()
    const answer = await writer.follow({ kind: 'test', subject }, async () => {
      expect(await begun(subject)).toBe(1)
      return 7
    })
    expect(answer).toBe(7)
    await writer.idle()
    expect(await begun(subject)).toBe(0)
    await clock.advance(2 * MINUTE_MS)
    expect(await sweeper.sweep()).toBe(0)
    expect(resumed).toEqual([])
  })

  test('what a crash leaves behind is resumed once its writer has had its time', async () => {
    const subject = randomUUID()
    await crash(subject)
    await clock.advance(MINUTE_MS / 2)
    expect(await sweeper.sweep()).toBe(0)
    await clock.advance(MINUTE_MS)
    expect(await sweeper.sweep()).toBe(1)
    expect(resumed).toEqual([subject])
    expect(await begun(subject)).toBe(0)
    expect(await sweeper.sweep()).toBe(0)
  })

  test('a resumption that fails is tried again and keeps back no other', async () => {
    const subjects = Array.from({ length: 20 }, () => randomUUID())
    for (const subject of subjects) await crash(subject)
    const [stubborn] = subjects
    const failing = new Set<string | undefined>([stubborn])
    await using other = openPending(opened.tables, clock)
    other.resumes('test', async (subject) => {
      if (failing.has(subject)) throw new Error('not now')
      resumed.push(subject)
    })
    await clock.advance(2 * MINUTE_MS)
    expect(await other.sweep()).toBe(19)
    expect(resumed).not.toContain(stubborn)
    failing.clear()
    // However far the others of its shard have come meanwhile.
    await clock.advance(60 * MINUTE_MS)
    expect(await other.sweep()).toBe(1)
    expect(new Set(resumed)).toEqual(new Set(subjects))
  })

  test('a task of an unknown kind waits for who knows it', async () => {
    const subject = randomUUID()
    await crash(subject, 'strange')
    await clock.advance(2 * MINUTE_MS)
    expect(await sweeper.sweep()).toBe(0)
    await sweeper[Symbol.asyncDispose]()
    await using newer = openPending(opened.tables, clock)
    newer.resumes('strange', async (each) => void resumed.push(each))
    await clock.advance(60 * MINUTE_MS)
    expect(await newer.sweep()).toBe(1)
    expect(resumed).toEqual([subject])
  })

  test('one process sweeps at a time, and another when it is gone', async () => {
    const subject = randomUUID()
    await crash(subject)
    await clock.advance(2 * MINUTE_MS)
    await using other = openPending(opened.tables, clock)
    other.resumes('test', async (each) => void resumed.push(each))
    await other.sweep()
    await crash(randomUUID())
    await clock.advance(2 * MINUTE_MS - 70_000)
    expect(await sweeper.sweep()).toBe(0)
    await clock.advance(70_000)
    expect(await sweeper.sweep()).toBe(1)
    expect(resumed).toHaveLength(2)
  })

  test('a body whose beginning took too long is not run', async () => {
    const slow = openPending(
      new Proxy(opened.tables, {
        get: (tables, name) =>
          name === 'write'
            ? async (writes: Parameters<typeof tables.write>[0]) => {
                await tables.write(writes)
                clock.step(clock.now() + MINUTE_MS)
              }
            : Reflect.get(tables, name).bind(tables),
      }),
      clock,
    )
    let ran = false
    const late = slow.follow({ kind: 'test', subject: randomUUID() }, async () => {
      ran = true
    })
    await expect(late).rejects.toBeInstanceOf(UnavailableError)
    expect(ran).toBe(false)
    await clock.advance(MINUTE_MS)
    expect(await sweeper.sweep()).toBe(1)
  })
}
