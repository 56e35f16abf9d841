/**
 * The running program's ear for operators: a Unix socket that only its own user can open.
 */
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Telemetry } from '../../services/platform/telemetry.ts'
import { type CommandContext, isCommand, runCommand } from './commands.ts'
import { type ControlReply, faultReply, LINE_BYTES_MAX, parseRequest } from './protocol.ts'

export interface ControlServerOptions {
  readonly path: string
  readonly telemetry: Telemetry
  readonly context: Omit<CommandContext, 'actor'>
}

const CONNECTIONS_MAX = 16
const SILENCE_MAX_MS = 60_000

export class ControlServer implements AsyncDisposable {
  readonly #options: ControlServerOptions
  readonly #server: Server
  readonly #open = new Set<Socket>()
  readonly #running = new Set<Promise<void>>()

  private constructor(options: ControlServerOptions) {
    this.#options = options
    this.#server = createServer((socket) => this.#accept(socket))
    this.#server.maxConnections = CONNECTIONS_MAX
  }

  /** The caller owns the data folder, so a socket found there is what a crash left behind. */
  static async open(options: ControlServerOptions): Promise<ControlServer> {
    const server = new ControlServer(options)
    await server.#listen()
    return server
  }

  async #listen(): Promise<void> {
    const { path } = this.#options
    rmSync(path, { force: true })
    const usual = process.umask(0o177)
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once('error', reject)
        this.#server.listen(path, resolve)
      })
    } finally {
      process.umask(usual)
    }
    chmodSync(path, 0o600)
  }

  /** Lets the commands under way end; takes no more. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    await Promise.all(this.#running)
    for (const socket of this.#open) socket.destroy()
    await closed
  }

  #accept(socket: Socket): void {
    this.#open.add(socket)
    socket.setTimeout(SILENCE_MAX_MS, () => socket.destroy())
    socket.once('close', () => this.#open.delete(socket))
    socket.on('error', (error) => {
      this.#options.telemetry.log.debug({ err: error }, 'a control connection failed')
    })
    refuseFloods(socket)
    createInterface({ input: socket }).on('line', (line) => this.#follow(socket, line))
  }

  #follow(socket: Socket, line: string): void {
    const running = this.#answer(line).then((reply) => {
      socket.write(`${JSON.stringify(reply)}\n`)
    })
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running))
  }

  async #answer(line: string): Promise<ControlReply> {
    const { telemetry, context } = this.#options
    try {
      const { command, words, actor } = parseRequest(line)
      const name = isCommand(command) ? command : 'unknown'
      const value = await telemetry.span(`control ${name}`, {}, () =>
        runCommand(command, words, { ...context, actor }),
      )
      return { ok: true, value }
    } catch (error) {
      const reply = faultReply(error)
      if (!reply.ok && reply.code === 'INTERNAL') {
        telemetry.log.error({ err: error }, 'a control command failed')
      }
      return reply
    }
  }
}

/** A line without an end must not fill the memory. */
const refuseFloods = (socket: Socket): void => {
  let sinceLine = 0
  socket.on('data', (chunk: Buffer) => {
    const lineEnd = chunk.lastIndexOf(10)
    sinceLine = lineEnd === -1 ? sinceLine + chunk.length : chunk.length - lineEnd
    if (sinceLine > LINE_BYTES_MAX) socket.destroy()
  })
}
