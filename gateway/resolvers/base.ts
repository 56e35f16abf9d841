/** What every domain shares: scalars, and whatever has an id. */
import { GraphQLError, GraphQLScalarType, Kind } from 'graphql'
import type { Resolvers } from '../../schema/generated/resolvers-types.ts'
import { BadInputError } from '../../services/kernel/errors.ts'
import type { RequestContext } from '../graphql/context.ts'
import type { ApiModule, FoundNode, NodeReader } from '../graphql/schema.ts'
import { parseGlobalId } from '../relay/global-id.ts'

const IDS_MAX = 100
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

const parseMoment = (value: unknown): number => {
  const ms = typeof value === 'string' && ISO.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(ms)) throw new GraphQLError('a DateTime is like 2026-01-31T12:00:00.000Z')
  return ms
}

const DateTime = new GraphQLScalarType<number, string>({
  name: 'DateTime',
  serialize: (value) => new Date(value as number).toISOString(),
  parseValue: parseMoment,
  parseLiteral: (node) => parseMoment(node.kind === Kind.STRING ? node.value : undefined),
})

const parseText = (value: unknown): string => {
  if (typeof value === 'string') return value
  throw new GraphQLError('a Cursor is text')
}

const Cursor = new GraphQLScalarType<string, string>({
  name: 'Cursor',
  serialize: String,
  parseValue: parseText,
  parseLiteral: (node) => parseText(node.kind === Kind.STRING ? node.value : undefined),
})

const readNothing: NodeReader = async () => undefined

/** `node` and `nodes` over the readers of all modules; an id of no known type names nothing. */
export const baseModule = (modules: readonly ApiModule[]): ApiModule => {
  const readers = new Map<string, NodeReader>(
    modules.flatMap(({ nodes = {} }) => Object.entries(nodes)),
  )
  const find = async (text: string, context: RequestContext, field: string) => {
    const { type, id } = parseGlobalId(text, field)
    const read: NodeReader = readers.get(type) ?? readNothing
    const found: FoundNode | undefined = await read(id, context)
    return found ?? null
  }
  const resolvers = {
    DateTime,
    Cursor,
    Node: { __resolveType: ({ __typename }: { readonly __typename: string }) => __typename },
    Query: {
      node: (_root, { id }, context) => find(id, context, 'id'),
      nodes: (_root, { ids }, context) =>
        Promise.all(checkIds(ids).map((id) => find(id, context, 'ids'))),
    },
  } satisfies Pick<Resolvers, 'Query' | 'DateTime' | 'Cursor'> & { Node: unknown }
  return { resolvers }
}

const checkIds = (ids: readonly string[]): readonly string[] => {
  if (ids.length <= IDS_MAX) return ids
  throw new BadInputError(`ask for ${IDS_MAX} ids at most`, { field: 'ids' })
}
