/**
 * What an operation asks for, found by walking it once: how deep it goes, how many fields and
 * aliases it has with its fragments written out, which fields these are and which scopes they need,
 * and what it costs.
 *
 * The cost counts objects: one for each field with fields of its own, times the sizes of the lists
 * around it. A list is as long as its `first`, or the number of its `ids`; without either a small
 * size is assumed. A connection hands its `first` down to the list inside it. Sizes may be
 * variables, so the cost is a function of them; everything else is known from the document.
 *
 * Fragments are walked once each, however often they are spread: a document whose fragments double
 * at each level is measured in linear time, and refused by its number of fields before its cost is
 * ever computed.
 */
import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql'
import type { Scope } from '../../services/accounts/accounts.ts'
import { accessOf } from './access.ts'

export type Variables = Readonly<Record<string, unknown>>

/** `listSize`: how long the list is that the field around this one asked for. */
type Cost = (variables: Variables, listSize: number | undefined) => number

interface Shape {
  readonly depth: number
  readonly fields: number
  readonly aliases: number
  readonly scopes: ReadonlySet<Scope>
  /** Every field anywhere in it, as `Type.field`. */
  readonly asked: ReadonlySet<string>
  readonly cost: Cost
}

export interface Analysis extends Omit<Shape, 'cost'> {
  /** Every root field of a mutation counts `mutationCost` more. */
  readonly cost: (variables: Variables, mutationCost: number) => number
}

/** Of a list that says no size. */
const LIST_SIZE_ASSUMED = 10
/** Of a page when the client leaves `first` to us and the schema states no default. */
const PAGE_SIZE_ASSUMED = 20

const NOTHING: Shape = {
  ...{ depth: 0, fields: 0, aliases: 0 },
  ...{ scopes: new Set(), asked: new Set() },
  cost: () => 0,
}

export const analyse = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Analysis => {
  const root = schema.getRootType(operation.operation)
  if (!root) return { ...NOTHING, cost: () => 0 }
  const defaults = variableDefaults(operation)
  const shape = new Walk(schema, document).selection(operation.selectionSet, root)
  const mutations =
    operation.operation === 'mutation' ? operation.selectionSet.selections.length : 0
  return {
    ...shape,
    cost: (variables, mutationCost) =>
      shape.cost({ ...defaults, ...variables }, undefined) + mutations * mutationCost,
  }
}

const variableDefaults = ({ variableDefinitions = [] }: OperationDefinitionNode): Variables =>
  Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, plain(defaultValue)]] : [],
    ),
  )

class Walk {
  readonly #schema: GraphQLSchema
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #walked = new Map<string, Shape>()

