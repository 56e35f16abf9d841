import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toGlobalId } from '../../gateway/relay/global-id.ts'
import { eventually } from '../kit/eventually.ts'
import { gatewayExtension } from '../kit/gateway-extension.ts'
import { type Asker, GraphqlClient } from '../kit/graphql-client.ts'
import { World } from '../kit/world.ts'

const PAGE = 'https://app.example'
const JSON_TYPE = { 'content-type': 'application/json' }
const ECHO = JSON.stringify({ query: '{ echo(text: "hello") }' })

const waiting: (() => void)[] = []
let world: World
let client: GraphqlClient
let ada: Asker

beforeAll(async () => {
  world = await World.open({
    engine: 'embedded',
    extension: gatewayExtension({ waiting }),
    variables: { TRIBUTARY_GRAPHQL_ORIGINS: PAGE, TRIBUTARY_GRAPHQL_IN_FLIGHT_MAX: '2' },
  })
  client = new GraphqlClient(await world.address())
  ada = await world.services.accounts.signUp({ handle: 'ada', password: 'correct horse battery' })
})
afterAll(() => world[Symbol.asyncDispose]())

const post = (
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = JSON_TYPE,
) => client.send({ method: 'POST', headers, body })

const get = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  client.send({ headers: { ...JSON_TYPE, ...headers } }, `?${new URLSearchParams(parameters)}`)

