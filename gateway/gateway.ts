/** The API on its listener: GraphQL over HTTP and WebSocket at one path. */
import { typeDefs } from '../schema/generated/type-defs.ts'
import type { Services } from '../services/compose.ts'
import type { Settings } from '../services/kernel/settings.ts'
import type { Clock } from '../services/platform/clock.ts'
import type { Telemetry } from '../services/platform/telemetry.ts'
import type { Authenticator } from './authenticator.ts'
import { ErrorPresenter } from './errors.ts'
import { Apollo } from './graphql/apollo.ts'
import { contextOpener } from './graphql/context.ts'
import { Documents } from './graphql/documents.ts'
import { HttpEndpoint } from './graphql/http-endpoint.ts'
import { Operations } from './graphql/operations.ts'
import { type ApiModule, buildSchema } from './graphql/schema.ts'
import { graphqlSettings, socketSettings } from './graphql/settings.ts'
import { SocketEndpoint } from './graphql/socket-endpoint.ts'
import { Cursors, cursorKey } from './relay/cursor.ts'
import { baseModule } from './resolvers/base.ts'
import { apiModules } from './resolvers/roster.ts'
import { KEY_SET_PATH, keySetRoute } from './rest/key-set.ts'
import type { HttpServer } from './server.ts'
import { serverSettings } from './settings.ts'

export const GRAPHQL_PATH = '/graphql'

export interface GatewayOptions {
  readonly http: HttpServer
  readonly services: Services
  readonly settings: Settings
  readonly authenticator: Authenticator
  /** What cursors are signed with, when the settings name nothing. */
  readonly cursorSecret: Uint8Array
  readonly clock: Clock
  readonly telemetry: Telemetry
  /** More of the schema, in its own language; for tests of the gateway itself. */
  readonly extension?: { readonly typeDefs: string; readonly module: ApiModule }
}

export class Gateway implements AsyncDisposable {
  readonly #apollo: Apollo
  readonly #sockets: SocketEndpoint

  private constructor(apollo: Apollo, sockets: SocketEndpoint) {
    this.#apollo = apollo
    this.#sockets = sockets
  }

  static async open(options: GatewayOptions): Promise<Gateway> {
    const { http, services, settings, clock, authenticator } = options
    const shared = sharedOf(options)
    const graphql = settings.view(graphqlSettings)
    const origins = () => graphql.origins
    const apollo = await Apollo.start(shared)
    const { bodyBytesMax } = settings.view(serverSettings)
    const { presenter } = shared
    const endpoint = new HttpEndpoint({ apollo, authenticator, presenter, origins, bodyBytesMax })
    const sockets = new SocketEndpoint({
      ...shared,
      ...{ authenticator, origins, clock, settings: settings.view(socketSettings) },
    })
    http.mount(GRAPHQL_PATH, {
      answer: (request, response) => endpoint.answer(request, response),
      upgrade: (request, stream, head) => sockets.upgrade(request, stream, head),
    })
    http.route(KEY_SET_PATH, keySetRoute(services.accounts))
    return new Gateway(apollo, sockets)
  }

  /** Closes the sockets, which would keep the listener open; requests are answered to the end. */
  async drain(): Promise<void> {
    await this.#sockets.drain()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain()
    await this.#apollo[Symbol.asyncDispose]()
  }
}

/** What HTTP and sockets have in common. */
const sharedOf = (options: GatewayOptions) => {
  const { settings: all, telemetry, services, extension } = options
  const settings = all.view(graphqlSettings)
  const introspection = all.view(serverSettings).mode === 'development'
  const modules = [...apiModules, ...(extension ? [extension.module] : [])]
  const schema = buildSchema(`${typeDefs}${extension?.typeDefs ?? ''}`, [
    baseModule(modules),
    ...modules,
  ])
  const documents = new Documents({ schema, settings, introspection, telemetry })
  const cursors = new Cursors([cursorKey(settings.cursorSecret || options.cursorSecret)])
  const presenter = new ErrorPresenter({ telemetry, suggests: introspection })
  return {
    ...{ schema, introspection, telemetry, presenter },
    operations: new Operations({ documents, presenter, settings, telemetry }),
    openContext: contextOpener({ services, cursors }),
  }
}
