/**
 * Who may ask for a field: deny, unless the schema states otherwise.
 *
 * A field of Query, Mutation or Subscription says `@needs(scope:)` or `@public`. So does every type
 * that an interface or a union can lead to, for all of its fields at once or field by field: through
 * `node(id:)` a caller reaches it without any other field's leave. All other types are parts of the
 * object that led to them and inherit its statement; they may ask for more. A schema that lacks a
 * statement cannot be built.
 */
import {
  type DirectiveNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  isUnionType,
  Kind,
} from 'graphql'
import { SCOPES, type Scope } from '../../services/accounts/accounts.ts'

export type Access = Scope | 'public'

const statementOf = (directives: readonly DirectiveNode[] | undefined): Access | undefined => {
  for (const { name, arguments: given } of directives ?? []) {
    if (name.value === 'public') return 'public'
    const scope = given?.find((argument) => argument.name.value === 'scope')?.value
    if (name.value === 'needs' && scope?.kind === Kind.ENUM) return scopeOf(scope.value)
  }
  return undefined
}

const scopeOf = (name: string): Scope => {
  const scope = SCOPES.find((each) => each.toUpperCase() === name)
  if (scope === undefined) throw new Error(`the schema names a scope ${name} that no token carries`)
  return scope
}

/** What a field states, itself or through its type; nothing for a part. */
export const accessOf = (
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
): Access | undefined =>
  statementOf(field.astNode?.directives) ?? statementOf(type.astNode?.directives)

/** Throws with every field that lacks its statement. */
export const checkAccess = (schema: GraphQLSchema): void => {
  const silent = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => mustState(schema, type))
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => accessOf(type, field) === undefined)
        .map((field) => `${type.name}.${field.name}`),
    )
  if (silent.length === 0) return
  throw new Error(`who may ask for these fields is not stated: ${silent.join(', ')}`)
}

const mustState = (schema: GraphQLSchema, type: GraphQLObjectType): boolean => {
  if (type.name.startsWith('__')) return false
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  return (
    roots.includes(type) || type.getInterfaces().length > 0 || isMemberOfUnion(schema, type.name)
  )
}

const isMemberOfUnion = (schema: GraphQLSchema, name: string): boolean =>
  Object.values(schema.getTypeMap())
    .filter(isUnionType)
    .some((union) => union.getTypes().some((member) => member.name === name))
