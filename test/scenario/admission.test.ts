/** What may run at all: one table, the same answers over HTTP and on a socket. */
import type { GraphQLFormattedError } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gatewayExtension } from '../kit/gateway-extension.ts'
import type { Asker } from '../kit/graphql-client.ts'
import { SocketClient } from '../kit/socket-client.ts'
import { World } from '../kit/world.ts'

const PASSWORD = 'correct horse battery'
/** Small, so that the documents of the table are readable. */
const LIMITS = {
  TRIBUTARY_GRAPHQL_TOKENS_MAX: '116',
  TRIBUTARY_GRAPHQL_DEPTH_MAX: '4',
  TRIBUTARY_GRAPHQL_FIELDS_MAX: '24',
  TRIBUTARY_GRAPHQL_ALIASES_MAX: '3',
  TRIBUTARY_GRAPHQL_COST_MAX: '500',
  TRIBUTARY_GRAPHQL_MUTATION_COST: '300',
}

let world: World
let member: Asker
let reader: Asker

beforeAll(async () => {
  world = await World.open({
    engine: 'embedded',
    extension: gatewayExtension(),
    variables: LIMITS,
  })
  const { accounts } = world.services
  member = await accounts.signUp({ handle: 'ada', password: PASSWORD })
  reader = await accounts.signIn({ handle: 'ada', password: PASSWORD, scopes: ['read'] })
})
afterAll(() => world[Symbol.asyncDispose]())

interface Outcome {
  readonly data?: unknown
  readonly errors?: readonly GraphQLFormattedError[]
}

type Ask = (who: Asker | undefined, query: string, variables?: object) => Promise<Outcome>

const overHttp: Ask = (who, query, variables = {}) => world.graphql(who, query, { ...variables })

const onSocket: Ask = async (who, query, variables = {}) => {
  await using client = new SocketClient(await world.address())
  await client.init(who && { accessToken: who.accessToken })
  client.subscribe('1', query, variables)
  const first = await Promise.race([client.next('next', '1'), client.next('error', '1')])
  return first.type === 'next'
    ? (first.payload as Outcome)
    : { errors: first.payload as readonly GraphQLFormattedError[] }
}

const extensionsOf = ({ errors = [] }: Outcome) => errors.map(({ extensions }) => extensions)

const repeat = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ')

const deep = (levels: number): string =>
  `{ tree ${'{ child '.repeat(levels - 2)}{ leaf }${' }'.repeat(levels - 2)} }`

/** Few tokens, many fields: each fragment stands twice in the one before. */
const doubling = `{ tree { ...a ...a } }
  fragment a on Tree { child { ...b leaf } children { ...b leaf } }
  fragment b on Tree { child { leaf __typename } children { leaf __typename } }`

const things = (first: number) => `{ things(first: ${first}) { edges { node { name } } } }`
const rename = (name: string) => `rename(input: { name: "${name}" }) { name }`
/** Six tokens each, and two. */
const wordy = (count: number) => `{ ${repeat(count, () => 'echo(text: "a")')} }`
const aliased = (count: number) => `{ ${repeat(count, (index) => `a${index}: echo(text: "a")`)} }`

describe.each([
  ['over HTTP', overHttp],
  ['on a socket', onSocket],
] as const)('admission %s', (_transport, ask) => {
  test.each([
    ['tokens', wordy(20), wordy(19)],
    ['depth', deep(5), deep(4)],
    ['fields', doubling, `{ ${repeat(24, () => 'echo')} }`],
    ['aliases', aliased(4), aliased(3)],
    ['cost', things(250), things(249)],
  ])('refuses a document over the limit of %s, and takes one at it', async (limit, over, at) => {
    const refused = await ask(undefined, over)
    expect(refused.data ?? null).toBe(null)
    expect(extensionsOf(refused)).toMatchObject([{ code: 'TOO_LARGE', limit }])
    expect(refused.errors?.[0]?.extensions?.['max']).toEqual(expect.any(Number))
    expect(extensionsOf(await ask(undefined, at)).filter((each) => each?.['limit'])).toEqual([])
  })

  test('counts sizes that come as variables', async () => {
    const query = 'query ($n: Int!) { things(first: $n) { edges { node { name } } } }'
    const refused = await ask(undefined, query, { n: 1_000_000 })
    expect(extensionsOf(refused)).toMatchObject([{ code: 'TOO_LARGE', limit: 'cost' }])
    expect(extensionsOf(await ask(undefined, query, { n: 3 }))).toEqual([])
  })

  test('stops many attempts in one request: a mutation costs more', async () => {
    const two = `mutation { a: ${rename('a')} b: ${rename('b')} }`
    const refused = await ask(member, two)
    expect(extensionsOf(refused)).toMatchObject([{ code: 'TOO_LARGE', limit: 'cost' }])
    const one = await ask(member, `mutation { ${rename('a')} }`)
    expect(one).toMatchObject({ data: { rename: { name: 'a' } } })
  })

  test.each([
    ['nobody, what is public', () => undefined, '{ echo(text: "a") }', undefined],
    ['nobody, what needs a scope', () => undefined, '{ secret }', 'UNAUTHENTICATED'],
    ['nobody, a scope inside what is public', () => undefined, PRICE, 'UNAUTHENTICATED'],
    ['a member, what needs read', () => member, '{ secret }', undefined],
    ['a member, what needs moderate', () => member, '{ staff }', 'FORBIDDEN'],
    ['a member, one field of many', () => member, '{ echo secret staff }', 'FORBIDDEN'],
    ['a reading token, a mutation', () => reader, `mutation { ${rename('a')} }`, 'FORBIDDEN'],
    ['a reading token, what needs read', () => reader, '{ secret }', undefined],
  ])('ACC-3: decides by scopes: %s', async (_case, who, query, code) => {
    const answer = await ask(who(), query)
    expect(extensionsOf(answer).map((each) => each?.['code'])).toEqual(code ? [code] : [])
    // Nothing of a refused document runs, not even what alone would be allowed.
    if (code) expect(answer.data ?? null).toBe(null)
  })

  test.each([
    ['an unknown field', '{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a fragment that holds itself',
      '{ ...f } fragment f on Query { ...f }',
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['introspection in production', '{ __schema { types { name } } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['no GraphQL', '{ echo', 'GRAPHQL_PARSE_FAILED'],
    ['two operations and no name', 'query a { echo } query b { echo }', 'BAD_INPUT'],
  ])('refuses %s', async (_case, query, code) => {
    const answer = await ask(undefined, query)
    expect(extensionsOf(answer).map((each) => each?.['code'])).toContain(code)
  })

  test('tells no name of the schema to who guesses', async () => {
    const { errors = [] } = await ask(undefined, '{ echoo }')
    expect(errors.map(({ message }) => message).join()).toContain('echoo')
    expect(errors.map(({ message }) => message).join()).not.toContain('Did you mean')
  })
})

const PRICE = '{ things(first: 1) { edges { node { price } } } }'
