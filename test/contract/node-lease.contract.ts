/** Ids are unique over processes, restarts and clocks that step. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UnavailableError } from '../../services/kernel/errors.ts'
import { arrivalMs, NODE_COUNT, nodeOf } from '../../services/kernel/ids.ts'
import { type NodeLeasesRow, nodeLeases } from '../../services/platform/generated/tables.ts'
import { LEASE_SKEW_MS } from '../../services/platform/leases.ts'
import { NodeLease } from '../../services/platform/node-lease.ts'
import type { Tables } from '../../services/platform/tables.ts'
import { Telemetry } from '../../services/platform/telemetry.ts'
import { eventually } from '../kit/eventually.ts'
import { ManualClock } from '../kit/manual-clock.ts'
import type { OpenedTables, OpenTables } from '../kit/open-tables.ts'

const LEASE_MS = 30_000
const DAY_MS = 86_400_000
const settings = { leaseMs: LEASE_MS }
const telemetry = new Telemetry({ level: 'silent', version: 'test' })
/** In the second half of the tests all nodes but this one are held by others, for ever. */
const FREE_NODE = 77
const FOR_EVER = Date.UTC(2080, 0, 1)

let days = 0
/** The clock of a test runs a day after all that were before: what they left is over. */
const laterClock = (): ManualClock => {
  days += 1
  return new ManualClock(Date.UTC(2026, 0, 1) + days * DAY_MS)
}

export const nodeLeaseContract = (open: OpenTables): void => {
  describe('among many free nodes', () => amongMany(open))
  describe('when one node is left', () => oneLeft(open))
}

const openOnce = (open: OpenTables) => {
  let opened: OpenedTables
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())
  return {
    tables: (): Tables => opened.tables,
    openLease: (clock: ManualClock) =>
      NodeLease.open({ tables: opened.tables, clock, telemetry, settings }),
    rowOf: (node: number) => opened.tables.get(nodeLeases, { node }, { serial: true }),
    /** Puts what another process would have written. */
    setRow: async (row: NodeLeasesRow) => {
      const { node, ...next } = row
      const inserted = await opened.tables.insertIfAbsent(nodeLeases, row)
      if (inserted.applied) return
      const swap = { expected: { holder: inserted.current?.holder ?? null }, next }
      expect(await opened.tables.compareAndSet(nodeLeases, { node }, swap)).toEqual({
        applied: true,
      })
    },
  }
}

const amongMany = (open: OpenTables): void => {
  const { openLease, rowOf, setRow } = openOnce(open)

  test('twenty processes that start at once have twenty nodes and no id twice', async () => {
    const clock = laterClock()
    const leases = await Promise.all(Array.from({ length: 20 }, () => openLease(clock)))
    expect(new Set(leases.map(({ node }) => node)).size).toBe(20)
    const ids = leases.flatMap((lease) => Array.from({ length: 5000 }, () => lease.next()))
    expect(new Set(ids).size).toBe(20 * 5000)
    expect(leases.every((lease) => nodeOf(lease.next()) === lease.node)).toBe(true)
    await Promise.all(leases.map((lease) => lease[Symbol.asyncDispose]()))
  })

  test('time is reserved in the table before an id of it is issued', async () => {
    const clock = laterClock()
    await using lease = await openLease(clock)
    for (const _turn of [1, 2, 3, 4, 5]) {
      const issued = arrivalMs(lease.next())
      const row = await rowOf(lease.node)
      expect(row?.highMs).toBeGreaterThanOrEqual(issued)
      await clock.advance(LEASE_MS / 3)
      await eventually(async () => (await rowOf(lease.node))?.highMs === clock.now() + LEASE_MS)
    }
  })

  test('a restart after the clock stepped back takes a node of which nothing was issued since', async () => {
    const clock = laterClock()
    const first = await openLease(clock)
    const ids = Array.from({ length: 100 }, () => first.next())
    await first[Symbol.asyncDispose]()
    clock.step(clock.now() - 3_600_000)
    await using second = await openLease(clock)
    expect(second.node).not.toBe(first.node)
    expect(ids).not.toContain(second.next())
  })

  test('a clock that steps back while ids are issued neither stops nor repeats them', async () => {
    const clock = laterClock()
    await using lease = await openLease(clock)
    const ids = Array.from({ length: 3000 }, () => lease.next())
    clock.step(clock.now() - 10_000)
    ids.push(...Array.from({ length: 3000 }, () => lease.next()))
    expect(new Set(ids).size).toBe(6000)
    expect(ids).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)))
  })

  test('an expired lease issues nothing, and goes on when nobody took it over', async () => {
    const clock = laterClock()
    await using lease = await openLease(clock)
    const before = lease.next()
    // Past its end without a renewal: nobody was woken.
    clock.step(clock.now() + LEASE_MS + 1)
    expect(() => lease.next()).toThrow(UnavailableError)
    // The failure has it renewed: the clock stands still here.
    const after = await eventually(() => lease.next())
    expect(after).toBeGreaterThan(before)
  })

  test('a lease that another took over stops, and another node is leased', async () => {
    const clock = laterClock()
    await using lease = await openLease(clock)
    const { node } = lease
    const row = await rowOf(node)
    expect(row).toBeDefined()
    const high = row?.highMs ?? 0
    await setRow({ node, holder: 'thief', version: 99n, expiresAt: high * 2, highMs: high * 2 })
    await clock.advance(LEASE_MS / 3)
    await eventually(() => lease.node !== node)
    expect(nodeOf(lease.next())).toBe(lease.node)
    expect(await rowOf(node)).toMatchObject({ holder: 'thief', version: 99n })
  })
}

