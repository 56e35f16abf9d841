/** OPS-3: an operation is a span, named by its type alone; its own name is the client's choice. */
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { gatewayExtension } from '../kit/gateway-extension.ts'
import type { Asker } from '../kit/graphql-client.ts'
import { SocketClient } from '../kit/socket-client.ts'
import { World } from '../kit/world.ts'

const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })

let world: World
let ada: Asker

beforeAll(async () => {
  provider.register()
  world = await World.open({ engine: 'embedded', extension: gatewayExtension() })
  ada = await world.services.accounts.signUp({ handle: 'ada', password: 'correct horse' })
  await world.address()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await provider.shutdown()
})
beforeEach(() => exporter.reset())

const operations = () =>
  exporter
    .getFinishedSpans()
    .filter(({ attributes }) => 'graphql.operation.type' in attributes)
    .map(({ name, attributes }) => ({ name, attributes }))

const traceOf = (operation: string): string | undefined =>
  exporter
    .getFinishedSpans()
    .find(({ name }) => name === operation)
    ?.spanContext().traceId

test.each([
  ['query', '{ echo(text: "a") }', undefined],
  ['query', 'query Mine { echo(text: "a") }', 'Mine'],
  ['mutation', 'mutation Rename { rename(input: { name: "a" }) { name } }', 'Rename'],
])('a %s over HTTP is one span: %s', async (type, document, name) => {
  await world.graphql(ada, document)
  const attributes = {
    'graphql.operation.type': type,
    ...(name === undefined ? {} : { 'graphql.operation.name': name }),
  }
  expect(operations()).toEqual([{ name: type, attributes }])
})

test('a fault is told with the id of the trace in which it happened', async () => {
  const { errors } = await world.graphql(undefined, '{ failing }')
  expect(errors[0]?.extensions?.['traceId']).toBe(traceOf('query'))
  exporter.reset()
  await using client = new SocketClient(await world.address())
  await client.init()
  client.subscribe('1', '{ failing }')
  const { payload } = await client.next('next', '1')
  expect(payload).toMatchObject({ errors: [{ extensions: { traceId: traceOf('query') } }] })
})

test.each([
  ['query', '{ echo(text: "a") }'],
  ['subscription', 'subscription { count(to: 1) }'],
])('a %s on a socket is one span', async (type, document) => {
  await using client = new SocketClient(await world.address())
  await client.init()
  client.subscribe('1', document)
  await client.next('complete', '1')
  await eventually(() => operations().length > 0)
  expect(operations()).toEqual([{ name: type, attributes: { 'graphql.operation.type': type } }])
})

test('what is refused is no operation', async () => {
  await world.graphql(undefined, '{ secret }')
  await world.graphql(undefined, '{ nothing }')
  expect(operations()).toEqual([])
})
