/**
 * "Is it serving?" asked in each engine's own protocol. An open port is not enough: Redis answers
 * while it still loads its dump, and a container's port accepts before anything listens behind it.
 */
import net from 'node:net'
import { host } from './settings.ts'

const replyLimitMs = 1_500

/** Sends `request` and judges the first bytes of the answer. Any network error means "no". */
function ask(port: number, request: Buffer, judge: (reply: Buffer) => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port })
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(replyLimitMs, () => settle(false))
    socket.once('error', () => settle(false))
    socket.once('end', () => settle(false))
    socket.once('connect', () => socket.write(request))
    socket.once('data', (reply) => settle(judge(reply)))
  })
}

export function redisAnswers(port: number): Promise<boolean> {
  return ask(port, Buffer.from('PING\r\n'), (reply) => reply.toString().startsWith('+PONG'))
}

function clusterInfoSays(port: number, text: string): Promise<boolean> {
  const request = Buffer.from('CLUSTER INFO\r\n')
  return ask(port, request, (reply) => reply.toString().includes(text))
}

export function ringIsWhole(port: number): Promise<boolean> {
  return clusterInfoSays(port, 'cluster_state:ok')
}

/** A node that knows only itself has never been part of a ring. */
export function ringIsUnformed(port: number): Promise<boolean> {
  return clusterInfoSays(port, 'cluster_known_nodes:1\r')
}

/** OPTIONS in protocol version 4; byte 4 of the answer is the opcode, 6 stands for SUPPORTED. */
export function cassandraAnswers(port: number): Promise<boolean> {
  const options = Buffer.from([0x04, 0, 0, 0, 0x05, 0, 0, 0, 0])
  return ask(port, options, (reply) => reply[4] === 0x06)
}

/** ApiVersions version 0, correlation id 7, no client id; the answer repeats the correlation id. */
export function kafkaAnswers(port: number): Promise<boolean> {
  const request = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 0xff, 0xff])
  return ask(port, request, (reply) => reply.length >= 8 && reply.readInt32BE(4) === 7)
}

export function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** A port nobody listens on right now; taken again by whoever is first. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer()
    server.once('error', reject)
    server.listen({ host, port: 0 }, () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
