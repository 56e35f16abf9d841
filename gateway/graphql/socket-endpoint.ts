/**
 * `/graphql` over a WebSocket: the protocol graphql-transport-ws. A client says who it is in
 * `connection_init` (`{ "accessToken": … }`); without a token it may ask for what is public.
 *
 * Everything about a socket is bounded: how many there are, the size of a message, the time to say
 * who one is, the operations under way, the bytes a slow reader leaves unread. Messages are not
 * compressed: ten messages with permessage-deflate leave 240 KB of state on each socket.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Server } from 'graphql-ws'
import { handleProtocols } from 'graphql-ws'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Viewer } from '../../services/accounts/accounts.ts'
import type { Values } from '../../services/kernel/settings.ts'
import type { Clock } from '../../services/platform/clock.ts'
import type { Telemetry } from '../../services/platform/telemetry.ts'
import type { Authenticator } from '../authenticator.ts'
import { refuseUpgrade } from '../server.ts'
import { mayOpenSocket } from './origins.ts'
import type { socketSettings } from './settings.ts'
import {
  makeSocketProtocol,
  type SocketExtra,
  type SocketProtocolOptions,
} from './socket-protocol.ts'

/** What a graphql-ws client understands: the first two and the last bring it back, 4403 does not. */
const CLOSE = {
  goingAway: 1001,
  slow: 1013,
  ended: 4403,
  failed: 1011,
} as const

/** How long a closed socket may take to answer before it is cut. */
const CLOSING_MS = 1_000

export interface SocketEndpointOptions extends SocketProtocolOptions {
  readonly settings: Values<typeof socketSettings>
  readonly authenticator: Authenticator
  readonly origins: () => readonly string[]
  readonly clock: Clock
  readonly telemetry: Telemetry
}

export class SocketEndpoint {
  readonly #own: SocketEndpointOptions
  readonly #sockets: WebSocketServer
  readonly #protocol: Server<SocketExtra>
  readonly #open = new Map<WebSocket, SocketExtra>()
  readonly #pings: NodeJS.Timeout
  readonly #cut

  constructor(options: SocketEndpointOptions) {
    const { settings, telemetry } = options
    this.#own = options
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: settings.messageBytesMax,
      handleProtocols,
    })
    this.#protocol = makeSocketProtocol({
      ...options,
      identified: (viewer, extra) => this.#watch(viewer, extra),
    })
    this.#pings = setInterval(() => this.#ping(), settings.pingMs)
    this.#pings.unref()
    this.#cut = telemetry.counter(
      'tributary_socket_cut_total',
      'Sockets ended from here: their client left too much unread, or was not there any more',
      ['reason'],
    )
    telemetry.gauge('tributary_socket_connections', 'Open sockets', {
      collect: (gauge) => gauge.set(this.#open.size),
    })
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    if (!mayOpenSocket(request.headers, this.#own.origins())) refuseUpgrade(stream, 403)
    else if (this.#open.size >= this.#own.settings.connectionsMax) refuseUpgrade(stream, 503)
    else this.#sockets.handleUpgrade(request, stream, head, (socket) => this.#opened(socket))
  }

  /** Asks every client to come back elsewhere, and cuts those that do not answer. */
  async drain(): Promise<void> {
    clearInterval(this.#pings)
    const sockets = [...this.#open.keys()]
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    for (const socket of sockets) socket.close(CLOSE.goingAway, 'Going away')
    const cut = setTimeout(() => {
      for (const socket of sockets) socket.terminate()
    }, CLOSING_MS)
    await Promise.all(closed)
    clearTimeout(cut)
    this.#sockets.close()
  }

  #opened(socket: WebSocket): void {
    const extra: SocketExtra = { viewer: undefined, isAlive: true, ended: new AbortController() }
    this.#open.set(socket, extra)
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => this.#send(socket, text),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) =>
          socket.on('message', (data) => void this.#handle(socket, () => handle(String(data)))),
      },
      extra,
    )
    socket.on('pong', () => {
      extra.isAlive = true
    })
    // A broken socket closes by itself; ws throws without a listener.
    socket.on('error', (error) => this.#own.telemetry.log.debug({ err: error }, 'a socket broke'))
    extra.ended.signal.addEventListener('abort', () => socket.close(CLOSE.ended, 'Signed out'))
    socket.once('close', (code, reason) => {
      this.#open.delete(socket)
      extra.ended.abort()
      void this.#handle(socket, () => closed(code, String(reason)))
    })
  }

  /** One message; what fails unexpectedly ends the socket, and is written down. */
  async #handle(socket: WebSocket, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#own.telemetry.log.error({ err: error }, 'a message of a socket failed')
      socket.close(CLOSE.failed, 'Internal server error')
    }
  }

  #send(socket: WebSocket, text: string): void {
    if (socket.readyState !== socket.OPEN) return
    socket.send(text)
    if (socket.bufferedAmount <= this.#own.settings.waitingBytesMax) return
    this.#cut.inc({ reason: 'slow' })
    socket.close(CLOSE.slow, 'Too slow')
  }

  /** A token that runs out, and a session that ends, take their socket with them. */
  #watch(viewer: Viewer, { ended }: SocketExtra): void {
    const { clock, authenticator } = this.#own
    const watch = authenticator.watch(viewer, () => ended.abort())
    ended.signal.addEventListener('abort', () => watch[Symbol.dispose]())
    void clock.sleep(viewer.expiresAt - clock.now(), ended.signal).then(() => ended.abort())
  }

  #ping(): void {
    for (const [socket, extra] of this.#open) {
      if (extra.isAlive) socket.ping()
      else this.#terminate(socket)
      extra.isAlive = false
    }
  }

  #terminate(socket: WebSocket): void {
    this.#cut.inc({ reason: 'silent' })
    socket.terminate()
  }
}
