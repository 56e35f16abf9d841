/**
 * The HTTP listener: health, version and metrics, and whatever is mounted beside them. It opens
 * before the engines do, so that a start that waits can be watched, and closes first when the
 * program stops.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
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
  /** How long anybody on the way may keep it; not at all without. */
  readonly cacheSeconds?: number
}

/** A page that is read with GET and takes nothing. */
export type Route = () => Promise<Answer>

/** What answers a path by itself: methods, bodies and all. */
export interface Endpoint {
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** For a path that also speaks WebSocket. */
  upgrade?(request: IncomingMessage, stream: Duplex, head: Buffer): void
}

export class HttpServer implements AsyncDisposable {
  readonly #own: ServerDependencies
  readonly #server: Server
  readonly #routes: Map<string, Route>
  readonly #endpoints = new Map<string, Endpoint>()
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
    this.#server.on('upgrade', (request, stream, head) => this.#upgrade(request, stream, head))
  }

  mount(path: string, endpoint: Endpoint): void {
    this.#endpoints.set(path, endpoint)
  }

  route(path: string, route: Route): void {
    this.#routes.set(path, route)
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

  get #isClosing(): boolean {
    return this.#closing !== undefined || this.#own.health.phase === 'draining'
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request)
    const endpoint = this.#endpoints.get(path)
    const known = endpoint !== undefined || this.#routes.has(path)
    const stop = this.#requests.startTimer()
    if (this.#isClosing) response.setHeader('connection', 'close')
    if (endpoint) await this.#hand(endpoint, request, response)
    else send(response, await this.#route(path, request), request.method === 'HEAD')
    stop({ path: known ? path : 'other', status: String(response.statusCode) })
  }

  /** A request whose client left in the middle of it has no answer. */
  async #hand(
    endpoint: Endpoint,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    try {
      await endpoint.answer(request, response)
    } catch (error) {
      if (request.destroyed && !request.complete) return
      this.#own.telemetry.log.error({ err: error, path: request.url }, 'a request failed')
      if (response.headersSent) response.destroy()
      else send(response, failure(500, 'INTERNAL', 'something went wrong here'), false)
    }
  }

  #upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    // The stream has no listener of its own before it is a socket: a reset would end the program.
    stream.on('error', () => stream.destroy())
    const endpoint = this.#endpoints.get(pathOf(request))
    if (this.#isClosing) refuseUpgrade(stream, 503)
    else if (endpoint?.upgrade) endpoint.upgrade(request, stream, head)
    else refuseUpgrade(stream, 404)
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

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? ''

/** Says no to a socket in HTTP's words. */
export const refuseUpgrade = (stream: Duplex, status: number): void => {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`
  stream.end(`${head}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
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
    'cache-control': answer.cacheSeconds ? `public, max-age=${answer.cacheSeconds}` : 'no-store',
    'x-content-type-options': 'nosniff',
    ...(answer.status === 405 ? { allow: 'GET, HEAD' } : {}),
  })
  response.end(headOnly ? undefined : body)
}
