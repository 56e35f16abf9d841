import {
  buildSchema as buildPlain,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { buildSchema } from '../../../gateway/graphql/schema.ts'
import { baseModule } from '../../../gateway/resolvers/base.ts'
import { apiModules } from '../../../gateway/resolvers/roster.ts'
import { typeDefs } from '../../../schema/generated/type-defs.ts'
import { gatewayExtension } from '../../kit/gateway-extension.ts'

const build = (more: string, resolvers: Record<string, object> = {}) =>
  buildSchema(`${typeDefs}${more}`, [baseModule(apiModules), ...apiModules, { resolvers }])

const answering = { resolve: () => null }

interface Described {
  readonly name: string
  readonly description?: string | null | undefined
}

/** The parts of a type that a reader of the schema looks for, each with its path. */
const partsOf = (type: GraphQLNamedType): readonly (readonly [path: string, Described])[] => {
  if (isEnumType(type))
    return type.getValues().map((value) => [`${type.name}.${value.name}`, value])
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return []
  return Object.values(type.getFields()).flatMap((field) => {
    const path = `${type.name}.${field.name}`
    const given: readonly Described[] = 'args' in field ? field.args : []
    return [
      [path, field] as const,
      ...given.map((argument) => [`${path}(${argument.name})`, argument] as const),
    ]
  })
}

const undescribed = (sdl: string): string[] => {
  const schema = buildPlain(sdl)
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))
  const all: readonly (readonly [string, Described])[] = [
    ...schema.getDirectives().map((directive) => [directive.name, directive] as const),
    ...types.flatMap((type) => [[type.name, type] as const, ...partsOf(type)]),
  ]
  return all.filter(([, { description }]) => !description).map(([path]) => path)
}

describe('the schema', () => {
  test('describes every type, field, argument and value', () => {
    expect(undescribed(typeDefs)).toEqual([])
    const bare = 'extend type Query { open(wide: Int): Gap } enum Gap { A } input In { b: Int }'
    expect(undescribed(`${typeDefs}${bare}`)).toEqual(
      expect.arrayContaining(['Query.open', 'Query.open(wide)', 'Gap', 'Gap.A', 'In', 'In.b']),
    )
  })

  test('the product builds, and so does the part that tests add', () => {
    const { typeDefs: more, module } = gatewayExtension()
    expect(() => build('')).not.toThrow()
    expect(() =>
      buildSchema(`${typeDefs}${more}`, [baseModule([module]), ...apiModules, module]),
    ).not.toThrow()
  })

  test('ACC-3: a root field that does not say who may ask for it fails the build', () => {
    const resolvers = { Query: { open: answering } }
    expect(() => build('extend type Query { open: Int }', resolvers)).toThrow(
      'is not stated: Query.open',
    )
    expect(() => build('extend type Query { open: Int @public }', resolvers)).not.toThrow()
  })

  test('ACC-3: a type behind an interface or a union states it as well, whole or field by field', () => {
    const thing = 'type Thing implements Node'
    expect(() => build(`${thing} { id: ID! }`)).toThrow('Thing.id')
    expect(() => build(`${thing} { id: ID! @public, price: Int }`)).toThrow('Thing.price')
    expect(() => build(`${thing} @public { id: ID!, price: Int }`)).not.toThrow()
    const union =
      'union Found = Found1 | Found2 type Found1 { a: Int } type Found2 @public { b: Int }'
    expect(() => build(union)).toThrow('Found1.a')
  })

  test('a scope that no token carries fails the build', () => {
    const more = 'extend enum Scope { FLY } extend type Query { open: Int @needs(scope: FLY) }'
    expect(() => build(more, { Query: { open: answering } })).toThrow('FLY')
  })

  test.each([
    ['without a definition', '', { Query: { unknown: answering } }, 'Query.unknown has a resolver'],
    ['of an unknown type', '', { Unknown: { field: answering } }, 'Unknown.field has a resolver'],
    ['twice', '', { Query: { node: answering } }, 'Query.node has two resolvers'],
    ['missing', 'extend type Query { open: Int @public }', {}, 'no resolver: Query.open'],
  ])('a resolver %s fails the build', (_case, more, resolvers, message) => {
    expect(() => build(more, resolvers)).toThrow(message)
  })
})
