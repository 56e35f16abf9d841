/**
 * Variables that may not be null where they stand, though their own type allows it: validation
 * accepts `($n: Int = 3) { list(first: $n) }` for `first: Int!` because of the default, and null is
 * found out only while executing, where it looks like a fault of ours. So it is refused before.
 */
import {
  type DocumentNode,
  type GraphQLSchema,
  isNonNullType,
  type OperationDefinitionNode,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { BadInputError } from '../../services/kernel/errors.ts'
import type { Variables } from './analysis.ts'

export const neverNull = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): ReadonlySet<string> => {
  const names = new Set<string>()
  const types = new TypeInfo(schema)
  const visitor = visitWithTypeInfo(types, {
    Variable: ({ name }) => {
      if (isNonNullType(types.getInputType())) names.add(name.value)
    },
  })
  const own = separateOperations(document)[operation.name?.value ?? '']
  if (own) visit(own, visitor)
  return names
}

export const checkNulls = (names: ReadonlySet<string>, variables: Variables): void => {
  for (const name of names) {
    if (variables[name] !== null) continue
    throw new BadInputError(`the variable $${name} cannot be null here`, { field: name })
  }
}
