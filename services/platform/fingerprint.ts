/**
 * Fingerprints: what stands for a text where only equality matters.
 *
 * Both are cut from SHA-256, because what is compared is written by strangers: nobody can make up a
 * text that is taken for another's. 64 bits fit a column and keep accidents rare (two of a billion
 * texts meet with a chance of one in forty); a digest is for what must never be mistaken.
 */
import { hash } from 'node:crypto'

/** 64 bits, signed as a `bigint` column is. */
export const fingerprint = (text: string): bigint =>
  BigInt.asIntN(64, BigInt(`0x${hash('sha256', text, 'hex').slice(0, 16)}`))

/** All 256 bits, as text. */
export const digest = (text: string): string => hash('sha256', text, 'base64url')
