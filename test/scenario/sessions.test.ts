import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AccountService, SignedIn } from '../../services/accounts/accounts.ts'
import { UnauthenticatedError } from '../../services/kernel/errors.ts'
import { BrokenLine, siblingOf } from '../kit/accounts.ts'
import { engines } from '../kit/engines.ts'
import { eventually } from '../kit/eventually.ts'
import { World } from '../kit/world.ts'

const PASSWORD = 'correct horse'
const MINUTE_MS = 60_000

const refusal = async (act: Promise<unknown>) => {
  const error: unknown = await act.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(UnauthenticatedError)
  const { message, code, field } = error as UnauthenticatedError
  return { message, code, field }
}

describe.each(engines)('sessions on %s', (engine) => {
  let world: World
  let accounts: AccountService
  let ada: SignedIn
  let people = 0
  beforeAll(async () => {
    world = await World.open({ engine })
    accounts = world.services.accounts
  })
  beforeEach(async () => {
    people += 1
    ada = await accounts.signUp({ handle: `ada${people}`, password: PASSWORD })
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  /** A number the program shows of itself. */
  const metric = async (name: string): Promise<number> => {
    const lines = (await world.platform.telemetry.registry.metrics()).split('\n')
    const line = lines.find((each) => each.startsWith(`${name} `))
    return Number(line?.split(' ')[1] ?? 0)
  }
  const hashed = () => metric('tributary_accounts_password_seconds_count')
  const reads = () => metric('tributary_accounts_session_reads_total')
  const signIn = () => accounts.signIn({ handle: ada.account.handle, password: PASSWORD })

  test('ACC-1: a sign-up and a sign-in give tokens that show who asks', async () => {
    for (const { accessToken, expiresAt } of [ada, await signIn()]) {
      const viewer = await accounts.authenticate(accessToken)
      expect(viewer.accountId).toBe(ada.account.id)
      expect([...viewer.scopes]).toEqual(['read', 'write'])
      expect(viewer.expiresAt).toBe(expiresAt)
      expect(expiresAt - world.clock.now()).toBeLessThanOrEqual(15 * MINUTE_MS)
    }
  })

  test('ACC-1: whatever is wrong about a sign-in, the answer is the same', async () => {
    const { handle } = ada.account
    const answers = [
      await refusal(accounts.signIn({ handle, password: 'wrong horse' })),
      await refusal(accounts.signIn({ handle: 'nobody.here', password: PASSWORD })),
      await refusal(accounts.signIn({ handle: 'no handle at all!', password: PASSWORD })),
      await refusal(accounts.signIn({ handle, password: '' })),
    ]
    for (const answer of answers) expect(answer).toEqual(answers[0])
    const before = await hashed()
    await refusal(accounts.signIn({ handle: 'nobody.here', password: PASSWORD }))
    expect(await hashed()).toBe(before + 1)
    await refusal(accounts.signIn({ handle, password: 'wrong horse' }))
    expect(await hashed()).toBe(before + 2)
  })

  test('ACC-3: a sign-in may ask for fewer scopes, never for more', async () => {
    const { handle } = ada.account
    const reading = await accounts.signIn({ handle, password: PASSWORD, scopes: ['read'] })
    expect([...(await accounts.authenticate(reading.accessToken)).scopes]).toEqual(['read'])
    const more = await accounts.signIn({
      ...{ handle, password: PASSWORD, scopes: ['read', 'admin'] },
    })
    expect([...(await accounts.authenticate(more.accessToken)).scopes]).toEqual(['read'])
    await expect(
      accounts.signIn({ handle, password: PASSWORD, scopes: ['admin'] }),
    ).rejects.toMatchObject({ code: 'BAD_INPUT', field: 'scopes' })
  })

  test('ACC-3: more is granted with a sign-in, less with a refresh, and both are audited', async () => {
    const { id, handle } = ada.account
    await accounts.grant(handle, ['read', 'write', 'moderate'], 'operator')
    const moderator = await signIn()
    expect((await accounts.authenticate(moderator.accessToken)).scopes).toContain('moderate')
    await accounts.grant(handle, ['read'], 'operator')
    const reader = await accounts.refresh(moderator.refreshToken)
    expect([...(await accounts.authenticate(reader.accessToken)).scopes]).toEqual(['read'])
    expect(await world.services.audit.recent({ limit: 2 })).toMatchObject([
      { action: 'account.granted', subject: String(id), detail: 'read write moderate → read' },
      { action: 'account.granted', detail: 'read write → read write moderate' },
    ])
  })

  test('ACC-3: what is no scope, and who is nobody, is granted nothing', async () => {
    const { handle } = ada.account
    for (const words of [[], [''], ['root'], ['read', 'root']]) {
      await expect(accounts.grant(handle, words, 'operator')).rejects.toMatchObject({
        ...{ code: 'BAD_INPUT', field: 'scopes' },
      })
    }
    await expect(accounts.grant('nobody', ['read'], 'operator')).rejects.toMatchObject({
      ...{ code: 'NOT_FOUND', field: 'handle' },
    })
  })

  test('ACC-1: an access token ends after 15 minutes, a refresh token goes on', async () => {
    await world.leap(15 * MINUTE_MS)
    expect((await refusal(accounts.authenticate(ada.accessToken))).message).toContain('expired')
    const next = await accounts.refresh(ada.refreshToken)
    expect((await accounts.authenticate(next.accessToken)).accountId).toBe(ada.account.id)
  })

  test('ACC-1: a refresh token that is not used ends after its time, used it lives on', async () => {
    const hourly = siblingOf(world, { settings: { refreshMs: 60 * MINUTE_MS } })
    const form = { handle: ada.account.handle, password: PASSWORD }
    const idle = await hourly.signIn(form)
    let used = await hourly.signIn(form)
    for (let turn = 0; turn < 3; turn += 1) {
      await world.leap(30 * MINUTE_MS)
      used = await hourly.refresh(used.refreshToken)
    }
    await refusal(hourly.refresh(idle.refreshToken))
    expect((await hourly.authenticate(used.accessToken)).accountId).toBe(ada.account.id)
  })

  test('a session ends at last, however often it is refreshed', async () => {
    const short = siblingOf(world, { settings: { sessionMs: 20 * MINUTE_MS } })
    const opened = await short.signIn({ handle: ada.account.handle, password: PASSWORD })
    await world.leap(10 * MINUTE_MS)
    const last = await short.refresh(opened.refreshToken)
    expect(last.expiresAt - world.clock.now()).toBeLessThanOrEqual(10 * MINUTE_MS)
    await world.leap(10 * MINUTE_MS)
    await refusal(short.refresh(last.refreshToken))
    await refusal(short.authenticate(last.accessToken))
  })

  test('ACC-1: a spent refresh token shown again ends its family and no other', async () => {
    const bystander = await signIn()
    const second = await accounts.refresh(ada.refreshToken)
    const third = await accounts.refresh(second.refreshToken)
    await refusal(accounts.refresh(ada.refreshToken))
    await refusal(accounts.refresh(third.refreshToken))
    for (const { accessToken } of [ada, second, third]) {
      expect((await refusal(accounts.authenticate(accessToken))).message).toContain('ended')
    }
    await accounts.authenticate(bystander.accessToken)
    await accounts.refresh(bystander.refreshToken)
  })

  test('ACC-1: the token just spent is already a spent one', async () => {
    const second = await accounts.refresh(ada.refreshToken)
    await refusal(accounts.refresh(ada.refreshToken))
    await refusal(accounts.refresh(second.refreshToken))
  })

  test('within a grace the token just spent gets its successor, an older one ends the family', async () => {
    const patient = siblingOf(world, { settings: { refreshGraceMs: 5_000 } })
    const second = await patient.refresh(ada.refreshToken)
    await world.pass(4_000)
    const again = await patient.refresh(ada.refreshToken)
    expect(again.refreshToken).toBe(second.refreshToken)
    const third = await patient.refresh(second.refreshToken)
    await refusal(patient.refresh(ada.refreshToken))
    await refusal(patient.refresh(third.refreshToken))
  })

  test('the grace ends', async () => {
    const patient = siblingOf(world, { settings: { refreshGraceMs: 5_000 } })
    const second = await patient.refresh(ada.refreshToken)
    await world.pass(5_000)
    await refusal(patient.refresh(ada.refreshToken))
    await refusal(patient.refresh(second.refreshToken))
  })

  test('refreshes at the same time give one successor or end the family, never two heirs', async () => {
    const other = siblingOf(world)
    const outcomes = await Promise.allSettled(
      [accounts, other, accounts, other].map((each) => each.refresh(ada.refreshToken)),
    )
    const given = outcomes.flatMap((each) =>
      each.status === 'fulfilled' ? [each.value.refreshToken] : [],
    )
    expect(given.length).toBeGreaterThan(0)
    expect(new Set(given).size).toBe(1)
    const reused = outcomes.some(({ status }) => status === 'rejected')
    const next = accounts.refresh(given[0] ?? '')
    if (reused) await refusal(next)
    else expect((await next).account.id).toBe(ada.account.id)
  })

  test('ACC-1: a made-up token of somebody else’s session ends nothing', async () => {
    const bytes = Buffer.from(ada.refreshToken, 'base64url')
    const forged = (at: number) => {
      const copy = Buffer.from(bytes)
      copy[at] = (copy[at] ?? 0) ^ 1
      return copy.toString('base64url')
    }
    const familyAt = 20
    const wrong = [forged(familyAt), forged(15), forged(17), forged(3)]
    const garbled = ['', 'x', `${ada.refreshToken}A`, `${ada.refreshToken} `, ada.accessToken]
    for (const token of [...wrong, ...garbled]) {
      expect(await refusal(accounts.refresh(token))).toMatchObject({ field: 'refreshToken' })
    }
    await accounts.refresh(ada.refreshToken)
  })

  test('ACC-1: sign-out ends the family, its other sessions stay, and again changes nothing', async () => {
    const other = await signIn()
    const viewer = await accounts.authenticate(ada.accessToken)
    await accounts.signOut(viewer)
    await accounts.signOut(viewer)
    await refusal(accounts.authenticate(ada.accessToken))
    await refusal(accounts.refresh(ada.refreshToken))
    await accounts.authenticate(other.accessToken)
  })

  test('ACC-1: a client with an expired access token signs out by its refresh token', async () => {
    await accounts.signOutByToken(ada.refreshToken)
    await accounts.signOutByToken(ada.refreshToken)
    await refusal(accounts.authenticate(ada.accessToken))
    await refusal(accounts.refresh(ada.refreshToken))
  })

  test('a session that ends is refused by another process at its notice', async () => {
    const other = siblingOf(world)
    await using _following = await other.follow()
    const viewer = await other.authenticate(ada.accessToken)
    let closed = 0
    using _watch = other.watch(viewer, () => {
      closed += 1
    })
    await accounts.signOut(viewer)
    await eventually(() => closed === 1)
    await refusal(other.authenticate(ada.accessToken))
  })

  test('what ended while notices were missed is found when they come again', async () => {
    const line = new BrokenLine()
    const other = siblingOf(world, { pubsub: line })
    await using _following = await other.follow()
    const [first, second] = [await signIn(), await signIn()]
    const ended: string[] = []
    using _first = other.watch(await other.authenticate(first.accessToken), () => ended.push('1'))
    using _second = other.watch(await other.authenticate(second.accessToken), () => ended.push('2'))
    await accounts.signOutByToken(first.refreshToken)
    await other.authenticate(first.accessToken)
    line.mend()
    await eventually(() => ended.length > 0)
    expect(ended).toEqual(['1'])
    await refusal(other.authenticate(first.accessToken))
    await other.authenticate(second.accessToken)
  })

  test('a session that ends is refused within a second by a process no notice reaches', async () => {
    const deaf = siblingOf(world)
    const viewer = await deaf.authenticate(ada.accessToken)
    await accounts.signOut(viewer)
    await deaf.authenticate(ada.accessToken)
    await world.pass(1_000)
    await refusal(deaf.authenticate(ada.accessToken))
  })

  test('an active session is read from the tables about once a second, however many ask', async () => {
    const before = await reads()
    await Promise.all(Array.from({ length: 50 }, () => accounts.authenticate(ada.accessToken)))
    expect((await reads()) - before).toBe(1)
    await world.pass(1_000)
    await accounts.authenticate(ada.accessToken)
    expect((await reads()) - before).toBe(2)
  })

  test('an account has a bounded number of sessions: one more ends the longest unused', async () => {
    const few = siblingOf(world, { settings: { sessionsMax: 3 } })
    const form = { handle: ada.account.handle, password: PASSWORD }
    await world.pass(1_000)
    const second = await few.signIn(form)
    await world.pass(1_000)
    const first = await few.refresh(ada.refreshToken)
    const third = await few.signIn(form)
    const fourth = await few.signIn(form)
    await refusal(few.authenticate(second.accessToken))
    for (const { accessToken } of [first, third, fourth]) await few.authenticate(accessToken)
    await few.signOut(await few.authenticate(third.accessToken))
    const fifth = await few.signIn(form)
    for (const { accessToken } of [first, fourth, fifth]) await few.authenticate(accessToken)
  })

  test('many sign-ins of one account at once all succeed', async () => {
    const opened = await Promise.all(Array.from({ length: 10 }, signIn))
    for (const { accessToken } of opened) await accounts.authenticate(accessToken)
  })

  test('a password hashed for less is hashed again at sign-in', async () => {
    const dearer = siblingOf(world, { settings: { passwordCostLog2: 11 } })
    const form = { handle: ada.account.handle, password: PASSWORD }
    const before = await hashed()
    await dearer.signIn(form)
    expect((await hashed()) - before).toBe(2)
    await dearer.signIn(form)
    expect((await hashed()) - before).toBe(3)
    await accounts.signIn(form)
  })

  test('a session outlives a restart of the program', async () => {
    await world.restart()
    accounts = world.services.accounts
    const next = await accounts.refresh(ada.refreshToken)
    await accounts.authenticate(next.accessToken)
  })
})
