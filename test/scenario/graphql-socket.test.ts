import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { gatewayExtension } from '../kit/gateway-extension.ts'
import type { Asker } from '../kit/graphql-client.ts'
import { SocketClient, type SocketOptions } from '../kit/socket-client.ts'
import { World } from '../kit/world.ts'

const PASSWORD = 'correct horse battery'
const PAGE = 'https://app.example'

const open = (variables: Readonly<Record<string, string>> = {}) =>
  World.open({ engine: 'embedded', extension: gatewayExtension(), variables })

let world: World
let ada: Asker

beforeAll(async () => {
  world = await open({ TRIBUTARY_GRAPHQL_ORIGINS: PAGE, TRIBUTARY_SOCKET_OPERATIONS_MAX: '3' })
  ada = await world.services.accounts.signUp({ handle: 'ada', password: PASSWORD })
})
afterAll(() => world[Symbol.asyncDispose]())

const dial = async (options: SocketOptions = {}, at = world) =>
  new SocketClient(await at.address(), options)

const metricsOf = (at: World): Promise<string> => at.platform.telemetry.registry.metrics()

describe('an upgrade', () => {
  test.each([
    ['no origin', {}],
    ['an origin on the list', { origin: PAGE }],
  ])('with %s opens a socket, without compression', async (_case, options) => {
    await using client = await dial(options)
    await client.init()
    expect(client.extensions).toBe('')
  })

  test('of a page of this very host opens a socket', async () => {
    await using client = await dial({ origin: await world.address() })
    await client.init()
  })

  test.each(['https://evil.example', `${PAGE}.evil.example`, 'null', 'nonsense'])(
    'from the origin %s is refused',
    async (origin) => {
      await using client = await dial({ origin })
      await client.closed()
      expect(client.refusedWith).toBe(403)
    },
  )

  test('of another protocol is refused', async () => {
    await using client = await dial({ protocol: 'graphql-ws' })
    const { code } = await client.closed()
    expect([1006, 4406]).toContain(code)
  })

  test('at another path is 404', async () => {
    const address = new URL(await world.address())
    const status = await new Promise((resolve, reject) => {
      const headers = { connection: 'upgrade', upgrade: 'websocket' }
      request(new URL('/healthz', address), { headers })
        .on('response', (response) => resolve(response.statusCode))
        .on('error', reject)
        .end()
    })
    expect(status).toBe(404)
  })

  test('beyond the number of sockets is 503', async () => {
    await using small = await open({ TRIBUTARY_SOCKET_CONNECTIONS_MAX: '1' })
    await using first = await dial({}, small)
    await first.init()
    await using second = await dial({}, small)
    await second.closed()
    expect(second.refusedWith).toBe(503)
  })
})

describe('a socket', () => {
  test('ACC-3: says who it is in connection_init', async () => {
    await using client = await dial()
    await client.init({ accessToken: ada.accessToken })
    client.subscribe('1', '{ secret }')
    expect((await client.next('next', '1')).payload).toMatchObject({
      data: { secret: expect.stringContaining('of ') },
    })
    await client.next('complete', '1')
  })

  test.each([
    ['a wrong token', { accessToken: 'wrong' }],
    ['a token that is no text', { accessToken: 7 }],
    ['an empty token', { accessToken: '' }],
  ])('with %s is closed as forbidden', async (_case, payload) => {
    await using client = await dial()
    await client.opened()
    client.send({ type: 'connection_init', payload })
    expect(await client.closed()).toMatchObject({ code: 4403 })
  })

  test('without a token may ask for what is public', async () => {
    await using client = await dial()
    await client.init()
    client.subscribe('1', 'subscription { count(to: 3) }')
    await client.next('complete', '1')
    expect(client.messages.filter(({ type }) => type === 'next')).toMatchObject(
      [1, 2, 3].map((count) => ({ payload: { data: { count } } })),
    )
    client.subscribe('2', 'subscription { secretCount }')
    expect((await client.next('error', '2')).payload).toMatchObject([
      { extensions: { code: 'UNAUTHENTICATED' } },
    ])
  })

  test('that asks before it is acknowledged, or says who it is twice, is closed', async () => {
    await using early = await dial()
    await early.opened()
    early.subscribe('1', '{ echo }')
    expect(await early.closed()).toMatchObject({ code: 4401 })
    await using twice = await dial()
    await twice.init()
    twice.send({ type: 'connection_init' })
    expect(await twice.closed()).toMatchObject({ code: 4429 })
  })

  test('that speaks nonsense is closed', async () => {
    await using client = await dial()
    await client.init()
    client.send('{ "type": ')
    expect(await client.closed()).toMatchObject({ code: 4400 })
  })

  test('that uses an id twice is closed', async () => {
    await using client = await dial()
    await client.init()
    client.subscribe('1', 'subscription { never }')
    client.subscribe('1', 'subscription { never }')
    expect(await client.closed()).toMatchObject({ code: 4409 })
  })

  test('answers a ping, with what it carried', async () => {
    await using client = await dial()
    await client.init()
    client.send({ type: 'ping', payload: { n: 7 } })
    expect((await client.next('pong')).payload).toEqual({ n: 7 })
  })

  test('has a bounded number of operations', async () => {
    await using client = await dial()
    await client.init()
    for (const id of ['1', '2', '3', '4']) client.subscribe(id, 'subscription { never }')
    expect((await client.next('error', '4')).payload).toMatchObject([
      { extensions: { code: 'TOO_LARGE', limit: 'operations on the socket', max: 3 } },
    ])
    client.send({ type: 'complete', id: '1' })
    client.subscribe('5', '{ echo(text: "a") }')
    expect((await client.next('next', '5')).payload).toEqual({ data: { echo: 'a' } })
  })

  test('tells nothing of a fault of ours', async () => {
    await using client = await dial()
    await client.init()
    for (const id of ['1', '2', '3']) {
      client.subscribe(id, '{ failing }')
      const { payload } = await client.next('next', id)
      expect(payload).toMatchObject({
        data: { failing: null },
        errors: [{ extensions: { code: 'INTERNAL', traceId: expect.any(String) } }],
      })
      expect(JSON.stringify(payload)).not.toContain('hunter2')
    }
  })

  test('that is silent about itself is closed in time', async () => {
    await using brisk = await open({ TRIBUTARY_SOCKET_INIT_MS: '50' })
    await using client = await dial({}, brisk)
    expect(await client.closed()).toMatchObject({ code: 4408 })
  })

  test('that sends too much at once is closed', async () => {
    await using client = await dial()
    await client.init()
    client.subscribe('1', `{ echo(text: "${'x'.repeat(110_000)}") }`)
    expect(await client.closed()).toMatchObject({ code: 1009 })
  })
})

