import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { toGlobalId } from '../../gateway/relay/global-id.ts'
import { AccountChanged, type Event, isA, topics } from '../../services/kernel/events.ts'
import { defineWorker, on } from '../../workers/kit.ts'
import { siblingOf } from '../kit/accounts.ts'
import { engines } from '../kit/engines.ts'
import type { Asker } from '../kit/graphql-client.ts'
import { World } from '../kit/world.ts'

const PASSWORD = 'correct horse'
const TOKENS = `accessToken refreshToken expiresAt account { id handle displayName bio isPrivate createdAt }
  userErrors { code field message }`
const SIGN_UP = `mutation ($input: SignUpInput!) { signUp(input: $input) { ${TOKENS} } }`
const SIGN_IN = `mutation ($input: SignInInput!) { signIn(input: $input) { ${TOKENS} } }`
const REFRESH = `mutation ($input: RefreshTokensInput!) { refreshTokens(input: $input) { ${TOKENS} } }`
const UPDATE = `mutation ($input: UpdateProfileInput!) {
  updateProfile(input: $input) { account { handle displayName bio isPrivate } userErrors { code field message } }
}`
const VIEWER = '{ viewer { id handle } }'

interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
  readonly expiresAt: string
  readonly account: { readonly id: string; readonly handle: string } | null
  readonly userErrors: readonly { code: string; field: string | null; message: string }[]
}

const heard: Event[] = []
const listener = defineWorker({
  name: 'listener',
  role: 'audit',
  topic: topics.accounts,
  handlers: [on(AccountChanged, async (event) => void heard.push(event))],
})

