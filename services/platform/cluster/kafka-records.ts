/** Events as Kafka messages, there and back. */
import type { IHeaders } from 'kafkajs'
import type { LogEvent, Topic } from '../../kernel/events.ts'
import { type LogRecord, partitionOf } from '../log.ts'
import type { Outgoing } from './kafka-appender.ts'

/** What is read of a message, whichever call of kafkajs it came from. */
export interface StoredMessage {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly offset: string
  readonly timestamp: string
  readonly headers?: IHeaders
}

export const toMessage = ({ partitions }: Topic, { key, value, headers }: LogEvent): Outgoing => {
  const partition = partitionOf(key, partitions)
  let bytes = Buffer.byteLength(key) + Buffer.byteLength(value)
  for (const name in headers) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(headers[name] ?? '')
  }
  return { partition, bytes, message: { key, value, headers: { ...headers }, partition } }
}

export const toRecord = ({ key, value, offset, timestamp, headers }: StoredMessage): LogRecord => ({
  key: key?.toString() ?? '',
  value: value?.toString() ?? '',
  headers: toHeaders(headers),
  offset: BigInt(offset),
  appendedAt: Number(timestamp),
})

const toHeaders = (headers: IHeaders | undefined): LogEvent['headers'] => {
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers ?? {})) {
    // A header may be repeated; the last one counts.
    const last = Array.isArray(value) ? value.at(-1) : value
    if (last !== undefined) texts[name] = last.toString()
  }
  return texts
}
