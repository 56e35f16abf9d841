/** The JSON body of a request, read within its bounds. */
import type { IncomingMessage } from 'node:http'
import { BadInputError, DomainError, TooLargeError } from '../../services/kernel/errors.ts'

/** A body of a kind we do not read. */
export class UnsupportedBodyError extends DomainError {
  override readonly name = 'UnsupportedBodyError'
  readonly code = 'BAD_INPUT'
}

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

const readText = async (request: IncomingMessage, bytesMax: number): Promise<string> => {
  const tooLarge = () => new TooLargeError(`a request may have ${bytesMax} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > bytesMax) throw tooLarge()
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new BadInputError('the body is no JSON', { cause })
  }
}
