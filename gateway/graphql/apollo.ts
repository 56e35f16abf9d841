/**
 * Apollo Server as the host of the HTTP protocol: methods, content negotiation, the guard against
 * cross-site requests, the shape of answers. What is executed and what a client is told of an error
 * is ours, the same as on a socket.
 *
 * Admission happens while Apollo makes the context of a request: that is after its guard and before
 * anything else, and an error there becomes the answer with its status. A document found to be
 * wrong is left to Apollo, which parses it again and reports every fault.
 */
import {
  ApolloServer,
  type ApolloServerPlugin,
  HeaderMap,
  type HTTPGraphQLRequest,
  type HTTPGraphQLResponse,
} from '@apollo/server'
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled'
import type { GraphQLSchema } from 'graphql'
import type { Viewer } from '../../services/accounts/accounts.ts'
import { assert, BadInputError, DomainError } from '../../services/kernel/errors.ts'
import type { Telemetry } from '../../services/platform/telemetry.ts'
import { type ErrorPresenter, requestError } from '../errors.ts'
import type { ContextOpener, RequestContext } from './context.ts'
import { VALIDATION_ERRORS_MAX } from './documents.ts'
import type { Admitted, OperationRequest, Operations } from './operations.ts'

interface HttpContext {
  readonly request: RequestContext
  /** Nothing when the document is wrong. */
  readonly admitted: Admitted | undefined
}

export interface ApolloOptions {
  readonly schema: GraphQLSchema
  readonly operations: Operations
  readonly presenter: ErrorPresenter
  readonly introspection: boolean
  readonly telemetry: Telemetry
  readonly openContext: ContextOpener
}

export class Apollo implements AsyncDisposable {
  readonly #own: ApolloOptions
  readonly #server: ApolloServer<HttpContext>

  private constructor(options: ApolloOptions) {
    const { schema, presenter, introspection, telemetry } = options
    this.#own = options
    this.#server = new ApolloServer<HttpContext>({
      schema,
      introspection,
      documentStore: null,
      persistedQueries: false,
      includeStacktraceInErrorResponses: false,
      stopOnTerminationSignals: false,
      nodeEnv: 'production',
      validationOptions: { maxErrors: VALIDATION_ERRORS_MAX },
      formatError: (_formatted, error) => presenter.present(error),
      logger: loggerOf(telemetry),
      plugins: [
        ApolloServerPluginCacheControlDisabled(),
        ApolloServerPluginLandingPageDisabled(),
        executing(options),
      ],
    })
  }

  static async start(options: ApolloOptions): Promise<Apollo> {
    const apollo = new Apollo(options)
    await apollo.#server.start()
    return apollo
  }

  answer(
    httpGraphQLRequest: HTTPGraphQLRequest,
    authenticate: () => Promise<Viewer | undefined>,
  ): Promise<HTTPGraphQLResponse> {
    return this.#server.executeHTTPGraphQLRequest({
      httpGraphQLRequest,
      context: () => this.#admit(httpGraphQLRequest, authenticate),
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop()
  }

  async #admit(
    request: HTTPGraphQLRequest,
    authenticate: () => Promise<Viewer | undefined>,
  ): Promise<HttpContext> {
    const { operations, openContext } = this.#own
    try {
      const viewer = await authenticate()
      const asked = requestOf(request)
      const admission = asked && operations.admit(asked, viewer)
      const admitted = admission?.kind === 'admitted' ? admission.admitted : undefined
      if (admitted?.operation.type === 'subscription') {
        throw new BadInputError('subscriptions are served on the WebSocket of this path')
      }
      return { request: openContext(viewer, admitted?.operation.analysis.asked), admitted }
    } catch (error) {
      throw error instanceof DomainError ? requestError(error) : error
    }
  }
}

/** Apollo neither parses nor validates a document that is there already. */
const executing = ({ operations, presenter }: ApolloOptions): ApolloServerPlugin<HttpContext> => ({
  requestDidStart: async () => ({
    didResolveSource: async (context) => {
      const document = context.contextValue.admitted?.operation.document
      if (document) Object.assign(context, { document })
    },
    responseForOperation: async ({ contextValue: { admitted, request } }) => {
      assert(admitted, 'what Apollo found valid was admitted')
      const { data, errors } = await operations.execute(admitted, request)
      const told = errors?.map((error) => presenter.present(error))
      const http = { headers: new HeaderMap(), ...(data === undefined ? { status: 400 } : {}) }
      return {
        http,
        body: {
          kind: 'single',
          singleResult: {
            ...(told ? { errors: told } : {}),
            ...(data === undefined ? {} : { data }),
          },
        },
      }
    },
  }),
})

/** What is asked, where Apollo will find it; nothing when it will find nothing and say so. */
const requestOf = ({ method, body, search }: HTTPGraphQLRequest): OperationRequest | undefined =>
  method === 'GET' ? fromSearch(search) : fromBody(body)

const fromBody = (body: unknown): OperationRequest | undefined => {
  if (!isRecord(body) || typeof body['query'] !== 'string') return undefined
  const { query, operationName, variables } = body
  return {
    query,
    operationName: typeof operationName === 'string' ? operationName : undefined,
    variables: isRecord(variables) ? variables : undefined,
  }
}

const fromSearch = (search: string): OperationRequest | undefined => {
  const parameters = new URLSearchParams(search)
  const query = parameters.get('query')
  if (query === null) return undefined
  return {
    query,
    operationName: parameters.get('operationName') ?? undefined,
    variables: parsedRecord(parameters.get('variables')),
  }
}

const parsedRecord = (text: string | null): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = text === null ? undefined : JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    // Apollo reads it again and refuses the request.
    return undefined
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const loggerOf = ({ log }: Telemetry) => ({
  debug: (text: unknown) => log.debug(String(text)),
  info: (text: unknown) => log.info(String(text)),
  warn: (text: unknown) => log.warn(String(text)),
  error: (text: unknown) => log.error(String(text)),
})
