import { generateKeyPairSync } from 'node:crypto'
import {
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AccountService, SignedIn } from '../../services/accounts/accounts.ts'
import { KEYS_PARTITION, signingKeys } from '../../services/accounts/accounts-tables.ts'
import { UnauthenticatedError } from '../../services/kernel/errors.ts'
import { siblingOf } from '../kit/accounts.ts'
import { engines } from '../kit/engines.ts'
import { World } from '../kit/world.ts'

const MINUTE_MS = 60_000
const PASSWORD = 'correct horse'

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const partsOf = (token: string) => {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const read = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString())
  return {
    header: read(header) as JWTHeaderParameters & { kid: string },
    payload: read(payload) as JWTPayload,
    signature,
  }
}

describe.each(engines)('access tokens on %s', (engine) => {
  let world: World
  let accounts: AccountService
  let ada: SignedIn
  let good: ReturnType<typeof partsOf>
  let publicJwk: JWK
  let signingKey: Parameters<SignJWT['sign']>[0]
  beforeAll(async () => {
    world = await World.open({ engine })
    accounts = world.services.accounts
    ada = await accounts.signUp({ handle: 'ada', password: PASSWORD })
    good = partsOf(ada.accessToken)
    publicJwk = ((await accounts.keySet()).keys[0] ?? {}) as JWK
    const [row] = await world.platform.tables.slice(signingKeys, KEYS_PARTITION, { limit: 1 })
    signingKey = await importJWK(JSON.parse(row?.privateJwk ?? '{}') as JWK, 'EdDSA')
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  /** Signed with our own key, whatever it says. */
  const signed = (header: object, payload: object): Promise<string> =>
    new SignJWT({ ...good.payload, ...payload })
      .setProtectedHeader({ ...good.header, ...header } as JWTHeaderParameters)
      .sign(signingKey)

  const signedBy = (
    key: Parameters<SignJWT['sign']>[0],
    header: Partial<JWTHeaderParameters>,
  ): Promise<string> =>
    new SignJWT(good.payload).setProtectedHeader({ ...good.header, ...header }).sign(key)

  const seconds = () => Math.floor(world.clock.now() / 1_000)

  const forgeries: Readonly<Record<string, () => string | Promise<string>>> = {
    'no algorithm': () => `${part({ ...good.header, alg: 'none' })}.${part(good.payload)}.`,
    'no algorithm, spelt another way': () =>
      `${part({ ...good.header, alg: 'nOnE' })}.${part(good.payload)}.${good.signature}`,
    'HS256 keyed by our public key': () =>
      signedBy(Buffer.from(publicJwk.x ?? '', 'base64url'), { alg: 'HS256' }),
    'HS256 keyed by our published key as text': () =>
      signedBy(Buffer.from(JSON.stringify(publicJwk)), { alg: 'HS256' }),
    'RS256 under our kid': async () => {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      return await signedBy(privateKey, { alg: 'RS256' })
    },
    'ES256 under our kid': async () =>
      signedBy((await generateKeyPair('ES256')).privateKey, { alg: 'ES256' }),
    'a foreign key under our kid': async () =>
      signedBy((await generateKeyPair('EdDSA')).privateKey, {}),
    'a foreign key that it brings along': async () => {
      const pair = await generateKeyPair('EdDSA', { extractable: true })
      return await signedBy(pair.privateKey, { jwk: await exportJWK(pair.publicKey) })
    },
    'an unknown kid': () => signed({ kid: 'nobody' }, {}),
    'a kid that is a path': () => signed({ kid: '../../../dev/null' }, {}),
    'no kid': () => signed({ kid: undefined }, {}),
    'another type of token': () => signed({ typ: 'JWT' }, {}),
    'an extension we do not know': () =>
      `${part({ ...good.header, crit: ['x'], x: 1 })}.${part(good.payload)}.${good.signature}`,
    'another audience': () => signed({}, { aud: 'elsewhere' }),
    'no audience': () => signed({}, { aud: undefined }),
    'another issuer': () => signed({}, { iss: 'https://elsewhere.example' }),
    'an end in the past': () => signed({}, { exp: seconds() - 1 }),
    'an end just now': () => signed({}, { exp: seconds() }),
    'no end': () => signed({}, { exp: undefined }),
    'a beginning in the future': () => signed({}, { nbf: seconds() + 1 }),
    'no session': () => signed({}, { sid: undefined }),
    'a session that is no name of one': () => signed({}, { sid: '1' }),
    'a session of nobody': () => signed({}, { sid: '4611686018427387904.0' }),
    'somebody else’s name': () => signed({}, { sub: '4611686018427387904' }),
    'a name that is no id': () => signed({}, { sub: 'ada' }),
    'no scope at all': () => signed({}, { scope: undefined }),
    'a payload that was changed': () => {
      const payload = part({ ...good.payload, scope: 'read write admin' })
      return `${part(good.header)}.${payload}.${good.signature}`
    },
    'a header that was changed': () =>
      `${part({ ...good.header, x: 1 })}.${part(good.payload)}.${good.signature}`,
    'a signature cut short': () => ada.accessToken.slice(0, -2),
    'no signature': () => `${part(good.header)}.${part(good.payload)}.`,
    'two parts': () => `${part(good.header)}.${part(good.payload)}`,
    'a refresh token': () => ada.refreshToken,
    'a text of any length': () => 'x'.repeat(5_000),
    'a single letter': () => 'x',
  }

  test('ACC-1: a token says who, which session, what for, for whom, from whom and how long', async () => {
    expect(good.header).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: publicJwk.kid })
    expect(good.payload).toEqual({
      iss: 'tributary',
      aud: 'tributary',
      sub: String(ada.account.id),
      sid: expect.stringMatching(/^\d{19}\.\d+$/),
      scope: 'read write',
      iat: seconds(),
      exp: seconds() + 900,
    })
  })

  test('a token made as we make them is good, so that the forgeries fail for what they are', async () => {
    const viewer = await accounts.authenticate(await signed({}, { extra: 1 }))
    expect(viewer.accountId).toBe(ada.account.id)
    await accounts.authenticate(await signed({}, { nbf: seconds() }))
    await accounts.authenticate(await signed({}, { aud: ['elsewhere', 'tributary'] }))
  })

  test.each(Object.entries(forgeries))('ACC-1: %s is refused', async (_what, forge) => {
    const token = await forge()
    await expect(accounts.authenticate(token)).rejects.toBeInstanceOf(UnauthenticatedError)
    // A second look is no milder than the first.
    await expect(accounts.authenticate(token)).rejects.toBeInstanceOf(UnauthenticatedError)
  })

  test.each(Object.entries(forgeries))('ACC-1: %s is 401 over HTTP', async (_what, forge) => {
    const answer = await world.graphql({ accessToken: await forge() }, '{ viewer { handle } }')
    expect(answer).toMatchObject({ status: 401, codes: ['UNAUTHENTICATED'] })
    expect(answer.headers.get('www-authenticate')).toContain('Bearer')
    expect(answer.data?.valueOf()).toBeUndefined()
  })

  test('a refusal does not tell what of the token was looked at', async () => {
    const messages = new Set<string>()
    for (const what of ['an unknown kid', 'another audience', 'no algorithm', 'no end']) {
      const forged = (await forgeries[what]?.()) ?? ''
      const error: unknown = await accounts.authenticate(forged).catch((reason: unknown) => reason)
      messages.add((error as Error).message)
    }
    expect([...messages]).toHaveLength(1)
  })
})

