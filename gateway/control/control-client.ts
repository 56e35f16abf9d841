/** Asks the running program; says when there is none. */
import { connect, type Socket } from 'node:net'
import { UnavailableError } from '../../services/kernel/errors.ts'
import { ControlError, type ControlReply, type ControlRequest } from './protocol.ts'

export type Asked =
  | { readonly answered: true; readonly value: unknown }
  /** Nobody listens there. */
  | { readonly answered: false }

const ANSWER_MAX_MS = 600_000
const NOBODY: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED'])

export const askRunning = async (path: string, request: ControlRequest): Promise<Asked> => {
  const socket = await open(path)
  if (!socket) return { answered: false }
  try {
    socket.write(`${JSON.stringify(request)}\n`)
    const reply = JSON.parse(await readLine(socket)) as ControlReply
    if (!reply.ok) throw new ControlError(reply)
    return { answered: true, value: reply.value }
  } finally {
    socket.destroy()
  }
}

const open = (path: string): Promise<Socket | undefined> =>
  new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (NOBODY.has(error.code ?? '')) resolve(undefined)
      else reject(new UnavailableError(`cannot talk to the program at ${path}`, { cause: error }))
    })
  })

const readLine = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const fail = (message: string, cause?: unknown) =>
      reject(new UnavailableError(message, cause === undefined ? {} : { cause }))
    socket.setTimeout(ANSWER_MAX_MS, () => fail('the running program did not answer in time'))
    socket.on('data', (chunk: Buffer) => {
      parts.push(chunk)
      if (chunk.includes(10)) resolve(Buffer.concat(parts).toString('utf8'))
    })
    socket.once('error', (error) => fail('the running program broke off', error))
    socket.once('close', () => fail('the running program ended before it answered'))
  })
