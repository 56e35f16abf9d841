/**
 * The one way to an execution, whatever brought the request: HTTP, a WebSocket, server-sent events.
 *
 * `admit` decides on the document as a whole before anything of it runs: tokens, depth, fields,
 * aliases, cost, and the scopes of every field in it. Only what it hands out can be executed, so no
 * transport can forget a check.
 */
import type { ExecutionResult, GraphQLError } from 'graphql'
import type { Viewer } from '../../services/accounts/accounts.ts'
import {
  assert,
  ForbiddenError,
  OverloadedError,
  UnauthenticatedError,
} from '../../services/kernel/errors.ts'
import type { Values } from '../../services/kernel/settings.ts'
import type { Telemetry } from '../../services/platform/telemetry.ts'
import type { ErrorPresenter } from '../errors.ts'
import type { Variables } from './analysis.ts'
import type { RequestContext } from './context.ts'
import { chooseOperation, type Documents } from './documents.ts'
import { LimitError } from './limit-error.ts'
import { checkNulls } from './null-variables.ts'
import type { Operation } from './operation.ts'
import type { graphqlSettings } from './settings.ts'

export interface OperationRequest {
  readonly query: string
  readonly operationName?: string | undefined
  readonly variables?: Variables | undefined
}

/** An operation that may run, once for each call, for the caller it was admitted for. */
export interface Admitted {
  readonly operation: Operation
  readonly variables: Variables
}

export type Admission =
  | { readonly kind: 'admitted'; readonly admitted: Admitted }
  | { readonly kind: 'invalid'; readonly errors: readonly GraphQLError[] }

export interface OperationsOptions {
  readonly documents: Documents
  readonly presenter: ErrorPresenter
  readonly settings: Values<typeof graphqlSettings>
  readonly telemetry: Telemetry
}

export class Operations {
  readonly #documents: Documents
  readonly #presenter: ErrorPresenter
  readonly #settings: Values<typeof graphqlSettings>
  readonly #telemetry: Telemetry
  readonly #metrics
  #inFlight = 0

  constructor({ documents, presenter, settings, telemetry }: OperationsOptions) {
    this.#documents = documents
    this.#presenter = presenter
    this.#settings = settings
    this.#telemetry = telemetry
    this.#metrics = metricsOf(telemetry, () => this.#inFlight)
  }

  /** Throws a domain error for what is refused; a document that is wrong comes back as it is. */
  admit(request: OperationRequest, viewer: Viewer | undefined): Admission {
    try {
      return this.#admit(request, viewer)
    } catch (error) {
      if (error instanceof LimitError) this.#metrics.refused.inc({ limit: error.details.limit })
      throw error
    }
  }

  async execute(
    { operation, variables }: Admitted,
    context: RequestContext,
  ): Promise<ExecutionResult> {
    const { type } = operation
    assert(type !== 'subscription', 'a subscription is subscribed to')
    const stop = this.#metrics.duration.startTimer({ type })
    this.#inFlight += 1
    try {
      const attributes = attributesOf(operation)
      const result = await this.#telemetry.span(type, { attributes }, async () => {
        const executed = await operation.execute(variables, context)
        // Here, and not when the answer is written: the client is told the id of this trace.
        for (const error of executed.errors ?? []) this.#presenter.present(error)
        return executed
      })
      stop({ outcome: result.errors ? 'error' : 'ok' })
      return result
    } catch (error) {
      stop({ outcome: 'error' })
      throw error
    } finally {
      this.#inFlight -= 1
    }
  }

  subscribe({ operation, variables }: Admitted, context: RequestContext) {
    const attributes = attributesOf(operation)
    return this.#telemetry.span('subscription', { attributes }, async () =>
      operation.subscribe(variables, context),
    )
  }

  #admit(request: OperationRequest, viewer: Viewer | undefined): Admission {
    const { query, operationName, variables = {} } = request
    if (this.#inFlight >= this.#settings.inFlightMax)
      throw new OverloadedError('too much under way')
    const prepared = this.#documents.prepare(query)
    if (prepared.kind === 'invalid') return prepared
    const operation = chooseOperation(prepared.operations, operationName)
    this.#checkLimits(operation, variables)
    checkScopes(operation, viewer)
    checkNulls(operation.neverNull, variables)
    return { kind: 'admitted', admitted: { operation, variables } }
  }

  #checkLimits({ analysis }: Operation, variables: Variables): void {
    const { depthMax, fieldsMax, aliasesMax, costMax, mutationCost } = this.#settings
    check('depth', analysis.depth, depthMax)
    check('fields', analysis.fields, fieldsMax)
    check('aliases', analysis.aliases, aliasesMax)
    check('cost', analysis.cost(variables, mutationCost), costMax)
  }
}

const check = (limit: LimitError['details']['limit'], found: number, max: number): void => {
  if (found > max) throw new LimitError(limit, { max, found })
}

const checkScopes = ({ analysis }: Operation, viewer: Viewer | undefined): void => {
  for (const scope of analysis.scopes) {
    if (!viewer) throw new UnauthenticatedError('sign in first: send `Authorization: Bearer …`')
    if (!viewer.scopes.has(scope)) {
      throw new ForbiddenError(`this needs the scope ${scope}, which your token does not carry`)
    }
  }
}

/** The name is the client's choice: for a trace, never for a metric. */
const attributesOf = ({ type, name }: Operation) => ({
  'graphql.operation.type': type,
  ...(name === undefined ? {} : { 'graphql.operation.name': name.slice(0, 100) }),
})

const metricsOf = (telemetry: Telemetry, inFlight: () => number) => {
  telemetry.gauge('tributary_graphql_in_flight', 'Operations under way', {
    collect: (gauge) => gauge.set(inFlight()),
  })
  return {
    duration: telemetry.duration(
      'tributary_graphql_operation_seconds',
      'Time an operation took, by its type',
      ['type', 'outcome'],
    ),
    refused: telemetry.counter('tributary_graphql_refused_total', 'Operations refused by a limit', [
      'limit',
    ]),
  }
}
