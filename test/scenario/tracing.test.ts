/** One trace from an operator's command to the last worker, as a collector gets it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { openPlace } from '../kit/place.ts'
import { Program, runProgram } from '../kit/program.ts'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
}

interface Export {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
  }[]
}

/** A collector of OTLP over HTTP, as small as can be. */
const collect = async () => {
  const spans: Span[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { resourceSpans } = JSON.parse(Buffer.concat(parts).toString('utf8')) as Export
    spans.push(
      ...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    )
    response.setHeader('content-type', 'application/json').end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    spans,
    url: `http://127.0.0.1:${port}/v1/traces`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

test('OPS-3: the worker that hears a change is in the trace of the command that made it, on embedded', async () => {
  await using collector = await collect()
  await using place = await openPlace('embedded')
  const variables = { ...place.variables, TRIBUTARY_TELEMETRY_OTLP_URL: collector.url }
  await using program = await Program.serve({ variables })
  const changed = await runProgram(place, 'settings', 'set', 'telemetry.level', 'warn')
  expect(changed.code).toBe(0)
  const find = (name: string) => collector.spans.find((span) => span.name === name)
  const handled = await eventually(() => find('audit setting.changed'), { withinMs: 30_000 })
  const asked = await eventually(() => find('control settings.set'))
  expect(handled.traceId).toBe(asked.traceId)
  expect(handled.parentSpanId).toBe(asked.spanId)
  await program.kill('SIGTERM')
})
