/** `/graphql` over HTTP: reads the request within its bounds, lets Apollo answer, writes it out. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { HeaderMap, type HTTPGraphQLRequest } from '@apollo/server'
import { DomainError } from '../../services/kernel/errors.ts'
import { type Authenticator, authenticateHeader } from '../authenticator.ts'
import { type ErrorPresenter, statusOf } from '../errors.ts'
import type { Apollo } from './apollo.ts'
import { crossOriginHeaders, PREFLIGHT_HEADERS } from './origins.ts'
import { readJson, UnsupportedBodyError } from './request-body.ts'

export interface HttpEndpointOptions {
  readonly apollo: Apollo
  readonly authenticator: Authenticator
  readonly presenter: ErrorPresenter
  readonly origins: () => readonly string[]
  readonly bodyBytesMax: number
}

/** All that Apollo looks at. */
const HEADERS = ['accept', 'content-type', 'x-apollo-operation-name', 'apollo-require-preflight']

interface Reply {
  readonly status: number
  readonly headers?: Iterable<readonly [string, string]>
  readonly body?: string
}

export class HttpEndpoint {
  readonly #own: HttpEndpointOptions

  constructor(options: HttpEndpointOptions) {
    this.#own = options
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const cors = crossOriginHeaders(request.headers, this.#own.origins())
    const reply = request.method === 'OPTIONS' ? preflight(cors) : await this.#reply(request)
    const { status, headers = [], body } = reply
    for (const [name, value] of [...headers, ...Object.entries(cors)]) {
      response.setHeader(name, value)
    }
    // The rest of a body that was refused is not read: the connection cannot be used again.
    if (!request.complete && hasBody(request)) response.setHeader('connection', 'close')
    response.writeHead(status, {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    })
    response.end(body)
  }

  async #reply(request: IncomingMessage): Promise<Reply> {
    const { apollo, authenticator } = this.#own
    try {
      const answer = await apollo.answer(await this.#read(request), () =>
        authenticateHeader(authenticator, request.headers.authorization),
      )
      const { status = 200, headers, body } = answer
      return { status, headers, ...(body.kind === 'complete' ? { body: body.string } : {}) }
    } catch (error) {
      if (error instanceof DomainError) return this.#refusal(error)
      throw error
    }
  }

  async #read(request: IncomingMessage): Promise<HTTPGraphQLRequest> {
    const { method = '', url = '' } = request
    const headers = new HeaderMap()
    for (const name of HEADERS) {
      const value = request.headers[name]
      if (typeof value === 'string') headers.set(name, value)
    }
    const question = url.indexOf('?')
    return {
      method,
      headers,
      search: question < 0 ? '' : url.slice(question),
      body: method === 'POST' ? await readJson(request, this.#own.bodyBytesMax) : undefined,
    }
  }

  #refusal(error: DomainError): Reply {
    const status = error instanceof UnsupportedBodyError ? 415 : statusOf(error.code)
    const errors = [this.#own.presenter.present(error)]
    return {
      status,
      headers: [['content-type', 'application/json; charset=utf-8']],
      body: `${JSON.stringify({ errors })}\n`,
    }
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  'content-length' in headers || 'transfer-encoding' in headers

const preflight = (cors: Readonly<Record<string, string>>): Reply => ({
  status: 204,
  headers: 'access-control-allow-origin' in cors ? Object.entries(PREFLIGHT_HEADERS) : [],
})
