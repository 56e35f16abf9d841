/** The JSON body of a request, read within its bounds. */
import type { IncomingMessage } from 'node:http'
import { BadInputError, DomainError, TooLargeError } from '../../services/kernel/errors.ts'

/** A body of a kind we do not read. */
export class UnsupportedBodyError extends DomainError {
  override readonly name = 'UnsupportedBodyError'
  readonly code = 'BAD_INPUT'
}

const EMPTY = Buffer.alloc(0)
const JSON_TYPE = /^application\/json *(; *charset *= *"?utf-?8"? *)?$/i

export const readJson = async (request: IncomingMessage, bytesMax: number): Promise<unknown> => {
  const { 'content-type': type = '', 'content-encoding': encoding } = request.headers
  if (!JSON_TYPE.test(type)) {
    throw new UnsupportedBodyError('send `Content-Type: application/json`, in UTF-8')
  }
  if (encoding !== undefined && encoding !== 'identity') {
    throw new UnsupportedBodyError('send the body without compression')
  }
  return parseJson(await readText(request, bytesMax))
}

/** By events: an async iterator costs a request of this size more than the rest of its reading. */
const readText = (request: IncomingMessage, bytesMax: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const refuse = () => {
      request.pause()
      reject(new TooLargeError(`a request may have ${bytesMax} bytes`))
    }
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) return refuse()
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bytesMax) refuse()
      else chunks.push(chunk)
    })
    request.once('end', () => {
      const [first = EMPTY, ...others] = chunks
      resolve((others.length === 0 ? first : Buffer.concat(chunks)).toString('utf8'))
    })
    request.once('error', reject)
    request.once('close', () => {
      if (!request.complete) reject(new Error('the client left in the middle of its request'))
    })
  })

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new BadInputError('the body is no JSON', { cause })
  }
}
