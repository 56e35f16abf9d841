/** What a socket may ask, in graphql-ws's terms: the same admission and the same errors as HTTP. */
import { GraphQLError, type GraphQLSchema } from 'graphql'
import { makeServer, type Server } from 'graphql-ws'
import type { Viewer } from '../../services/accounts/accounts.ts'
import { assert, DomainError, UnauthenticatedError } from '../../services/kernel/errors.ts'
import type { Values } from '../../services/kernel/settings.ts'
import type { Authenticator } from '../authenticator.ts'
import type { ErrorPresenter } from '../errors.ts'
import type { ContextOpener, RequestContext } from './context.ts'
import { LimitError } from './limit-error.ts'
import type { Admitted, Operations } from './operations.ts'
import type { socketSettings } from './settings.ts'

/** What is known of one socket. */
export interface SocketExtra {
  viewer: Viewer | undefined
  isAlive: boolean
  /** Aborted when the socket is over, or has to be: the viewer's session ended. */
  readonly ended: AbortController
}

export interface SocketProtocolOptions {
  readonly schema: GraphQLSchema
  readonly operations: Operations
  readonly presenter: ErrorPresenter
  readonly authenticator: Authenticator
  readonly settings: Values<typeof socketSettings>
  readonly openContext: ContextOpener
}

interface Hooks {
  /** The client has said who it is. */
  readonly identified: (viewer: Viewer, extra: SocketExtra) => void
}

interface SocketContext {
  readonly admitted: Admitted
  readonly request: RequestContext
}

export const makeSocketProtocol = ({
  schema,
  operations,
  presenter,
  authenticator,
  settings,
  openContext,
  identified,
}: SocketProtocolOptions & Hooks): Server<SocketExtra> =>
  makeServer<Record<string, unknown> | undefined, SocketExtra>({
    connectionInitWaitTimeout: settings.initMs,
    onConnect: async ({ connectionParams, extra }) => {
      try {
        extra.viewer = await viewerOf(connectionParams, authenticator)
      } catch (error) {
        if (error instanceof UnauthenticatedError) return false
        throw error
      }
      if (extra.viewer) identified(extra.viewer, extra)
      return true
    },
    onSubscribe: ({ extra, subscriptions }, _id, { query, operationName, variables }) => {
      const asked = { query, operationName: operationName ?? undefined, variables: variables ?? {} }
      try {
        checkCount(Object.keys(subscriptions).length, settings.operationsMax)
        const admission = operations.admit(asked, extra.viewer)
        if (admission.kind === 'invalid') return admission.errors
        const { admitted } = admission
        const contextValue: SocketContext = {
          admitted,
          request: openContext(extra.viewer, admitted.operation.analysis.asked),
        }
        return { schema, document: admitted.operation.document, operationName, contextValue }
      } catch (error) {
        if (error instanceof DomainError) return [new GraphQLError('', { originalError: error })]
        throw error
      }
    },
    execute: ({ contextValue }) => {
      const { admitted, request } = contextOf(contextValue)
      return operations.execute(admitted, request)
    },
    subscribe: ({ contextValue }) => {
      const { admitted, request } = contextOf(contextValue)
      return operations.subscribe(admitted, request)
    },
    onError: (_context, _id, _payload, errors) => errors.map((error) => presenter.present(error)),
    onNext: (_context, _id, _payload, _arguments, { data, errors }) => ({
      ...(data === undefined ? {} : { data }),
      ...(errors ? { errors: errors.map((error) => presenter.present(error)) } : {}),
    }),
  })

/** A client without a token is anonymous; one with a wrong token is nobody's. */
const viewerOf = async (
  parameters: Readonly<Record<string, unknown>> | undefined,
  authenticator: Authenticator,
): Promise<Viewer | undefined> => {
  const token = parameters?.['accessToken']
  if (token === undefined || token === null) return undefined
  if (typeof token !== 'string') throw new UnauthenticatedError('the token is no text')
  return await authenticator.authenticate(token)
}

const checkCount = (count: number, max: number): void => {
  if (count > max) throw new LimitError('operations on the socket', { max, found: count })
}

const contextOf = (value: unknown): SocketContext => {
  assert(
    typeof value === 'object' && value && 'admitted' in value,
    'a socket runs what is admitted',
  )
  return value as SocketContext
}