const oneLeft = (open: OpenTables): void => {
  const { openLease, rowOf, setRow, tables } = openOnce(open)
  beforeAll(async () => {
    const others = Array.from({ length: NODE_COUNT }, (_none, node) => node)
    others.splice(FREE_NODE, 1)
    const held = { holder: 'somebody', version: 1n, expiresAt: FOR_EVER, highMs: FOR_EVER }
    await Promise.all(others.map((node) => tables().insertIfAbsent(nodeLeases, { node, ...held })))
  })

  test('twenty processes that want the last free node: one gets it', async () => {
    const clock = laterClock()
    const started = await Promise.allSettled(Array.from({ length: 20 }, () => openLease(clock)))
    const got = started.filter((start) => start.status === 'fulfilled')
    expect(got.map(({ value }) => value.node)).toEqual([FREE_NODE])
    for (const start of started) {
      if (start.status === 'rejected') expect(start.reason).toBeInstanceOf(UnavailableError)
    }
    await got[0]?.value[Symbol.asyncDispose]()
  })

  test('a lease given back says the last ms that was issued, and is free at once', async () => {
    const clock = laterClock()
    const first = await openLease(clock)
    const id = first.next()
    await first[Symbol.asyncDispose]()
    expect(await rowOf(FREE_NODE)).toMatchObject({ expiresAt: 0, highMs: arrivalMs(id) })
    expect(() => first.next()).toThrow(UnavailableError)
    await clock.advance(1)
    await using second = await openLease(clock)
    expect(second.next()).toBeGreaterThan(id)
  })

  test('a restart after the clock stepped back waits until nothing can be issued twice', async () => {
    const clock = laterClock()
    const first = await openLease(clock)
    const id = first.next()
    await first[Symbol.asyncDispose]()
    clock.step(clock.now() - 5_000)
    const restart = openLease(clock)
    await eventually(() => clock.sleeping > 0)
    await clock.advance(5_001)
    await using second = await restart
    expect(second.node).toBe(FREE_NODE)
    expect(second.next()).toBeGreaterThan(id)
  })

  test('the node of a process that died is taken over after its time, without a repeat', async () => {
    const clock = laterClock()
    // A crash leaves the row as it is.
    const dead = clock.now() + LEASE_MS
    await setRow({
      node: FREE_NODE,
      holder: 'dead',
      version: 5n,
      expiresAt: dead,
      highMs: dead,
    })
    await expect(openLease(clock)).rejects.toBeInstanceOf(UnavailableError)
    await clock.advance(LEASE_MS + LEASE_SKEW_MS)
    await using lease = await openLease(clock)
    expect(lease.node).toBe(FREE_NODE)
    expect(arrivalMs(lease.next())).toBeGreaterThan(dead)
  })
}
