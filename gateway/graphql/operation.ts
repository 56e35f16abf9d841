/**
 * One operation of a document that has been parsed and validated: what it asks for (analysis.ts)
 * and how it is executed. It is interpreted the first time and compiled the second: compiling costs
 * milliseconds, and a document that never comes again is not worth them.
 */
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  type OperationDefinitionNode,
  subscribe,
  valueFromASTUntyped,
} from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'
import { type Analysis, analyse, type Variables } from './analysis.ts'
import type { RequestContext } from './context.ts'
import { neverNull } from './null-variables.ts'

export type ExecutorKind = 'jit' | 'graphql'

const COMPILED_FROM_CALL = 2

export interface OperationOptions {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly node: OperationDefinitionNode
  readonly executor: ExecutorKind
}

export class Operation {
  readonly document: DocumentNode
  readonly type: OperationDefinitionNode['operation']
  readonly name: string | undefined
  readonly analysis: Analysis
  /** Variables that cannot be null, whatever their type says. */
  readonly neverNull: ReadonlySet<string>
  /** Of its variables, as a client would send them. */
  readonly #defaults: Variables
  readonly #schema: GraphQLSchema
  readonly #executor: ExecutorKind
  #calls = 0
  #compiled: CompiledQuery | undefined

  constructor({ schema, document, node, executor }: OperationOptions) {
    this.document = document
    this.type = node.operation
    this.name = node.name?.value
    this.analysis = analyse(schema, document, node)
    this.neverNull = neverNull(schema, document, node)
    this.#defaults = defaultsOf(node)
    this.#schema = schema
    this.#executor = executor
  }

  get isCompiled(): boolean {
    return this.#compiled !== undefined
  }

  async execute(variables: Variables, context: RequestContext): Promise<ExecutionResult> {
    this.#calls += 1
    if (this.#executor === 'jit' && this.#calls === COMPILED_FROM_CALL) this.#compile()
    // The compiler overlooks the default of a variable that cannot be null.
    const all = { ...this.#defaults, ...variables }
    if (this.#compiled) return await this.#compiled.query(undefined, context, all)
    return await execute(this.#arguments(variables, context))
  }

  /** Subscriptions are interpreted: what they cost is the events, not the start. */
  subscribe(variables: Variables, context: RequestContext) {
    return subscribe(this.#arguments(variables, context))
  }

  /** What the compiler refuses stays interpreted. */
  #compile(): void {
    const compiled = compileQuery(this.#schema, this.document, this.name ?? '')
    if (isCompiledQuery(compiled)) this.#compiled = compiled
  }

  #arguments(variableValues: Variables, contextValue: RequestContext) {
    return {
      ...{ schema: this.#schema, document: this.document, variableValues, contextValue },
      ...(this.name === undefined ? {} : { operationName: this.name }),
    }
  }
}

const defaultsOf = ({ variableDefinitions = [] }: OperationDefinitionNode): Variables =>
  Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
    ),
  )
