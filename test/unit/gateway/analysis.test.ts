import { buildSchema, type OperationDefinitionNode, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { analyse } from '../../../gateway/graphql/analysis.ts'
import { typeDefs } from '../../../schema/generated/type-defs.ts'
import { gatewayExtension } from '../../kit/gateway-extension.ts'

const schema = buildSchema(`${typeDefs}${gatewayExtension().typeDefs}`)

const of = (text: string) => {
  const document = parse(text)
  return analyse(schema, document, document.definitions[0] as OperationDefinitionNode)
}
const cost = (text: string, variables = {}) => of(text).cost(variables, 1_000)

/** The same shape, twice as large at each level. */
const doubling = (levels: number): string =>
  `{ tree { ...f0 } } ${Array.from(
    { length: levels },
    (_, level) =>
      `fragment f${level} on Tree { a: child { ...f${level + 1} } b: child { ...f${level + 1} } }`,
  ).join(' ')} fragment f${levels} on Tree { leaf }`

describe('the analysis of an operation', () => {
  test.each([
    ['a leaf costs nothing', '{ echo }', 0],
    ['an object is one', '{ tree { leaf } }', 1],
    ['a list without a size counts ten', '{ tree { children { leaf } } }', 11],
    ['lists multiply', '{ tree { children { children { leaf } } } }', 1 + 10 * (1 + 10)],
    [
      'a connection hands its size down',
      '{ things(first: 3) { edges { node { id } } } }',
      1 + 3 * 2,
    ],
    ['but only to its list', '{ things(first: 50) { pageInfo { endCursor } } }', 2],
    ['a default is a size', '{ things { edges { cursor } } }', 1 + 10],
    ['ids are counted', '{ nodes(ids: ["a", "b", "c"]) { id } }', 3],
    ['fragments count where they stand', '{ ...f } fragment f on Query { tree { leaf } }', 1],
    ['a mutation counts more', 'mutation { rename(input: { name: "a" }) { name } }', 1_001],
  ])('%s', (_fact, text, expected) => {
    expect(cost(text)).toBe(expected)
  })

  test.each([
    ['a variable', { n: 5 }, 6],
    ['a variable left out', {}, 8],
    ['no number, which is refused later', { n: 'x' }, 11],
    ['a negative one, which is refused later', { n: -5 }, 11],
    ['a huge one', { n: 1e9 }, 1e9 + 1],
  ])('a size is %s', (_case, variables, expected) => {
    const text = 'query ($n: Int! = 7) { things(first: $n) { edges { cursor } } }'
    expect(cost(text, variables)).toBe(expected)
  })

  test('depth, fields and aliases are counted through fragments', () => {
    const text =
      '{ tree { ...f } } fragment f on Tree { a: child { b: leaf } ... on Tree { leaf } }'
    expect(of(text)).toMatchObject({ depth: 3, fields: 4, aliases: 2 })
  })

  test('fragments that double are measured without being written out', () => {
    expect(of(doubling(60)).fields).toBeGreaterThan(2 ** 60)
  })

  test('scopes are those of all fields, however they are reached', () => {
    const scopes = (text: string) => [...of(text).scopes]
    expect(scopes('{ echo }')).toEqual([])
    expect(scopes('{ secret staff }')).toEqual(['read', 'moderate'])
    expect(scopes('{ ... @skip(if: true) { secret } }')).toEqual(['read'])
    expect(scopes('{ node(id: "a") { ... on Thing { price } } }')).toEqual(['read'])
    expect(scopes('{ node(id: "a") { ...f } } fragment f on Thing { price }')).toEqual(['read'])
    expect(scopes('{ node(id: "a") { id } }')).toEqual([])
  })

  test('a field of an interface needs what any type behind it needs', () => {
    const more = buildSchema(`
      directive @needs(scope: Scope!) on FIELD_DEFINITION | OBJECT
      enum Scope { READ ADMIN }
      interface Shape { area: Int }
      type Circle implements Shape { area: Int }
      type Square implements Shape { area: Int @needs(scope: ADMIN) }
      type Query { shape: Shape }`)
    const document = parse('{ shape { area } }')
    const [operation] = document.definitions
    const { scopes } = analyse(more, document, operation as OperationDefinitionNode)
    expect([...scopes]).toEqual(['admin'])
  })

  test('introspection is free', () => {
    expect(of('{ __schema { types { name } } __typename }')).toMatchObject({ depth: 0 })
    expect(cost('{ __schema { types { name } } }')).toBe(0)
  })
})
