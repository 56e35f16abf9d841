/**
 * Refresh tokens: opaque to clients, kept here as hashes only.
 *
 *   account 8 · session 8 · slot 2 · family 16 · secret 32 bytes, as base64url
 *
 * All tokens of a family carry the same random `family`, so that a spent token can be told from one
 * made up by a stranger: the first is a sign of theft, the second must not end anybody's session.
 * The secret of the next token is derived from that of the one before and a fresh random seed, which
 * stays here: the same token shown twice at once gets the same answer twice, and neither the token
 * nor the table alone tells the next secret.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { UnauthenticatedError } from '../kernel/errors.ts'
import type { AccountId, Id } from '../kernel/ids.ts'
import type { SessionKey } from './session-key.ts'

const FAMILY_AT = 18
const SECRET_AT = 34
const TOKEN_BYTES = 66
const SECRET_BYTES = 32

export interface RefreshToken {
  readonly session: SessionKey
  readonly family: Buffer
  readonly secret: Buffer
}

export const firstToken = (session: SessionKey): RefreshToken => ({
  session,
  family: randomBytes(SECRET_AT - FAMILY_AT),
  secret: randomBytes(SECRET_BYTES),
})

export const freshSeed = (): string => randomBytes(SECRET_BYTES).toString('base64url')

export const nextToken = (token: RefreshToken, seed: string): RefreshToken => ({
  ...token,
  secret: createHmac('sha256', token.secret).update(seed).digest(),
})

export const formatToken = ({ session, family, secret }: RefreshToken): string => {
  const head = Buffer.alloc(FAMILY_AT)
  head.writeBigInt64BE(session.accountId, 0)
  head.writeBigInt64BE(session.sessionId, 8)
  head.writeUInt16BE(session.slot, 16)
  return Buffer.concat([head, family, secret]).toString('base64url')
}

export const parseToken = (text: string): RefreshToken => {
  const bytes = Buffer.from(text.slice(0, 2 * TOKEN_BYTES), 'base64url')
  // What does not come out as it went in has characters that decoding passed over.
  if (bytes.length !== TOKEN_BYTES || bytes.toString('base64url') !== text) throw refusedToken()
  return {
    session: {
      accountId: bytes.readBigInt64BE(0) as AccountId,
      sessionId: bytes.readBigInt64BE(8) as Id<'session'>,
      slot: bytes.readUInt16BE(16),
    },
    family: bytes.subarray(FAMILY_AT, SECRET_AT),
    secret: bytes.subarray(SECRET_AT),
  }
}

export const hashOf = (part: Buffer): string =>
  createHash('sha256').update(part).digest('base64url')

export const hasHash = (part: Buffer, hash: string | undefined): boolean => {
  if (hash === undefined) return false
  const [mine, other] = [Buffer.from(hashOf(part)), Buffer.from(hash)]
  return mine.length === other.length && timingSafeEqual(mine, other)
}

/** One answer, whatever is wrong with a token. */
export const refusedToken = (): UnauthenticatedError =>
  new UnauthenticatedError('this refresh token is not good: sign in again', {
    field: 'refreshToken',
  })