describe('GraphQL over HTTP', () => {
  test('answers POST and GET', async () => {
    expect(await post(ECHO)).toMatchObject({ status: 200, data: { echo: 'hello' } })
    const query = 'query a($t: String) { echo(text: $t) } query b { echo(text: "b") }'
    const variables = JSON.stringify({ t: 'by variable' })
    expect(await get({ query, variables, operationName: 'a' })).toMatchObject({
      status: 200,
      data: { echo: 'by variable' },
    })
  })

  test('speaks the media type that is asked for', async () => {
    const plain = await post(ECHO, { ...JSON_TYPE, accept: 'application/json' })
    expect(plain.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const type = 'application/graphql-response+json'
    const special = await post(ECHO, { ...JSON_TYPE, accept: type })
    expect(special.headers.get('content-type')).toContain(type)
    expect((await post(ECHO, { ...JSON_TYPE, accept: 'text/html' })).status).toBe(406)
  })

  test('an answer is not stored by anybody on the way', async () => {
    const { headers } = await post(ECHO)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test.each([
    ['no JSON', '{ "query": ', JSON_TYPE, 400, 'BAD_INPUT'],
    ['an empty body', '', JSON_TYPE, 400, 'BAD_INPUT'],
    ['JSON that is no object', '7', JSON_TYPE, 400, 'BAD_INPUT'],
    ['an empty object', '{}', JSON_TYPE, 400, 'BAD_INPUT'],
    ['a query that is no text', '{ "query": 7 }', JSON_TYPE, 400, 'BAD_INPUT'],
    [
      'variables that are no object',
      '{ "query": "{ echo }", "variables": "x" }',
      JSON_TYPE,
      400,
      'BAD_INPUT',
    ],
    ['a batch', `[${ECHO},${ECHO}]`, JSON_TYPE, 400, 'BAD_INPUT'],
    ['an unknown field', '{ "query": "{ nothing }" }', JSON_TYPE, 400, 'GRAPHQL_VALIDATION_FAILED'],
    ['a syntax error', '{ "query": "{" }', JSON_TYPE, 400, 'GRAPHQL_PARSE_FAILED'],
    [
      'an unknown operation',
      '{ "query": "{ echo }", "operationName": "x" }',
      JSON_TYPE,
      400,
      'BAD_INPUT',
    ],
    ['a subscription', '{ "query": "subscription { count(to: 1) }" }', JSON_TYPE, 400, 'BAD_INPUT'],
    ['plain text', ECHO, { 'content-type': 'text/plain' }, 415, 'BAD_INPUT'],
    ['a form', ECHO, { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'BAD_INPUT'],
    [
      'another charset',
      ECHO,
      { 'content-type': 'application/json; charset=utf-16' },
      415,
      'BAD_INPUT',
    ],
    ['compression', ECHO, { ...JSON_TYPE, 'content-encoding': 'gzip' }, 415, 'BAD_INPUT'],
    ['a body that is too large', `{"query":"${'#'.repeat(102_400)}"}`, JSON_TYPE, 413, 'TOO_LARGE'],
  ])('refuses %s', async (_case, body, headers, status, code) => {
    expect(await post(body, headers)).toMatchObject({ status, codes: [code] })
  })

  test('a variable of another type is bad input, the first time and when compiled', async () => {
    const body = JSON.stringify({
      query: 'query ($t: String) { echo(text: $t) }',
      variables: { t: 7 },
    })
    for (const _time of [1, 2, 3]) {
      const { status, codes, data } = await post(body)
      expect({ status, codes, data }).toEqual({
        status: 400,
        codes: ['BAD_INPUT'],
        data: undefined,
      })
    }
  })

  test('null for an argument that cannot be null is bad input, however it is executed', async () => {
    const body = JSON.stringify({
      query: 'query ($n: Int = 3) { things(first: $n) { edges { cursor } } }',
      variables: { n: null },
    })
    for (const _time of [1, 2, 3]) expect((await post(body)).codes).toEqual(['BAD_INPUT'])
  })

  test('a body that does not say its length is cut off at the bound', async () => {
    const { hostname, port } = new URL(await world.address())
    const socket = connect(Number(port), hostname)
    const head = 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
    const chunk = 'x'.repeat(16_384)
    for (let sent = 0; sent < 8; sent += 1) socket.write(`4000\r\n${chunk}\r\n`)
    let answer = ''
    socket.on('data', (data) => {
      answer += String(data)
    })
    socket.on('error', () => undefined)
    await eventually(() => answer.includes('413'))
    await eventually(() => socket.closed)
    expect(answer).toContain('connection: close')
  })

  test('GET changes nothing: a mutation is refused', async () => {
    const query = 'mutation { rename(input: { name: "a" }) { name } }'
    const refused = await get({ query }, { authorization: `Bearer ${ada.accessToken}` })
    expect(refused).toMatchObject({ status: 405, codes: ['BAD_INPUT'] })
    expect(refused.headers.get('allow')).toBe('POST')
  })

  test.each(['PUT', 'DELETE', 'PATCH'])('%s is refused', async (method) => {
    const refused = await client.send({ method, headers: JSON_TYPE })
    expect(refused).toMatchObject({ status: 405 })
    expect(refused.headers.get('allow')).toBe('GET, POST')
  })

  test('a GET that any web page could make is refused unless it shows that it is none', async () => {
    const search = `?${new URLSearchParams({ query: '{ echo(text: "a") }' })}`
    expect(await client.send({}, search)).toMatchObject({ status: 400, codes: ['BAD_INPUT'] })
    const shown = { 'apollo-require-preflight': '1' }
    expect(await client.send({ headers: shown }, search)).toMatchObject({ status: 200 })
  })
})

describe('other origins', () => {
  const preflight = (origin: string) =>
    client.send({
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })

  test('on the list may call', async () => {
    const { status, headers } = await preflight(PAGE)
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe(PAGE)
    expect(headers.get('access-control-allow-headers')).toContain('authorization')
    const answered = await post(ECHO, { ...JSON_TYPE, origin: PAGE })
    expect(answered.headers.get('access-control-allow-origin')).toBe(PAGE)
    expect(answered.headers.get('vary')).toBe('origin')
  })

  test.each(['https://evil.example', `${PAGE}.evil.example`, 'null', ''])(
    'that are not, like %s, get no leave',
    async (origin) => {
      for (const { headers } of [
        await preflight(origin),
        await post(ECHO, { ...JSON_TYPE, origin }),
      ]) {
        expect(headers.get('access-control-allow-origin')).toBe(null)
        expect(headers.get('access-control-allow-methods')).toBe(null)
        expect(headers.get('vary')).toBe('origin')
      }
    },
  )
})

describe('who asks', () => {
  test('is told by the bearer token', async () => {
    const { data } = await client.ask<{ secret: string }>(ada, '{ secret }')
    expect(data?.secret).toMatch(/^of \d{19}$/)
  })

  test.each(['Bearer wrong', 'Bearer ', 'Basic YTpi', 'Bearer a b', 'token'])(
    'with %s is 401, even for what is public',
    async (authorization) => {
      const refused = await post(ECHO, { ...JSON_TYPE, authorization })
      expect(refused).toMatchObject({ status: 401, codes: ['UNAUTHENTICATED'] })
      expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    },
  )

  test('without a token, or without the scope, is 401 and 403', async () => {
    expect(await client.ask(undefined, '{ secret }')).toMatchObject({ status: 401 })
    expect(await client.ask(ada, '{ staff }')).toMatchObject({ status: 403 })
  })

  test('ACC-1: after signing out is 401', async () => {
    const { accounts } = world.services
    const bo = await accounts.signUp({ handle: 'bo', password: 'correct horse battery' })
    expect(await client.ask(bo, '{ secret }')).toMatchObject({ status: 200 })
    await accounts.signOut(await accounts.authenticate(bo.accessToken))
    expect(await client.ask(bo, '{ secret }')).toMatchObject({ status: 401 })
  })
})

describe('what a client is told of a failure', () => {
  test('a fault of ours is INTERNAL and a trace id, nothing more, however it is executed', async () => {
    for (const _time of [1, 2, 3]) {
      const { status, data, errors } = await client.ask(undefined, '{ failing echo(text: "a") }')
      expect({ status, data }).toEqual({ status: 200, data: { failing: null, echo: 'a' } })
      expect(errors).toEqual([
        {
          message: 'something went wrong here: ask with the trace id',
          path: ['failing'],
          locations: [{ line: 1, column: 3 }],
          extensions: { code: 'INTERNAL', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) },
        },
      ])
    }
  })

  test('a value that breaks the schema is a fault of ours as well', async () => {
    for (const _time of [1, 2, 3]) {
      const { codes, errors } = await client.ask(undefined, '{ hole { part } }')
      expect(codes).toEqual(['INTERNAL'])
      expect(errors[0]?.message).not.toContain('Whole.part')
    }
  })

  test.each([
    ['BAD_INPUT', { code: 'BAD_INPUT', field: 'code' }],
    ['UNAVAILABLE', { code: 'UNAVAILABLE', retriable: true }],
    ['OUTCOME_UNKNOWN', { code: 'OUTCOME_UNKNOWN', retriable: true }],
    ['DAMAGED', { code: 'DAMAGED' }],
  ])('%s keeps its code and names no engine', async (code, extensions) => {
    const query = 'query ($code: String!) { refusing(code: $code) }'
    const { errors } = await client.ask(undefined, query, { code })
    expect(errors).toMatchObject([{ extensions }])
    expect(JSON.stringify(errors)).not.toMatch(/10\.0\.0\.7|claims/)
  })

  test('a mutation says what its input did wrong in userErrors', async () => {
    const query =
      'mutation ($name: String!) { rename(input: { name: $name }) { name userErrors { code field message } } }'
    const ask = (name: string) => client.ask(ada, query, { name })
    expect(await ask('fine')).toMatchObject({
      data: { rename: { name: 'fine', userErrors: [] } },
    })
    expect(await ask('taken')).toMatchObject({
      data: {
        rename: {
          name: null,
          userErrors: [{ code: 'CONFLICT', field: 'name', message: 'this name is taken' }],
        },
      },
    })
    expect(await ask('away')).toMatchObject({ data: null, codes: ['UNAVAILABLE'] })
  })

  test('more than may be under way is OVERLOADED and 503', async () => {
    const under = [client.ask(undefined, '{ gated }'), client.ask(undefined, '{ gated }')]
    await eventually(() => waiting.length === 2)
    const refused = await client.ask(undefined, '{ echo }')
    expect(refused).toMatchObject({ status: 503, codes: ['OVERLOADED'] })
    expect(refused.headers.get('retry-after')).toBe('1')
    for (const open of waiting.splice(0)) open()
    expect(await Promise.all(under)).toMatchObject([{ data: { gated: 1 } }, { data: { gated: 1 } }])
    expect(await client.ask(undefined, '{ echo(text: "a") }')).toMatchObject({ status: 200 })
  })
})

describe('Relay', () => {
  const thing = toGlobalId('Thing', 1n << 62n)
  const nowhere = toGlobalId('Thing', (1n << 62n) + 999n)

  test('node finds what has the id, with its own type', async () => {
    const query = '{ node(id: "ID") { __typename id ... on Thing { name } } }'
    const ask = (id: string) => client.ask(undefined, query.replace('ID', id))
    const found = { __typename: 'Thing', id: thing, name: 'thing 0' }
    for (const _time of [1, 2, 3]) expect(await ask(thing)).toMatchObject({ data: { node: found } })
    expect(await ask(nowhere)).toMatchObject({ data: { node: null }, errors: [] })
    expect(await ask(toGlobalId('Nothing', 1n << 62n))).toMatchObject({ data: { node: null } })
    expect(await ask('1234')).toMatchObject({ codes: ['BAD_INPUT'] })
  })

  test('nodes keeps the order, and takes a hundred', async () => {
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }'
    const { data } = await client.ask(undefined, query, { ids: [nowhere, thing] })
    expect(data).toEqual({ nodes: [null, { id: thing }] })
    const many = await client.ask(undefined, query, { ids: Array(101).fill(thing) })
    expect(many.codes).toEqual(['BAD_INPUT'])
  })

  interface Things {
    readonly things: {
      readonly edges: readonly { readonly node: { readonly name: string } }[]
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string }
    }
  }
  const NO_THINGS: Things['things'] = { edges: [], pageInfo: { hasNextPage: false, endCursor: '' } }
  const LIST = `query ($after: Cursor) { things(first: 10, after: $after) {
    edges { cursor node { name } } pageInfo { hasNextPage endCursor } } }`

  test('a list is walked to its end by its cursors', async () => {
    const names: string[] = []
    let after: string | null = null
    for (;;) {
      const page: { readonly data: Things | null | undefined } = await client.ask<Things>(
        undefined,
        LIST,
        { after },
      )
      const { edges, pageInfo } = page.data?.things ?? NO_THINGS
      names.push(...edges.map(({ node }) => node.name))
      if (!pageInfo.hasNextPage) break
      after = pageInfo.endCursor
    }
    expect(names).toEqual(Array.from({ length: 25 }, (_, index) => `thing ${index}`))
  })

  test('a cursor that was made up is refused', async () => {
    expect((await client.ask(undefined, LIST, { after: 'AQID' })).codes).toEqual(['CURSOR_INVALID'])
  })
})

describe('operators', () => {
  test('see how long operations take by their type, never by a name a client chose', async () => {
    await client.ask(undefined, 'query NameOfTheClient { echo(text: "a") }')
    await client.ask(undefined, '{ ...f } fragment f on Query { ...f }')
    const metrics = await world.platform.telemetry.registry.metrics()
    expect(metrics).toMatch(
      /tributary_graphql_operation_seconds_count\{(type="query",outcome="ok"|outcome="ok",type="query")\} [1-9]/,
    )
    expect(metrics).toContain('tributary_graphql_in_flight 0')
    expect(metrics).not.toContain('NameOfTheClient')
  })
})
