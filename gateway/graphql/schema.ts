/**
 * The executable schema: the type definitions with the resolvers of every module attached. A
 * resolver without a field, two for one field, a root field without a resolver, and a field that
 * does not say who may ask for it (access.ts) are refused here, before the program serves.
 */
import {
  assertValidSchema,
  buildASTSchema,
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLScalarType,
  type GraphQLSchema,
  GraphQLUnionType,
  parse,
} from 'graphql'
import { checkAccess } from './access.ts'
import type { RequestContext } from './context.ts'

/** Resolvers by type and field; the generated `Resolvers` says which fit. */
export type ResolverMap = Readonly<Record<string, unknown>>

/** Reads what an id of one type names; nothing when the caller may not see it. */
export type NodeReader = (id: bigint, context: RequestContext) => Promise<FoundNode | undefined>

/** What `node` found: a service's object, and its type in the schema. */
export interface FoundNode {
  readonly __typename: string
}

/** What one domain adds to the API: one file of `gateway/resolvers/`. */
export interface ApiModule {
  readonly resolvers: ResolverMap
  /** By the name of the type that implements Node. */
  readonly nodes?: Readonly<Record<string, NodeReader>>
}

export const buildSchema = (typeDefs: string, modules: readonly ApiModule[]): GraphQLSchema => {
  const schema = buildASTSchema(parse(typeDefs))
  const taken = new Set<string>()
  for (const { resolvers } of modules) {
    for (const [typeName, resolver] of Object.entries(resolvers)) {
      attach(schema, typeName, resolver, taken)
    }
  }
  assertValidSchema(schema)
  checkRoots(schema)
  checkAccess(schema)
  return schema
}

const attach = (
  schema: GraphQLSchema,
  typeName: string,
  resolver: unknown,
  taken: Set<string>,
): void => {
  const type = schema.getType(typeName)
  if (type instanceof GraphQLScalarType && resolver instanceof GraphQLScalarType) {
    const { serialize, parseValue, parseLiteral } = resolver
    Object.assign(type, { serialize, parseValue, parseLiteral })
    return
  }
  if (typeof resolver !== 'object' || resolver === null) {
    throw new Error(`the resolvers of ${typeName} are no object`)
  }
  for (const [name, value] of Object.entries(resolver)) {
    const path = `${typeName}.${name}`
    if (taken.has(path)) throw new Error(`${path} has two resolvers`)
    taken.add(path)
    if (!attachOne(type, name, value)) throw new Error(`${path} has a resolver, but no definition`)
  }
}

const attachOne = (type: unknown, name: string, value: unknown): boolean => {
  if (name === '__resolveType') {
    const abstract = type instanceof GraphQLInterfaceType || type instanceof GraphQLUnionType
    if (abstract) Object.assign(type, { resolveType: value })
    return abstract
  }
  const field = type instanceof GraphQLObjectType ? type.getFields()[name] : undefined
  if (!field) return false
  Object.assign(field, typeof value === 'function' ? { resolve: value } : value)
  return true
}

/** A root has no object to read a field from: without a resolver the answer is always null. */
const checkRoots = (schema: GraphQLSchema): void => {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const missing = roots.flatMap((root) =>
    Object.values(root?.getFields() ?? {})
      .filter(({ resolve, subscribe }) => !resolve && !subscribe)
      .map(({ name }) => `${root?.name}.${name}`),
  )
  if (missing.length > 0) throw new Error(`these have no resolver: ${missing.join(', ')}`)
}
