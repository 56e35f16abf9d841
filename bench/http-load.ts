/**
 * Load over HTTP from as little code as can be, so that the server is what is measured: requests are
 * bytes made beforehand, connections stay open, one request at a time on each, and of an answer only
 * its status and its end are looked for.
 */
import { connect, type Socket } from 'node:net'

const HEAD_END = Buffer.from('\r\n\r\n')
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
const OK = Buffer.from('HTTP/1.1 200')
const LENGTH = /content-length: (\d+)/i
/** Neither a fault nor a refusal counts as an answer. */
const FAULTS = [Buffer.from('"errors"'), Buffer.from('"userErrors":[{')]
const NONE = Buffer.alloc(0)

/** A POST of a GraphQL operation, as the bytes that go over the wire. */
export const graphqlRequest = (body: object, token?: string): Buffer => {
  const text = JSON.stringify(body)
  const head = [
    'POST /graphql HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    `content-length: ${Buffer.byteLength(text)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`)
}

class Connection {
  readonly #address: string
  /** A server ends what is idle for seconds: then it is opened again. */
  #socket: Socket | undefined
  #got: Buffer = NONE
  #answered: ((body: string) => void) | undefined
  #failed: ((error: Error) => void) | undefined

  constructor(address: string) {
    this.#address = address
  }

  async ask(request: Buffer): Promise<string> {
    const socket = this.#socket ?? (await this.#open())
    return await new Promise((resolve, reject) => {
      this.#answered = resolve
      this.#failed = reject
      socket.write(request)
    })
  }

  close(): void {
    this.#socket?.destroy()
  }

  #open(): Promise<Socket> {
    const { hostname: host, port } = new URL(this.#address)
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port: Number(port), noDelay: true }, () => {
        this.#socket = socket
        resolve(socket)
      })
      socket.on('data', (bytes: Buffer) => this.#take(bytes))
      socket.on('error', reject)
      socket.on('close', () => {
        this.#socket = undefined
        this.#fail(new Error('the server closed a connection'))
      })
    })
  }

  #answer(body: string): void {
    this.#failed = undefined
    this.#answered?.(body)
  }

  #fail(error: Error): void {
    this.#failed?.(error)
    this.#failed = undefined
  }

  #take(bytes: Buffer): void {
    this.#got = this.#got.length === 0 ? bytes : Buffer.concat([this.#got, bytes])
    const body = bodyOf(this.#got)
    if (body === undefined) return
    const answer = this.#got
    this.#got = NONE
    const isGood =
      answer.subarray(0, OK.length).equals(OK) && !FAULTS.some((fault) => body.includes(fault))
    if (isGood) this.#answer(body.toString())
    else this.#fail(new Error(`the server answered ${answer.toString()}`))
  }
}

/** `undefined` while the answer is not whole. */
const bodyOf = (answer: Buffer): Buffer | undefined => {
  const headEnd = answer.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const body = answer.subarray(headEnd + HEAD_END.length)
  const length = LENGTH.exec(answer.toString('latin1', 0, headEnd))?.[1]
  const isWhole =
    length === undefined
      ? body.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
      : body.length >= +length
  return isWhole ? body : undefined
}

export class HttpLoad implements Disposable {
  readonly #connections: readonly Connection[]

  constructor(address: string, connections: number) {
    this.#connections = Array.from({ length: connections }, () => new Connection(address))
  }

  async ask(request: Buffer): Promise<string> {
    const [first] = this.#connections
    if (!first) throw new Error('a load has at least one connection')
    return await first.ask(request)
  }

  /** `count` requests, as fast as they are answered. */
  async closed(count: number, next: (client: number) => Buffer): Promise<number> {
    let left = count
    const client = async (connection: Connection, index: number): Promise<void> => {
      for (; left > 0; await connection.ask(next(index))) left -= 1
    }
    await Promise.all(this.#connections.map(client))
    return count
  }

  /**
   * Requests that come at a steady rate whether or not the last were answered: the times from when
   * each was due to its answer, in ms.
   */
  async steady(
    perSecond: number,
    forMs: number,
    next: (client: number) => Buffer,
  ): Promise<number[]> {
    const due = Array.from(
      { length: Math.floor((perSecond * forMs) / 1000) },
      (_, at) => at * (1000 / perSecond),
    )
    const started = performance.now()
    const times: number[] = []
    let taken = 0
    const client = async (connection: Connection, index: number): Promise<void> => {
      while (taken < due.length) {
        const at = started + (due[taken] ?? 0)
        taken += 1
        await until(at)
        await connection.ask(next(index))
        times.push(performance.now() - at)
      }
    }
    await Promise.all(this.#connections.map(client))
    return times
  }

  [Symbol.dispose](): void {
    for (const connection of this.#connections) connection.close()
  }
}

/** Timers are as fine as a millisecond; what is left is waited for turn by turn. */
const until = async (at: number): Promise<void> => {
  const wait = Math.floor(at - performance.now()) - 1
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
  while (performance.now() < at) await new Promise((resolve) => setImmediate(resolve))
}
