/**
 * Documents, parsed and validated once and kept while they are in use. A document that is wrong is
 * not kept: it is as cheap to refuse again.
 */
import {
  GraphQLError,
  type GraphQLSchema,
  Kind,
  Lexer,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  Source,
  specifiedRules,
  TokenKind,
  validate,
} from 'graphql'
import { BadInputError } from '../../services/kernel/errors.ts'
import type { Values } from '../../services/kernel/settings.ts'
import type { Telemetry } from '../../services/platform/telemetry.ts'
import { LimitError } from './limit-error.ts'
import { Operation } from './operation.ts'
import type { graphqlSettings } from './settings.ts'
import { SizedLru } from './sized-lru.ts'

export const VALIDATION_ERRORS_MAX = 10

/** Memory of a document for each character of its text: 175 measured when parsed, 220 compiled. */
export const BYTES_PER_CHARACTER = 220

export type Prepared =
  | { readonly kind: 'ready'; readonly operations: ReadonlyMap<string, Operation> }
  | { readonly kind: 'invalid'; readonly errors: readonly GraphQLError[] }

export interface DocumentsOptions {
  readonly schema: GraphQLSchema
  readonly settings: Values<typeof graphqlSettings>
  readonly introspection: boolean
  readonly telemetry: Telemetry
}

export class Documents {
  readonly #own: DocumentsOptions
  readonly #kept: SizedLru<Prepared>

  constructor(options: DocumentsOptions) {
    const { settings, telemetry } = options
    this.#own = options
    this.#kept = new SizedLru(() => ({
      entriesMax: settings.documentsMax,
      bytesMax: settings.documentBytesMax,
    }))
    telemetry.gauge('tributary_graphql_documents', 'Documents kept parsed', {
      collect: (gauge) => gauge.set(this.#kept.size),
    })
  }

  prepare(source: string): Prepared {
    const kept = this.#kept.get(source)
    if (kept) return kept
    const prepared = this.#prepare(source)
    if (prepared.kind === 'ready') {
      this.#kept.set(source, prepared, source.length * BYTES_PER_CHARACTER)
    }
    return prepared
  }

  #prepare(source: string): Prepared {
    const { schema, introspection, settings } = this.#own
    try {
      checkTokens(source, settings.tokensMax)
      const document = parse(source)
      const rules = introspection
        ? specifiedRules
        : [...specifiedRules, NoSchemaIntrospectionCustomRule]
      const errors = validate(schema, document, rules, { maxErrors: VALIDATION_ERRORS_MAX })
      if (errors.length > 0) return invalid('GRAPHQL_VALIDATION_FAILED', errors)
      const nodes = document.definitions.filter(isOperation)
      const make = (node: OperationDefinitionNode) =>
        new Operation({ schema, document, node, executor: settings.executor })
      const operations = new Map(nodes.map((node) => [node.name?.value ?? '', make(node)]))
      return { kind: 'ready', operations }
    } catch (error) {
      if (error instanceof GraphQLError) return invalid('GRAPHQL_PARSE_FAILED', [error])
      throw error
    }
  }
}

/** The codes that Apollo gives them, on whatever way the document came. */
const invalid = (
  code: 'GRAPHQL_PARSE_FAILED' | 'GRAPHQL_VALIDATION_FAILED',
  errors: readonly GraphQLError[],
): Prepared => ({
  kind: 'invalid',
  errors: errors.map(
    (error) =>
      new GraphQLError(error.message, {
        ...(error.nodes ? { nodes: error.nodes } : {}),
        ...(error.source && error.positions
          ? { source: error.source, positions: error.positions }
          : {}),
        ...{ originalError: error, extensions: { code } },
      }),
  ),
})

const isOperation = (node: { readonly kind: string }): node is OperationDefinitionNode =>
  node.kind === Kind.OPERATION_DEFINITION

/** Counted before parsing, so that a flood of tokens has an error of its own. */
const checkTokens = (source: string, max: number): void => {
  const lexer = new Lexer(new Source(source))
  for (let count = 0; lexer.advance().kind !== TokenKind.EOF; count += 1) {
    if (count === max) throw new LimitError('tokens', { max })
  }
}

/** The operation of a document that a request means; refused when that is not clear. */
export const chooseOperation = (
  operations: ReadonlyMap<string, Operation>,
  name: string | undefined,
): Operation => {
  const [only, ...others] = operations.values()
  const chosen = name === undefined || name === '' ? only : operations.get(name)
  const field = 'operationName'
  if (!chosen) throw new BadInputError('the document has no such operation', { field })
  if (!name && others.length > 0) {
    throw new BadInputError('the document has several operations: name one', { field })
  }
  return chosen
}
