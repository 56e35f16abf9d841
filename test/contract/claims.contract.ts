/** A name becomes somebody's once, and whoever made the same draft can go on. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConflictError } from '../../services/kernel/errors.ts'
import {
  type ClaimEngines,
  claim,
  claimOf,
  claimOrRefuse,
  claimOwners,
  takeOver,
} from '../../services/platform/claims.ts'
import { claims } from '../../services/platform/generated/tables.ts'
import { ManualClock } from '../kit/manual-clock.ts'
import type { OpenedTables, OpenTables } from '../kit/open-tables.ts'

export const claimsContract = (open: OpenTables): void => {
  let opened: OpenedTables
  let engines: ClaimEngines
  beforeAll(async () => {
    opened = await open()
    engines = { tables: opened.tables, clock: new ManualClock() }
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())

  const draft = (name: string, owner: bigint, draftHash = 'one') => ({
    kind: 'handle',
    name,
    owner,
    draftHash,
  })

  test('the first to claim a name owns it, from the time of the clock', async () => {
    const name = randomUUID()
    expect(await claim(engines, draft(name, 7n))).toEqual({ state: 'fresh', owner: 7n })
    expect(await opened.tables.get(claims, { kind: 'handle', name })).toEqual({
      ...draft(name, 7n),
      claimedAt: engines.clock.now(),
    })
  })

  test('the same draft again goes on with the owner of the first', async () => {
    const name = randomUUID()
    await claim(engines, draft(name, 7n))
    expect(await claim(engines, draft(name, 8n))).toEqual({ state: 'again', owner: 7n })
    expect(await claimOrRefuse(engines, draft(name, 9n))).toBe(7n)
  })

  test('another draft finds the name taken', async () => {
    const name = randomUUID()
    await claim(engines, draft(name, 7n))
    const other = draft(name, 8n, 'another')
    expect(await claim(engines, other)).toEqual({ state: 'taken', owner: 7n })
    await expect(claimOrRefuse(engines, other)).rejects.toBeInstanceOf(ConflictError)
  })

  test('names of two kinds do not clash', async () => {
    const name = randomUUID()
    await claim(engines, draft(name, 7n))
    const key = { ...draft(name, 8n, 'another'), kind: 'idempotency-key' }
    expect(await claim(engines, key)).toEqual({ state: 'fresh', owner: 8n })
  })

  test('of twenty who claim a name at once one owns it and all agree who', async () => {
    const name = randomUUID()
    const owners = Array.from({ length: 20 }, (_none, index) => BigInt(index + 1))
    const outcomes = await Promise.all(
      owners.map((owner) => claim(engines, draft(name, owner, `draft ${owner}`))),
    )
    const fresh = outcomes.filter(({ state }) => state === 'fresh')
    expect(fresh).toHaveLength(1)
    expect(new Set(outcomes.map(({ owner }) => owner))).toEqual(new Set([fresh[0]?.owner]))
    expect(outcomes.filter(({ state }) => state === 'taken')).toHaveLength(19)
  })

  test('owners of many names come in their order, nothing for a name nobody claimed', async () => {
    const [one, other] = [randomUUID(), randomUUID()]
    await claim(engines, draft(one, 7n))
    await claim(engines, draft(other, 8n))
    const names = [other, randomUUID(), one]
    expect(await claimOwners(opened.tables, { kind: 'handle', names })).toEqual([8n, undefined, 7n])
    expect(await claimOf(opened.tables, { kind: 'handle', name: randomUUID() })).toBeUndefined()
  })

  test('a claim is taken over as it was read, once, from the time of the clock', async () => {
    const name = randomUUID()
    await claim(engines, draft(name, 7n))
    const standing = await claimOf(opened.tables, { kind: 'handle', name }, { serial: true })
    expect(standing).toEqual({ ...draft(name, 7n), claimedAt: engines.clock.now() })
    if (!standing) return
    const heirs = Array.from({ length: 8 }, (_none, index) => ({
      owner: BigInt(index + 20),
      draftHash: `heir ${index}`,
    }))
    const won = await Promise.all(heirs.map((heir) => takeOver(engines, standing, heir)))
    expect(won.filter(Boolean)).toHaveLength(1)
    const heir = heirs[won.indexOf(true)]
    expect(await claimOf(opened.tables, { kind: 'handle', name })).toMatchObject({ ...heir })
    expect(await takeOver(engines, standing, { owner: 99n, draftHash: 'late' })).toBe(false)
    expect(await claim(engines, draft(name, 9n, heir?.draftHash))).toEqual({
      ...{ state: 'again', owner: heir?.owner },
    })
  })

  test('a claim that was renewed meanwhile is not taken over', async () => {
    const name = randomUUID()
    const clock = new ManualClock()
    await claim({ tables: opened.tables, clock }, draft(name, 7n))
    const standing = await claimOf(opened.tables, { kind: 'handle', name })
    if (!standing) throw new Error('the claim is not there')
    await clock.advance(1)
    expect(await takeOver({ tables: opened.tables, clock }, standing, standing)).toBe(true)
    expect(await takeOver(engines, standing, { owner: 8n, draftHash: 'x' })).toBe(false)
  })
}
