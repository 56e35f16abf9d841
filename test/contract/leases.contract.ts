/** At most one holder at a time, and another when it is gone. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LEASE_SKEW_MS, type Lease, Leases } from '../../services/platform/leases.ts'
import { ManualClock } from '../kit/manual-clock.ts'
import type { OpenedTables, OpenTables } from '../kit/open-tables.ts'

const LEASE_MS = 30_000

export const leasesContract = (open: OpenTables): void => {
  let opened: OpenedTables
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())

  const setUp = () => {
    const clock = new ManualClock()
    const leases = new Leases({ tables: opened.tables, clock })
    return { clock, leases, name: randomUUID() }
  }

  const held = (lease: Lease | undefined): Lease => {
    expect(lease).toBeDefined()
    return lease as Lease
  }

  test('a lease that is held is not given to another until it is over', async () => {
    const { clock, leases, name } = setUp()
    const lease = held(await leases.acquire(name, LEASE_MS))
    expect(lease.expiresAt).toBe(clock.now() + LEASE_MS)
    expect(await leases.acquire(name, LEASE_MS)).toBeUndefined()
    await clock.advance(LEASE_MS - 1)
    expect(leases.isHeld(lease)).toBe(true)
    await clock.advance(1)
    expect(leases.isHeld(lease)).toBe(false)
    expect(await leases.acquire(name, LEASE_MS)).toBeUndefined()
    await clock.advance(LEASE_SKEW_MS)
    held(await leases.acquire(name, LEASE_MS))
  })

  test('a process whose clock is 10 s ahead cannot take a lease that is held', async () => {
    const { clock, leases, name } = setUp()
    held(await leases.acquire(name, LEASE_MS))
    await clock.advance(LEASE_MS - 1)
    const ahead = new ManualClock(clock.now() + LEASE_SKEW_MS)
    const other = new Leases({ tables: opened.tables, clock: ahead })
    expect(await other.acquire(name, LEASE_MS)).toBeUndefined()
    await ahead.advance(1)
    held(await other.acquire(name, LEASE_MS))
  })

  test('a renewed lease lasts from the renewal on', async () => {
    const { clock, leases, name } = setUp()
    const first = held(await leases.acquire(name, LEASE_MS))
    await clock.advance(LEASE_MS / 2)
    const second = held(await leases.renew(first, LEASE_MS))
    expect(second.expiresAt).toBe(first.expiresAt + LEASE_MS / 2)
    await clock.advance(LEASE_MS)
    expect(await leases.acquire(name, LEASE_MS)).toBeUndefined()
  })

  test('a holder renews late as long as nobody took over, and never after', async () => {
    const { clock, leases, name } = setUp()
    const first = held(await leases.acquire(name, LEASE_MS))
    await clock.advance(LEASE_MS * 2)
    const late = held(await leases.renew(first, LEASE_MS))
    await clock.advance(LEASE_MS + LEASE_SKEW_MS)
    const other = held(await leases.acquire(name, LEASE_MS))
    expect(await leases.renew(late, LEASE_MS)).toBeUndefined()
    await leases.release(late)
    expect(leases.isHeld(other)).toBe(true)
    expect(await leases.acquire(name, LEASE_MS)).toBeUndefined()
  })

  test('a renewal whose answer got lost does not cost the lease', async () => {
    const { leases, name } = setUp()
    const first = held(await leases.acquire(name, LEASE_MS))
    held(await leases.renew(first, LEASE_MS))
    const third = held(await leases.renew(first, LEASE_MS))
    expect(third.version).toBe(first.version + 2n)
  })

  test('a lease given back is free at once', async () => {
    const { leases, name } = setUp()
    await leases.release(held(await leases.acquire(name, LEASE_MS)))
    expect(await leases.holders([name])).toEqual([undefined])
    const next = held(await leases.acquire(name, LEASE_MS))
    expect(await leases.holders([name, randomUUID()])).toEqual([next.holder, undefined])
  })

  test('of twenty who want a lease at once one gets it, fresh or after its expiry', async () => {
    const { clock, leases, name } = setUp()
    for (let round = 0; round < 3; round += 1) {
      const wanted = Array.from({ length: 20 }, () => leases.acquire(name, LEASE_MS))
      const got = (await Promise.all(wanted)).filter((lease) => lease !== undefined)
      expect(got).toHaveLength(1)
      await clock.advance(LEASE_MS + LEASE_SKEW_MS)
    }
  })
}
