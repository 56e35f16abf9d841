/**
 * The HTTP listener: health, version and metrics. It opens before the engines do, so that a start
 * that waits can be watched, and closes first when the program stops.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Values } from '../services/kernel/settings.ts'
import type { Telemetry } from '../services/platform/telemetry.ts'
import type { Health } from './health.ts'
import type { serverSettings } from './settings.ts'

export interface ServerDependencies {
  readonly settings: Values<typeof serverSettings>
  readonly telemetry: Telemetry
  readonly health: Health
  readonly version: string
}

export interface Answer {
  readonly status: number
  readonly body: unknown
  /** The body as it is, with this type; JSON without it. */
  readonly type?: string
}

type Route = () => Promise<Answer>

export class HttpServer implements AsyncDisposable {
  readonly #own: ServerDependencies
  readonly #server: Server
  readonly #routes: ReadonlyMap<string, Route>
  readonly #requests
  #closing: Promise<void> | undefined

  constructor(dependencies: ServerDependencies) {
    const { settings, telemetry } = dependencies
    this.#own = dependencies
    this.#routes = routesOf(dependencies)
    this.#requests = telemetry.duration(
      'tributary_http_request_seconds',
      'Time a request took, by path and status',
      ['path', 'status'],
    )
    this.#server = createServer(
      {
        headersTimeout: settings.headersTimeoutMs,
        requestTimeout: settings.requestTimeoutMs,
        maxHeaderSize: settings.headerBytesMax,
        keepAliveTimeout: 5_000,
        connectionsCheckingInterval: 1_000,
      },
      (request, response) => void this.#answer(request, response),
    )
    this.#server.maxConnections = settings.connectionsMax
  }

  /** Resolves with the address it listens on. */
  async listen(): Promise<string> {
    const { host, port } = this.#own.settings
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port, exclusive: true }, resolve)
    })
    const { address, port: bound, family } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`
  }

  /** Takes no new connection, ends idle ones, and waits for the answers under way. */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeIdleConnections()
    })
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    const known = this.#routes.has(path)
    const stop = this.#requests.startTimer()
    const answer = await this.#route(path, request)
    if (this.#closing || this.#own.health.phase === 'draining') {
      response.setHeader('connection', 'close')
    }
    send(response, answer, request.method === 'HEAD')
    stop({ path: known ? path : 'other', status: String(answer.status) })
  }

  async #route(path: string, request: IncomingMessage): Promise<Answer> {
    const route = this.#routes.get(path)
    if (!route) return failure(404, 'NOT_FOUND', `there is nothing at ${path.slice(0, 200)}`)
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return failure(405, 'BAD_INPUT', `${path} answers GET and HEAD`)
    }
    const length = Number(request.headers['content-length'] ?? 0)
    if (length > this.#own.settings.bodyBytesMax) {
      return failure(413, 'TOO_LARGE', 'the body is too large')
    }
    try {
      const answering: Promise<Answer> = route()
      return await answering
    } catch (error) {
      this.#own.telemetry.log.error({ err: error, path }, 'a request failed')
      return failure(500, 'INTERNAL', 'something went wrong here')
    }
  }
}

const failure = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: { code, message } },
})

const routesOf = ({ health, telemetry, version, settings }: ServerDependencies) =>
  new Map<string, Route>([
    [
      '/healthz',
      async () => {
        const alive = health.alive()
        return { status: alive.alive ? 200 : 503, body: alive }
      },
    ],
    [
      '/readyz',
      async () => {
        const readiness = health.readiness()
        return { status: readiness.ready ? 200 : 503, body: readiness }
      },
    ],
    [
      '/startupz',
      async () => {
        const started = health.phase !== 'starting'
        return { status: started ? 200 : 503, body: { started } }
      },
    ],
    ['/version', async () => ({ status: 200, body: { version, mode: settings.mode } })],
    [
      '/metrics',
      async () => ({
        status: 200,
        body: await telemetry.registry.metrics(),
        type: telemetry.registry.contentType,
      }),
    ],
  ])

const send = (response: ServerResponse, answer: Answer, headOnly: boolean): void => {
  const body = answer.type === undefined ? `${JSON.stringify(answer.body)}\n` : String(answer.body)
  response.writeHead(answer.status, {
    'content-type': answer.type ?? 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(answer.status === 405 ? { allow: 'GET, HEAD' } : {}),
  })
  response.end(headOnly ? undefined : body)
}