describe.each(engines)('accounts over GraphQL on %s', (engine) => {
  let world: World
  let ada: Tokens
  beforeAll(async () => {
    heard.length = 0
    world = await World.open({ engine, workers: [listener] })
    ada = await signUp({ handle: '@Ada', password: PASSWORD, displayName: 'Ada L.' })
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  /** The one payload of a mutation. */
  const change = async <Payload = Tokens>(
    document: string,
    input: object,
    who?: Asker,
  ): Promise<Payload> => {
    const { data, errors } = await world.graphql<Record<string, Payload>>(who, document, { input })
    expect(errors).toEqual([])
    const [payload] = Object.values(data ?? {})
    if (!payload) throw new Error('a mutation has no payload')
    return payload
  }
  const signUp = (input: object) => change(SIGN_UP, input)
  const viewerHandle = async (who?: Asker) => {
    const { data } = await world.graphql<{ viewer: { handle: string } | null }>(who, VIEWER)
    return data?.viewer?.handle
  }

  test('ACC-1: a sign-up signs in', async () => {
    expect(ada).toMatchObject({
      account: { handle: 'ada', displayName: 'Ada L.', bio: '', isPrivate: false },
      userErrors: [],
    })
    expect(Date.parse(ada.expiresAt) - world.clock.now()).toBe(15 * 60_000)
    expect(await viewerHandle(ada)).toBe('ada')
  })

  test('ACC-1: a sign-in, a refresh and a sign-out follow one another', async () => {
    const signedIn = await change(SIGN_IN, { handle: 'ada', password: PASSWORD })
    const refreshed = await change(REFRESH, { refreshToken: signedIn.refreshToken })
    expect(await viewerHandle(refreshed)).toBe('ada')
    const out = 'mutation { signOut { signedOut userErrors { code } } }'
    const { data } = await world.graphql(refreshed, out)
    expect(data).toEqual({ signOut: { signedOut: true, userErrors: [] } })
    for (const tokens of [signedIn, refreshed]) {
      expect(await world.graphql(tokens, VIEWER)).toMatchObject({ status: 401 })
    }
    const late = await change(REFRESH, { refreshToken: refreshed.refreshToken })
    expect(late.userErrors).toMatchObject([{ code: 'UNAUTHENTICATED', field: 'refreshToken' }])
    expect(await viewerHandle(ada)).toBe('ada')
  })

  test('ACC-1: a spent refresh token ends the session of whoever has the new one', async () => {
    const first = await change(SIGN_IN, { handle: 'ada', password: PASSWORD })
    const second = await change(REFRESH, { refreshToken: first.refreshToken })
    const stolen = await change(REFRESH, { refreshToken: first.refreshToken })
    expect(stolen).toMatchObject({
      ...{ accessToken: null, refreshToken: null, expiresAt: null, account: null },
      userErrors: [{ code: 'UNAUTHENTICATED', field: 'refreshToken' }],
    })
    expect(await world.graphql(second, VIEWER)).toMatchObject({
      ...{ status: 401, codes: ['UNAUTHENTICATED'] },
    })
  })

  test('ACC-1: a session is ended by its refresh token without any access token', async () => {
    const session = await change(SIGN_IN, { handle: 'ada', password: PASSWORD })
    const out = `mutation ($input: SignOutInput!) { signOut(input: $input) { signedOut } }`
    const { refreshToken } = session
    const { data } = await world.graphql(undefined, out, { input: { refreshToken } })
    expect(data).toEqual({ signOut: { signedOut: true } })
    expect(await world.graphql(session, VIEWER)).toMatchObject({ status: 401 })
    const nobody = await world.graphql(undefined, 'mutation { signOut { userErrors { code } } }')
    expect(nobody.data).toEqual({ signOut: { userErrors: [{ code: 'UNAUTHENTICATED' }] } })
  })

  test('ACC-1: a failed sign-in says the same for a wrong password and an unknown handle', async () => {
    const wrong = await change(SIGN_IN, { handle: 'ada', password: 'wrong horse' })
    const unknown = await change(SIGN_IN, { handle: 'nobody', password: PASSWORD })
    const impossible = await change(SIGN_IN, { handle: '!', password: '' })
    expect(wrong).toMatchObject({ accessToken: null, userErrors: [{ code: 'UNAUTHENTICATED' }] })
    expect(unknown).toEqual(wrong)
    expect(impossible).toEqual(wrong)
  })

  test('ACC-3: a sign-in for reading cannot write', async () => {
    const reader = await change(SIGN_IN, { handle: 'ada', password: PASSWORD, scopes: ['READ'] })
    expect(await viewerHandle(reader)).toBe('ada')
    const refused = await world.graphql(reader, UPDATE, { input: { bio: 'x' } })
    expect(refused.codes).toEqual(['FORBIDDEN'])
    const greedy = await change(SIGN_IN, { handle: 'ada', password: PASSWORD, scopes: ['ADMIN'] })
    expect(greedy.userErrors).toMatchObject([{ code: 'BAD_INPUT', field: 'scopes' }])
  })

  test('ACC-1: a handle that is taken in any spelling is taken', async () => {
    for (const handle of ['ada', 'ADA', '@ａｄａ']) {
      const refused = await signUp({ handle, password: 'another person' })
      expect(refused).toMatchObject({
        accessToken: null,
        userErrors: [{ code: 'CONFLICT', field: 'handle' }],
      })
    }
  })

  test.each([
    [{ handle: 'no body' }, 'handle'],
    [{ handle: 'x' }, 'handle'],
    [{ password: 'short' }, 'password'],
    [{ password: 'somebody.new' }, 'password'],
    [{ displayName: 'é'.repeat(51) }, 'displayName'],
    [{ displayName: 'a\u202eb' }, 'displayName'],
    [{ bio: '👍🏽'.repeat(161) }, 'bio'],
  ])('SPEC 23: a sign-up with %j is refused with its field', async (fault, field) => {
    const refused = await signUp({ handle: 'somebody.new', password: PASSWORD, ...fault })
    expect(refused.userErrors).toMatchObject([{ code: 'BAD_INPUT', field }])
    expect(refused.account).toBeNull()
  })

  test('ACC-6: a profile is changed by its owner, what is left out stays, and it is announced', async () => {
    const bo = await signUp({ handle: 'bo', password: PASSWORD, bio: 'first' })
    const changed = await change<object>(UPDATE, { displayName: ' Bo ', isPrivate: true }, bo)
    expect(changed).toEqual({
      account: { handle: 'bo', displayName: 'Bo', bio: 'first', isPrivate: true },
      userErrors: [],
    })
    await change(UPDATE, { displayName: 'Bo', bio: null }, bo)
    await change(UPDATE, { bio: '' }, bo)
    await world.settle()
    const changes = heard.flatMap((event) => (isA(event, AccountChanged) ? [event.data] : []))
    const accountId = changes[0]?.accountId
    expect(changes).toEqual([
      { accountId, displayName: 'Bo', isPrivate: true },
      { accountId, bio: '' },
    ])
    expect(await siblingOf(world).byHandle('bo')).toMatchObject({ bio: '', displayName: 'Bo' })
  })

  test('changes of different fields at once both stand', async () => {
    const cy = await signUp({ handle: 'cy', password: PASSWORD })
    await Promise.all([
      change(UPDATE, { displayName: 'Cy C.' }, cy),
      change(UPDATE, { bio: 'both' }, cy),
      change(UPDATE, { isPrivate: true }, cy),
    ])
    expect(await world.services.accounts.byHandle('cy')).toMatchObject({
      ...{ displayName: 'Cy C.', bio: 'both', isPrivate: true },
    })
  })

  test('limits of a profile are those of people, not of code units', async () => {
    const family = '👩‍👩‍👧‍👦'
    const dee = await signUp({ handle: 'dee', password: PASSWORD, displayName: family.repeat(50) })
    expect(dee.account).toMatchObject({ displayName: family.repeat(50) })
    const refused = await change(UPDATE, { displayName: family.repeat(51) }, dee)
    expect(refused.userErrors).toMatchObject([{ code: 'BAD_INPUT', field: 'displayName' }])
  })

  test('ACC-7: a profile is public, by handle and by id; what is not there is null', async () => {
    const id = ada.account?.id ?? ''
    const document = `query ($id: ID!, $none: ID!) {
      account(handle: "@ADA") { id handle displayName createdAt }
      missing: account(handle: "nobody") { id }
      impossible: account(handle: "no handle!") { id }
      node(id: $id) { id ... on Account { handle } }
      nodes(ids: [$none, $id]) { id }
      viewer { id }
    }`
    const none = toGlobalId('Account', 1n << 62n)
    const { data } = await world.graphql(undefined, document, { id, none })
    expect(data).toEqual({
      account: {
        ...{ id, handle: 'ada', displayName: 'Ada L.' },
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
      ...{ missing: null, impossible: null, viewer: null },
      node: { id, handle: 'ada' },
      nodes: [null, { id }],
    })
  })

  test('ACC-7: what an account may do and how it signs in is not in its type', async () => {
    for (const field of ['scopes', 'password', 'sessions', 'email']) {
      const answer = await world.graphql(ada, `{ viewer { ${field} } }`)
      expect(answer.codes, field).toEqual(['GRAPHQL_VALIDATION_FAILED'])
    }
  })

  test('ACC-7: nobody changes a profile without signing in', async () => {
    const answer = await world.graphql(undefined, UPDATE, { input: { bio: 'mine now' } })
    expect(answer).toMatchObject({ status: 401, codes: ['UNAUTHENTICATED'] })
  })

  test('a mutation takes no field that is not its own', async () => {
    for (const more of [
      { scopes: ['ADMIN'] },
      { id: '1' },
      { createdAt: '2020-01-01T00:00:00Z' },
    ]) {
      const input = { handle: 'eve', password: PASSWORD, ...more }
      const { codes, data } = await world.graphql(undefined, SIGN_UP, { input })
      expect(codes).toEqual(['BAD_INPUT'])
      expect(data ?? undefined).toBeUndefined()
    }
    expect(await world.services.accounts.byHandle('eve')).toBeUndefined()
  })

  test('many accounts are read in one call, in the order asked for', async () => {
    const people = await Promise.all(
      Array.from({ length: 8 }, (_none, index) =>
        signUp({ handle: `crowd${index}`, password: PASSWORD }),
      ),
    )
    const ids = people.map(({ account }) => account?.id)
    const document = 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Account { handle } } }'
    using reads = vi.spyOn(world.services.accounts, 'byIds')
    const { data } = await world.graphql<{ nodes: unknown[] }>(undefined, document, { ids })
    expect(data?.nodes).toEqual(people.map(({ account }) => ({ handle: account?.handle })))
    expect(reads).toHaveBeenCalledTimes(1)
  })
})

describe.skipIf(!engines.includes('cluster'))('accounts of several processes on cluster', () => {
  test('ACC-1: a sign-out in one is refused by another within a second', async () => {
    await using world = await World.open({ engine: 'cluster' })
    await using other = await world.beside()
    const { accounts } = world.services
    const ada = await accounts.signUp({ handle: 'ada', password: PASSWORD })
    expect(await other.graphql(ada, VIEWER)).toMatchObject({ status: 200 })
    await accounts.signOut(await accounts.authenticate(ada.accessToken))
    await expect
      .poll(async () => (await other.graphql(ada, VIEWER)).status, { timeout: 1_000, interval: 20 })
      .toBe(401)
  })
})