describe.each(engines)('the keys of access tokens on %s', (engine) => {
  const form = { handle: 'ada', password: PASSWORD }
  const settings = { keyLifeMs: 60 * MINUTE_MS, keyLeadMs: 10 * MINUTE_MS }
  const kidOf = ({ accessToken }: SignedIn) => partsOf(accessToken).header.kid
  const kidsOf = async (service: AccountService) =>
    (await service.keySet()).keys.map((key) => (key as JWK).kid)

  test('ACC-1: processes that start at once share one key', async () => {
    await using world = await World.open({ engine })
    const siblings = Array.from({ length: 5 }, () => siblingOf(world))
    const sets = await Promise.all(siblings.map((each) => kidsOf(each)))
    expect(new Set(sets.flat()).size).toBe(1)
    const [one, other] = siblings
    const { accessToken } = (await one?.signUp(form)) ?? { accessToken: '' }
    expect(await other?.authenticate(accessToken)).toBeDefined()
  })

  test('ACC-1: keys change with an overlap, and no token is refused on the way', async () => {
    await using world = await World.open({ engine })
    const [one, other] = [siblingOf(world, { settings }), siblingOf(world, { settings })]
    let session = await one.signUp(form)
    const first = kidOf(session)
    const refresh = async (afterMs: number) => {
      await world.leap(afterMs)
      const before = session
      session = await one.refresh(session.refreshToken)
      for (const { accessToken } of [before, session]) {
        const judged = other.authenticate(accessToken)
        if (afterMs < 15 * MINUTE_MS || accessToken === session.accessToken) await judged
        else await expect(judged).rejects.toThrow('expired')
      }
    }
    await refresh(60 * MINUTE_MS)
    expect(kidOf(session)).toBe(first)
    const [second, ...rest] = await kidsOf(other)
    expect(rest).toEqual([first])
    await refresh(10 * MINUTE_MS)
    expect(kidOf(session)).toBe(second)
    await refresh(14 * MINUTE_MS)
    expect(await kidsOf(other)).toEqual([second, first])
    await refresh(4 * MINUTE_MS)
    expect(await kidsOf(other)).toEqual([second])
  })

  test('ACC-1: the key set is published, without a private part, and is enough to check a token', async () => {
    await using world = await World.open({ engine })
    const { accessToken } = await world.services.accounts.signUp(form)
    const response = await fetch(`${await world.address()}/.well-known/jwks.json`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/jwk-set+json')
    expect(response.headers.get('cache-control')).toBe('public, max-age=60')
    const set = (await response.json()) as { keys: JWK[] }
    expect(set.keys.map((key) => Object.keys(key).toSorted((a, b) => a.localeCompare(b)))).toEqual([
      ['alg', 'crv', 'kid', 'kty', 'use', 'x'],
    ])
    const [header = '', payload = '', signature = ''] = accessToken.split('.')
    const key = (await importJWK(set.keys[0] ?? {}, 'EdDSA')) as Exclude<
      Awaited<ReturnType<typeof importJWK>>,
      Uint8Array
    >
    const genuine = await crypto.subtle.verify(
      'Ed25519',
      key,
      Buffer.from(signature, 'base64url'),
      Buffer.from(`${header}.${payload}`),
    )
    expect(genuine).toBe(true)
  })

  test('the keys outlive a restart', async () => {
    await using world = await World.open({ engine })
    const { accessToken } = await world.services.accounts.signUp(form)
    await world.restart()
    expect(await world.services.accounts.authenticate(accessToken)).toBeDefined()
  })
})