  constructor(schema: GraphQLSchema, document: DocumentNode) {
    this.#schema = schema
    this.#fragments = new Map(
      document.definitions.flatMap((node) =>
        node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [],
      ),
    )
  }

  selection({ selections }: SelectionSetNode, parent: GraphQLCompositeType): Shape {
    return selections.map((node) => this.#one(node, parent)).reduce(together, NOTHING)
  }

  #one(node: SelectionNode, parent: GraphQLCompositeType): Shape {
    if (node.kind === Kind.FIELD) return this.#field(node, parent)
    if (node.kind === Kind.FRAGMENT_SPREAD) return this.#fragment(node.name.value)
    const name = node.typeCondition?.name.value
    return this.selection(node.selectionSet, name === undefined ? parent : this.#type(name))
  }

  #fragment(name: string): Shape {
    const known = this.#walked.get(name)
    if (known) return known
    const fragment = this.#fragments.get(name)
    if (!fragment) return NOTHING
    const type = this.#type(fragment.typeCondition.name.value)
    const shape = this.selection(fragment.selectionSet, type)
    this.#walked.set(name, shape)
    return shape
  }

  /** Fields of introspection are free: where they are allowed they are a developer's. */
  #field(node: FieldNode, parent: GraphQLCompositeType): Shape {
    const name = node.name.value
    const aliases = node.alias ? 1 : 0
    if (name.startsWith('__')) return { ...NOTHING, fields: 1, aliases }
    const owners = this.#owners(parent, name)
    const [first] = owners
    if (!first) return NOTHING
    const type = getNamedType(first.field.type)
    const inner = node.selectionSet && isCompositeType(type)
    const child = inner ? this.selection(node.selectionSet, type) : undefined
    return {
      depth: 1 + (child?.depth ?? 0),
      fields: 1 + (child?.fields ?? 0),
      aliases: aliases + (child?.aliases ?? 0),
      scopes: new Set([...owners.flatMap(scopesOf), ...(child?.scopes ?? [])]),
      asked: new Set([
        ...owners.map((owner) => `${owner.type.name}.${name}`),
        ...(child?.asked ?? []),
      ]),
      cost: child ? costOf(node, first.field, child.cost) : () => 0,
    }
  }

  /** A field of an interface is a field of each type behind it, which may need more. */
  #owners(parent: GraphQLCompositeType, name: string): readonly Owner[] {
    const types = isAbstractType(parent) ? this.#schema.getPossibleTypes(parent) : [parent]
    return types.flatMap((type) => {
      const field = isObjectType(type) ? type.getFields()[name] : undefined
      return field && isObjectType(type) ? [{ type, field }] : []
    })
  }

  #type(name: string): GraphQLCompositeType {
    const type = this.#schema.getType(name)
    if (isCompositeType(type)) return type
    throw new Error(`a valid document selects from ${name}, which has no fields`)
  }
}

interface Owner {
  readonly type: GraphQLObjectType
  readonly field: GraphQLField<unknown, unknown>
}

const scopesOf = ({ type, field }: Owner): readonly Scope[] => {
  const access = accessOf(type, field)
  return access === undefined || access === 'public' ? [] : [access]
}

const together = (a: Shape, b: Shape): Shape => ({
  depth: Math.max(a.depth, b.depth),
  fields: a.fields + b.fields,
  aliases: a.aliases + b.aliases,
  scopes: new Set([...a.scopes, ...b.scopes]),
  asked: new Set([...a.asked, ...b.asked]),
  cost: (variables, listSize) => a.cost(variables, listSize) + b.cost(variables, listSize),
})

const costOf = (node: FieldNode, field: GraphQLField<unknown, unknown>, child: Cost): Cost => {
  const size = sizeOf(node, field)
  const type = isNonNullType(field.type) ? field.type.ofType : field.type
  if (isListType(type)) {
    return (variables, listSize) =>
      (size?.(variables) ?? listSize ?? LIST_SIZE_ASSUMED) * (1 + child(variables, undefined))
  }
  return (variables) => 1 + child(variables, size?.(variables))
}

type Size = (variables: Variables) => number

const sizeOf = (node: FieldNode, field: GraphQLField<unknown, unknown>): Size | undefined => {
  const definition = field.args.find(({ name }) => name === 'first' || name === 'ids')
  if (!definition) return undefined
  const fallback = countOf(definition.defaultValue, PAGE_SIZE_ASSUMED)
  const given = node.arguments?.find(({ name }) => name.value === definition.name)
  return given ? givenSize(given, fallback) : () => fallback
}

const givenSize = ({ value }: ArgumentNode, fallback: number): Size => {
  if (value.kind === Kind.VARIABLE) {
    const name = value.name.value
    return (variables) => countOf(variables[name], fallback)
  }
  const size = countOf(plain(value), fallback)
  return () => size
}

/** What is no count is refused when the argument is read; until then it counts as the usual. */
const countOf = (value: unknown, fallback: number): number => {
  if (Array.isArray(value)) return value.length
  return typeof value === 'number' && value >= 0 ? value : fallback
}

const plain = (value: ValueNode): unknown => {
  if (value.kind === Kind.INT) return Number(value.value)
  return value.kind === Kind.LIST ? value.values : undefined
}
