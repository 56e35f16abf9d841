/** A client of the socket that says what it is told to, right or wrong. */
import { WebSocket } from 'ws'
import { eventually } from './eventually.ts'

export interface SocketMessage {
  readonly type: string
  readonly id?: string
  readonly payload?: unknown
}

export interface SocketOptions {
  readonly origin?: string
  readonly protocol?: string
  /** Whether it answers when it is asked whether it is there; true when left out. */
  readonly answersPings?: boolean
}

export interface Closed {
  readonly code: number
  readonly reason: string
}

export class SocketClient implements AsyncDisposable {
  readonly messages: SocketMessage[] = []
  readonly #socket: WebSocket
  readonly #closed: Promise<Closed>
  /** The status that the upgrade was refused with. */
  refusedWith: number | undefined
  /** How often it was asked whether it is there. */
  pings = 0

  constructor(address: string, options: SocketOptions = {}) {
    const { origin, protocol = 'graphql-transport-ws', answersPings = true } = options
    this.#socket = new WebSocket(`${address.replace('http', 'ws')}/graphql`, protocol, {
      ...(origin === undefined ? {} : { origin }),
      autoPong: answersPings,
    })
    this.#socket.on('ping', () => {
      this.pings += 1
    })
    this.#socket.on('message', (data) => {
      this.messages.push(JSON.parse(String(data)) as SocketMessage)
    })
    this.#socket.on('unexpected-response', (_request, response) => {
      this.refusedWith = response.statusCode
      this.#socket.terminate()
    })
    // A refused upgrade is an error as well; the close that follows is what tests look at.
    this.#socket.on('error', () => undefined)
    this.#closed = new Promise((resolve) => {
      this.#socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }))
    })
  }

  get extensions(): string {
    return this.#socket.extensions
  }

  async opened(): Promise<this> {
    await eventually(() => this.#socket.readyState === WebSocket.OPEN)
    return this
  }

  /** Says who it is, and waits until that is accepted. */
  async init(payload?: object): Promise<this> {
    await this.opened()
    this.send({ type: 'connection_init', ...(payload ? { payload } : {}) })
    await this.next('connection_ack')
    return this
  }

  send(message: object | string): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  subscribe(id: string, query: string, variables: object = {}): void {
    this.send({ type: 'subscribe', id, payload: { query, variables } })
  }

  /** The first message of this type (and id) that has come or will come. */
  next(type: string, id?: string): Promise<SocketMessage> {
    return eventually(() =>
      this.messages.find((each) => each.type === type && (id === undefined || each.id === id)),
    )
  }

  /** Leaves what comes unread, until it resumes. */
  stall(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  closed(): Promise<Closed> {
    return this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return
    this.#socket.terminate()
    await this.#closed
  }
}
