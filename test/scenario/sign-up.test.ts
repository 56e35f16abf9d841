import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HANDLE_CLAIM } from '../../services/accounts/accounts-tables.ts'
import { BadInputError, ConflictError, UnauthenticatedError } from '../../services/kernel/errors.ts'
import { AccountCreated, type Event, isA, topics } from '../../services/kernel/events.ts'
import { claimOf } from '../../services/platform/claims.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { CrashError, crashingCommit, siblingOf } from '../kit/accounts.ts'
import { engines } from '../kit/engines.ts'
import { World } from '../kit/world.ts'

const PASSWORD = 'correct horse'
const MINUTE_MS = 60_000

const heard: Event[] = []
const listener = defineWorker({
  name: 'listener',
  role: 'audit',
  topic: topics.accounts,
  handlers: [on(AccountCreated, async (event) => void heard.push(event))],
})

const createdHandles = () =>
  heard.flatMap((event) => (isA(event, AccountCreated) ? [event.data.handle] : []))

describe.each(engines)('sign-up on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    heard.length = 0
    world = await World.open({ engine, workers: [listener] })
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  test('ACC-1: makes an account that can be found and announces it', async () => {
    const { accounts } = world.services
    const { account } = await accounts.signUp({
      ...{ handle: '@Ada', password: PASSWORD, displayName: 'Ada L.', bio: 'first' },
    })
    expect(account).toMatchObject({ handle: 'ada', displayName: 'Ada L.', isPrivate: false })
    expect(await accounts.byHandle('ADA')).toEqual(account)
    expect(await accounts.byIds([account.id, 1n as typeof account.id])).toEqual([
      account,
      undefined,
    ])
    await world.settle()
    expect(heard.map(({ key, id }) => [key, id])).toEqual([[String(account.id), account.id]])
  })

  test('ACC-1: of twenty who want a handle at once one gets it, the others hear so', async () => {
    const { accounts } = world.services
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_none, index) =>
        accounts.signUp({ handle: 'wanted', password: `password ${index}` }),
      ),
    )
    const won = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const lost = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(won).toHaveLength(1)
    expect(lost).toHaveLength(19)
    for (const error of lost) {
      expect(error).toBeInstanceOf(ConflictError)
      expect(error).toMatchObject({ field: 'handle' })
    }
    expect((await accounts.byHandle('wanted'))?.id).toBe(won[0]?.account.id)
    await world.settle()
    expect(createdHandles().filter((handle) => handle === 'wanted')).toHaveLength(1)
  })

  test('ACC-1: sent twice, at once or later, it makes one account', async () => {
    const { accounts } = world.services
    const form = { handle: 'twice', password: PASSWORD }
    const together = await Promise.all([accounts.signUp(form), accounts.signUp(form)])
    const later = await siblingOf(world).signUp(form)
    expect(new Set([...together, later].map(({ account }) => account.id)).size).toBe(1)
    expect(new Set([...together, later].map(({ refreshToken }) => refreshToken)).size).toBe(3)
    await world.settle()
    const events = heard.filter(
      (event) => isA(event, AccountCreated) && event.data.handle === 'twice',
    )
    expect(new Set(events.map(({ id }) => id)).size).toBe(1)
  })

  test('a crash between claim and commit is mended by sending it again', async () => {
    const form = { handle: 'mended', password: PASSWORD }
    const dying = siblingOf(world, { commit: crashingCommit })
    await expect(dying.signUp(form)).rejects.toBeInstanceOf(CrashError)
    const { accounts } = world.services
    expect(await accounts.byHandle('mended')).toBeUndefined()
    await expect(accounts.signIn(form)).rejects.toBeInstanceOf(UnauthenticatedError)
    const claim = await claimOf(world.platform.tables, { kind: HANDLE_CLAIM, name: 'mended' })
    const { account } = await accounts.signUp(form)
    expect(account.id).toBe(claim?.owner)
    expect((await accounts.signIn(form)).account).toEqual(account)
  })

  test('a handle left behind by a crash is free for others after minutes, not before', async () => {
    const { accounts } = world.services
    const dying = siblingOf(world, { commit: crashingCommit })
    const left = { handle: 'left', password: PASSWORD }
    await expect(dying.signUp(left)).rejects.toBeInstanceOf(CrashError)
    const other = { handle: 'left', password: 'another person' }
    await world.pass(4 * MINUTE_MS)
    await expect(accounts.signUp(other)).rejects.toBeInstanceOf(ConflictError)
    await world.pass(MINUTE_MS)
    const { account } = await accounts.signUp(other)
    expect((await accounts.signIn(other)).account).toEqual(account)
    await expect(accounts.signUp(left)).rejects.toBeInstanceOf(ConflictError)
    await expect(accounts.signIn(left)).rejects.toBeInstanceOf(UnauthenticatedError)
  })

  test('of several who take over one handle at once one gets it', async () => {
    const { accounts } = world.services
    const dying = siblingOf(world, { commit: crashingCommit })
    await expect(dying.signUp({ handle: 'heirs', password: PASSWORD })).rejects.toThrow()
    await world.pass(6 * MINUTE_MS)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_none, index) =>
        accounts.signUp({ handle: 'heirs', password: `password ${index}` }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('a process that sleeps past the takeover takes its late account back', async () => {
    const { accounts } = world.services
    const asleep = siblingOf(world, {
      commit: {
        ...crashingCommit,
        commit: async (writes, events) => {
          await world.pass(6 * MINUTE_MS)
          await accounts.signUp({ handle: 'slept', password: 'another person' })
          await world.platform.commit.commit(writes, events)
        },
      },
    })
    const late = asleep.signUp({ handle: 'slept', password: PASSWORD })
    await expect(late).rejects.toBeInstanceOf(ConflictError)
    await world.settle()
    const ids = heard.flatMap((event) =>
      isA(event, AccountCreated) && event.data.handle === 'slept' ? [event.data.accountId] : [],
    )
    expect(ids).toHaveLength(2)
    const standing = (await Promise.all(ids.map((id) => accounts.byId(id as never)))).filter(
      Boolean,
    )
    expect(standing).toEqual([await accounts.byHandle('slept')])
  })

  test('SPEC 23: what is wrong is refused with its field, and nothing is kept', async () => {
    const { accounts } = world.services
    const good = { handle: 'nobody', password: PASSWORD }
    const wrong = [
      [{ ...good, handle: 'no body' }, 'handle'],
      [{ ...good, password: 'short' }, 'password'],
      [{ ...good, displayName: 'x'.repeat(51) }, 'displayName'],
      [{ ...good, bio: 'x'.repeat(161) }, 'bio'],
    ] as const
    for (const [form, field] of wrong) {
      const refused = accounts.signUp(form)
      await expect(refused).rejects.toBeInstanceOf(BadInputError)
      await expect(refused).rejects.toMatchObject({ field })
    }
    const claim = await claimOf(world.platform.tables, { kind: HANDLE_CLAIM, name: 'nobody' })
    expect(claim).toBeUndefined()
  })
})