describe('an open socket', () => {
  test('ACC-1: closes when its session ends, and no other does', async () => {
    const { accounts } = world.services
    const bo = await accounts.signUp({ handle: 'bo', password: PASSWORD })
    await using his = await dial()
    await his.init({ accessToken: bo.accessToken })
    await using hers = await dial()
    await hers.init({ accessToken: ada.accessToken })
    await accounts.signOut(await accounts.authenticate(bo.accessToken))
    expect(await his.closed()).toMatchObject({ code: 4403 })
    hers.subscribe('1', '{ secret }')
    await hers.next('next', '1')
  })

  test('ACC-3: closes when its token expires', async () => {
    await using own = await open()
    const cy = await own.services.accounts.signUp({ handle: 'cy', password: PASSWORD })
    await using client = await dial({}, own)
    await client.init({ accessToken: cy.accessToken })
    await own.clock.advance(cy.expiresAt - own.clock.now() + 1)
    expect(await client.closed()).toMatchObject({ code: 4403 })
  })

  test('is asked to go elsewhere when the program stops', async () => {
    const leaving = await open()
    await using client = await dial({}, leaving)
    await client.init()
    client.subscribe('1', 'subscription { never }')
    await leaving[Symbol.asyncDispose]()
    expect(await client.closed()).toMatchObject({ code: 1001 })
  })

  test('whose client leaves too much unread is closed, and told to come back', async () => {
    await using narrow = await open({ TRIBUTARY_SOCKET_WAITING_BYTES_MAX: '65536' })
    await using client = await dial({}, narrow)
    await client.init()
    client.stall()
    const long = 'x'.repeat(90_000)
    let asked = 0
    await eventually(async () => {
      asked += 1
      client.subscribe(String(asked), 'query ($t: String) { echo(text: $t) }', { t: long })
      return /tributary_socket_cut_total{reason="slow"} 1/.test(await metricsOf(narrow))
    })
    client.resume()
    expect(await client.closed()).toMatchObject({ code: 1013 })
    const answers = client.messages.filter(({ type }) => type === 'next')
    expect(answers.length).toBeLessThan(asked)
  })

  test('whose client does not answer pings is cut, and one that does stays', async () => {
    await using brisk = await open({ TRIBUTARY_SOCKET_PING_MS: '100' })
    await using present = await dial({}, brisk)
    await present.init()
    await using gone = await dial({ answersPings: false }, brisk)
    await gone.init()
    expect(await gone.closed()).toMatchObject({ code: 1006 })
    expect(gone.pings).toBe(1)
    await eventually(() => present.pings >= 4)
    present.subscribe('1', '{ echo(text: "here") }')
    await present.next('next', '1')
    expect(await metricsOf(brisk)).toContain('tributary_socket_cut_total{reason="silent"} 1')
  })

  test('is counted', async () => {
    await using client = await dial()
    await client.init()
    await eventually(async () => /tributary_socket_connections [1-9]/.test(await metricsOf(world)))
  })
})
