/** A small part of a schema with everything the gateway has to deal with, for tests of the gateway. */

import type { RequestContext } from '../../gateway/graphql/context.ts'
import { viewerOf } from '../../gateway/graphql/context.ts'
import type { ApiModule } from '../../gateway/graphql/schema.ts'
import { connect } from '../../gateway/relay/connection.ts'
import { toGlobalId } from '../../gateway/relay/global-id.ts'
import { mutation } from '../../gateway/resolvers/mutation.ts'
import { typeDefs as product } from '../../schema/generated/type-defs.ts'
import {
  BadInputError,
  ConflictError,
  DamagedError,
  OutcomeUnknownError,
  UnavailableError,
} from '../../services/kernel/errors.ts'
import type { Page, PageRequest } from '../../services/kernel/page.ts'

/** A root type may be the product's by now. */
const root = (name: string): string =>
  product.includes(`\ntype ${name} {`) ? `extend type ${name}` : `type ${name}`

const typeDefs = `
${root('Query')} {
  echo(text: String, at: DateTime): String @public
  secret: String @needs(scope: READ)
  staff: String @needs(scope: MODERATE)
  failing: String @public
  hole: Whole @public
  refusing(code: String!): String @public
  tree: Tree @public
  things(first: Int! = 10, after: Cursor): ThingConnection! @public
  gated: Int! @public
}
${root('Mutation')} {
  rename(input: RenameInput!): RenamePayload! @needs(scope: WRITE)
}
${root('Subscription')} {
  count(to: Int!): Int! @public
  never: Int! @public
  secretCount: Int! @needs(scope: READ)
}
type Whole { part: String! }
type Tree { child: Tree, children: [Tree!]!, leaf: Int }
type Thing implements Node @public { id: ID!, name: String!, price: Int @needs(scope: READ) }
type ThingConnection { edges: [ThingEdge!]!, pageInfo: PageInfo! }
type ThingEdge { node: Thing!, cursor: Cursor! }
input RenameInput { name: String! }
type RenamePayload { name: String, userErrors: [UserError!]! }
`

const BASE = 1n << 62n
const things = Array.from({ length: 25 }, (_, index) => ({
  id: BASE + BigInt(index),
  name: `thing ${index}`,
}))
type Thing = (typeof things)[number]

const readThings = async ({ first, after }: PageRequest): Promise<Page<Thing>> => {
  const from = after === undefined ? 0 : Number(after) + 1
  const items = things.slice(from, from + first)
  const last = from + items.length - 1
  return { items, ...(last < things.length - 1 ? { next: String(last) } : {}) }
}

const REFUSALS: Readonly<Record<string, () => Error>> = {
  BAD_INPUT: () => new BadInputError('not like this', { field: 'code' }),
  UNAVAILABLE: () => new UnavailableError('no answer from 10.0.0.7:9042'),
  OUTCOME_UNKNOWN: () => new OutcomeUnknownError('no answer from 10.0.0.7:9042'),
  DAMAGED: () => new DamagedError('row 7 of claims'),
}

const refuse = (code: string): never => {
  throw REFUSALS[code]?.() ?? new Error(`no refusal ${code}`)
}

async function* counting(to: number) {
  for (let each = 1; each <= to; each += 1) yield each
}

/** Resolves when the caller goes. */
async function* waiting(gone: () => void) {
  try {
    await new Promise(() => undefined)
    yield 0
  } finally {
    gone()
  }
}

export interface TestGate {
  /** Operations that wait in `gated`. */
  readonly waiting: (() => void)[]
}

export const gatewayExtension = (gate: TestGate = { waiting: [] }) => ({
  typeDefs,
  module: {
    nodes: {
      Thing: async (id) => {
        const thing = things.find((each) => each.id === id)
        return thing && { ...thing, __typename: 'Thing' }
      },
    },
    resolvers: {
      Query: {
        echo: (_root: unknown, { text, at }: { text?: string; at?: number }) => text ?? String(at),
        secret: (_root: unknown, _args: unknown, context: RequestContext) =>
          `of ${viewerOf(context).accountId}`,
        staff: () => 'only',
        failing: () => {
          throw new TypeError('connect to 10.0.0.7 failed: password hunter2')
        },
        hole: () => ({ part: null }),
        refusing: (_root: unknown, { code }: { code: string }) => refuse(code),
        tree: () => ({ child: null, children: [], leaf: 1 }),
        things: (
          _root: unknown,
          args: { first: number; after?: string | null },
          { cursors }: RequestContext,
        ) =>
          connect(
            cursors,
            {
              list: 'things',
              read: readThings,
              positionOf: (thing) => String(things.indexOf(thing)),
            },
            args,
          ),
        gated: () =>
          new Promise((resolve) => {
            gate.waiting.push(() => resolve(1))
          }),
      },
      Mutation: {
        rename: mutation(async ({ name }: { name: string }) => {
          if (name === 'taken') throw new ConflictError('this name is taken', { field: 'name' })
          if (name === 'away') throw new UnavailableError('no answer from 10.0.0.7:9042')
          return { name }
        }),
      },
      Subscription: {
        count: {
          subscribe: (_root: unknown, { to }: { to: number }) => counting(to),
          resolve: (value: number) => value,
        },
        never: { subscribe: () => waiting(() => undefined), resolve: (value: number) => value },
        secretCount: { subscribe: () => counting(1), resolve: (value: number) => value },
      },
      Thing: {
        id: ({ id }: Thing) => toGlobalId('Thing', id),
        price: () => 7,
      },
    },
  } satisfies ApiModule,
})
