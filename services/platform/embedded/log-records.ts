/**
 * Events as bytes. A key is topic, partition and offset, big-endian, so that a partition lies in
 * order; a value is a header of fixed length, then the event's key, its headers and its value.
 */
import { DamagedError } from '../../kernel/errors.ts'
import type { LogEvent } from '../../kernel/events.ts'
import type { LogRecord } from '../log.ts'

export interface Place {
  readonly topic: number
  readonly partition: number
}

const FORMAT = 1
const TIME_AT = 1
const KEY_BYTES_AT = 7
const HEADER_BYTES_AT = 11
const TEXT_AT = 15
const HIGH = 2 ** 32

export const recordKey = ({ topic, partition }: Place, offset: number): Buffer => {
  const key = Buffer.allocUnsafe(12)
  key.writeUInt16BE(topic, 0)
  key.writeUInt16BE(partition, 2)
  key.writeUInt32BE(Math.floor(offset / HIGH), 4)
  key.writeUInt32BE(offset % HIGH, 8)
  return key
}

/** The offset of a key, or undefined when it belongs to another partition. */
export const offsetOf = (key: Buffer, { topic, partition }: Place): number | undefined => {
  if (key.readUInt16BE(0) !== topic || key.readUInt16BE(2) !== partition) return undefined
  return key.readUInt32BE(4) * HIGH + key.readUInt32BE(8)
}

export const encodeRecord = ({ key, value, headers }: LogEvent, appendedAt: number): Buffer => {
  const headerText = hasAny(headers) ? JSON.stringify(headers) : ''
  const keyBytes = Buffer.byteLength(key)
  const headerBytes = Buffer.byteLength(headerText)
  const bytes = Buffer.allocUnsafe(TEXT_AT + keyBytes + headerBytes + Buffer.byteLength(value))
  bytes[0] = FORMAT
  bytes.writeUIntBE(appendedAt, TIME_AT, 6)
  bytes.writeUInt32BE(keyBytes, KEY_BYTES_AT)
  bytes.writeUInt32BE(headerBytes, HEADER_BYTES_AT)
  bytes.write(key, TEXT_AT)
  bytes.write(headerText, TEXT_AT + keyBytes)
  bytes.write(value, TEXT_AT + keyBytes + headerBytes)
  return bytes
}

const hasAny = (headers: LogEvent['headers']): boolean => {
  for (const _name in headers) return true
  return false
}

export const decodeRecord = (bytes: Buffer, offset: number): LogRecord => {
  checkFormat(bytes)
  const keyEnd = TEXT_AT + bytes.readUInt32BE(KEY_BYTES_AT)
  const headersEnd = keyEnd + bytes.readUInt32BE(HEADER_BYTES_AT)
  const headerText = bytes.toString('utf8', keyEnd, headersEnd)
  return {
    offset: BigInt(offset),
    appendedAt: appendedAtOf(bytes),
    key: bytes.toString('utf8', TEXT_AT, keyEnd),
    value: bytes.toString('utf8', headersEnd),
    headers: headerText === '' ? {} : (JSON.parse(headerText) as LogEvent['headers']),
  }
}

export const appendedAtOf = (bytes: Buffer): number => {
  checkFormat(bytes)
  return bytes.readUIntBE(TIME_AT, 6)
}

const checkFormat = (bytes: Buffer): void => {
  if (bytes[0] !== FORMAT || bytes.length < TEXT_AT) {
    throw new DamagedError(`an event of the log has the unknown format ${bytes[0]}`)
  }
}
