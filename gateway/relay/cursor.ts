/**
 * Cursors: a position in one list, signed so that nobody can make one up or take one elsewhere.
 *
 *   version (1) · key (2) · position · signature (16)      in base64url
 *
 * The position is the service's own text. The signature covers the list and the reader as well,
 * which the cursor itself does not carry: brought to another list, or by another reader, it does
 * not fit. A version or a key we no longer have makes a cursor outdated rather than wrong, so that
 * a client knows to begin again.
 */
import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { CursorInvalidError, CursorOutdatedError } from '../../services/kernel/errors.ts'

/** Where a cursor is good. */
export interface CursorScope {
  /** The list, with what it belongs to: `followers:4611…`. */
  readonly list: string
  /** Only for a list that differs by reader. */
  readonly reader?: bigint | undefined
}

export interface CursorKey {
  readonly id: Buffer
  readonly secret: Buffer
}

const VERSION = 1
const KEY_BYTES = 2
const HEAD_BYTES = 1 + KEY_BYTES
const SIGNATURE_BYTES = 16
const TEXT_MAX = 2_048

export const cursorKey = (secret: string | Uint8Array): CursorKey => {
  const derived = Buffer.from(hkdfSync('sha256', secret, '', 'tributary cursor', 32))
  return {
    secret: derived,
    id: createHash('sha256').update(derived).digest().subarray(0, KEY_BYTES),
  }
}

export const sealCursor = (key: CursorKey, scope: CursorScope, position: string): string => {
  const body = Buffer.concat([Buffer.of(VERSION), key.id, Buffer.from(position)])
  return Buffer.concat([body, sign(key, scope, body)]).toString('base64url')
}

export const openCursor = (
  keys: readonly CursorKey[],
  scope: CursorScope,
  text: string,
): string => {
  const bytes = text.length > TEXT_MAX ? Buffer.alloc(0) : Buffer.from(text, 'base64url')
  if (bytes.length < HEAD_BYTES + SIGNATURE_BYTES || bytes.toString('base64url') !== text) {
    throw new CursorInvalidError('a cursor comes from this API and goes back as it is', FIELD)
  }
  const keyId = bytes.subarray(1, HEAD_BYTES)
  const key = keys.find(({ id }) => id.equals(keyId))
  if (bytes[0] !== VERSION || !key) {
    throw new CursorOutdatedError('this cursor is outdated: begin at the first page', FIELD)
  }
  const body = bytes.subarray(0, -SIGNATURE_BYTES)
  if (!timingSafeEqual(sign(key, scope, body), bytes.subarray(-SIGNATURE_BYTES))) {
    throw new CursorInvalidError('this cursor belongs to another list or reader', FIELD)
  }
  return body.subarray(HEAD_BYTES).toString('utf8')
}

const FIELD = { field: 'after' } as const

/** The lengths keep the parts apart: no two scopes give the same bytes. */
const sign = ({ secret }: CursorKey, { list, reader }: CursorScope, body: Buffer): Buffer => {
  const scope = JSON.stringify([list, reader === undefined ? null : `${reader}`])
  return createHmac('sha256', secret)
    .update(`${Buffer.byteLength(scope)}:${scope}`)
    .update(body)
    .digest()
    .subarray(0, SIGNATURE_BYTES)
}

/** The cursors of this program: seals with the first key, opens with any. */
export class Cursors {
  readonly #keys: readonly [CursorKey, ...CursorKey[]]

  constructor(keys: readonly [CursorKey, ...CursorKey[]]) {
    this.#keys = keys
  }

  seal(scope: CursorScope, position: string): string {
    return sealCursor(this.#keys[0], scope, position)
  }

  open(scope: CursorScope, text: string): string {
    return openCursor(this.#keys, scope, text)
  }
}
