/** What the schema itself says of ids: which fields take one, and which lead from one thing to another. */
import {
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql'

/** The paths of an argument to every id in it: `id`, `input.postId`. */
const idsIn = (name: string, type: GraphQLInputType): readonly string[] => {
  const named = getNamedType(type)
  if (named.name === 'ID') return [name]
  if (!isInputObjectType(named)) return []
  return Object.values(named.getFields()).flatMap((field) =>
    idsIn(`${name}.${field.name}`, field.type),
  )
}

/** Every field that takes an id: `Query.post(id)`, `Mutation.like(input.postId)`. */
export const idTakingFields = (schema: GraphQLSchema): readonly string[] =>
  objectTypes(schema).flatMap((type) =>
    Object.values(type.getFields()).flatMap((field) =>
      field.args
        .flatMap((argument) => idsIn(argument.name, argument.type))
        .map((path) => `${type.name}.${field.name}(${path})`),
    ),
  )

/** Every field that leads to a thing of this type, directly or by a list. Payloads aside. */
export const fieldsLeadingTo = (schema: GraphQLSchema, target: string): readonly string[] =>
  objectTypes(schema)
    .filter(({ name }) => !/(Payload|Edge|Connection)$/.test(name))
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => leadsTo(schema, field.type, target))
        .map((field) => `${type.name}.${field.name}`),
    )

const leadsTo = (schema: GraphQLSchema, type: GraphQLOutputType, target: string): boolean => {
  const named = getNamedType(type)
  if (named.name === target) return true
  if (isInterfaceType(named)) {
    return schema.getPossibleTypes(named).some(({ name }) => name === target)
  }
  if (!isObjectType(named) || !/(Edge|Connection)$/.test(named.name)) return false
  return Object.values(named.getFields()).some((field) => leadsTo(schema, field.type, target))
}

const objectTypes = (schema: GraphQLSchema) =>
  Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => !name.startsWith('__'))
