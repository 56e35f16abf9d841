import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { Health } from '../../../gateway/health.ts'
import { HttpServer } from '../../../gateway/server.ts'
import { serverSettings } from '../../../gateway/settings.ts'
import { Settings } from '../../../services/kernel/settings.ts'
import type { Probe } from '../../../services/platform/platform.ts'
import { Telemetry } from '../../../services/platform/telemetry.ts'
import { eventually } from '../../kit/eventually.ts'

const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]()
})

const start = async () => {
  const telemetry = new Telemetry({ level: 'silent', version: 'test' })
  const health = new Health({ probeMs: 50 })
  const settings = { ...new Settings([serverSettings]).view(serverSettings), port: 0 }
  const server = new HttpServer({ settings, telemetry, health, version: '1.2.3' })
  const address = await server.listen()
  open.push(server, health)
  const get = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${address}${path}`, init)
    const text = await response.text()
    const json = response.headers.get('content-type')?.includes('json') && text !== ''
    return {
      status: response.status,
      headers: response.headers,
      body: json ? JSON.parse(text) : text,
    }
  }
  return { health, server, address, get }
}

/** Parts whose answers a test decides. */
const parts = () => {
  const down = new Set<string>()
  const probe = (name: Probe['name'], essential: boolean): Probe => ({
    name,
    essential,
    ask: async () => {
      if (down.has(name)) throw new Error(`${name} is away`)
    },
  })
  return { down, probes: [probe('tables', true), probe('log', true), probe('cache', false)] }
}

describe('the HTTP server', () => {
  test('OPS-3: a starting program is alive, not started and not ready', async () => {
    const { get } = await start()
    expect(await get('/healthz')).toMatchObject({ status: 200, body: { alive: true } })
    expect(await get('/startupz')).toMatchObject({ status: 503, body: { started: false } })
    expect(await get('/readyz')).toMatchObject({ status: 503, body: { phase: 'starting' } })
  })

  test('OPS-3: readiness lists each part, from answers at most a second old', async () => {
    const { get, health } = await start()
    const { probes } = parts()
    await health.serving(probes)
    const { status, body } = await get('/readyz')
    expect(status).toBe(200)
    expect(body).toMatchObject({ ready: true, degraded: false })
    expect(body.parts.map(({ name }: { name: string }) => name)).toEqual(['tables', 'log', 'cache'])
    for (const part of body.parts) expect(part.checkedMsAgo).toBeLessThan(1000)
  })

  test('without its cache the program is degraded but ready, without its tables it is not', async () => {
    const { get, health } = await start()
    const { probes, down } = parts()
    await health.serving(probes)
    down.add('cache')
    await eventually(async () => (await get('/readyz')).body.degraded)
    expect(await get('/readyz')).toMatchObject({ status: 200, body: { ready: true } })
    down.add('tables')
    await eventually(async () => (await get('/readyz')).status === 503)
    down.clear()
    await eventually(async () => (await get('/readyz')).status === 200)
  })

  test('a part that never answers is down', async () => {
    const { get, health } = await start()
    const { probes } = parts()
    let isSilent: boolean = false
    const silent: Probe = {
      name: 'log',
      essential: true,
      ask: () => (isSilent ? new Promise(() => undefined) : Promise.resolve()),
    }
    await health.serving([...probes, silent])
    isSilent = true
    await eventually(async () => (await get('/readyz')).status === 503)
  })

  test('a draining program is not ready and closes its connections', async () => {
    const { get, health } = await start()
    await health.serving(parts().probes)
    health.draining()
    const { status, headers } = await get('/readyz')
    expect(status).toBe(503)
    expect(headers.get('connection')).toBe('close')
  })

  test('version and metrics are told', async () => {
    const { get } = await start()
    expect((await get('/version')).body).toEqual({ version: '1.2.3', mode: 'production' })
    const metrics = await get('/metrics')
    expect(metrics.headers.get('content-type')).toContain('text/plain')
    expect(metrics.body).toContain('tributary_http_request_seconds_count{path="/version"')
  })

  test('an unknown path is 404 and an unknown method 405, both in JSON', async () => {
    const { get } = await start()
    expect(await get('/nowhere')).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND' } },
    })
    const refused = await get('/healthz', { method: 'POST' })
    expect(refused).toMatchObject({ status: 405, body: { error: { code: 'BAD_INPUT' } } })
    expect(refused.headers.get('allow')).toBe('GET, HEAD')
  })

  test('a client with too large a head is refused', async () => {
    const { get } = await start()
    const { status } = await get('/version', { headers: { 'x-long': 'x'.repeat(20_000) } })
    expect(status).toBe(431)
  })

  test('a closed server takes no new connection', async () => {
    const { server, address } = await start()
    await server.close()
    const { hostname, port } = new URL(address)
    const refused = await new Promise((resolve) => {
      connect(Number(port), hostname).on('error', resolve)
    })
    expect(refused).toMatchObject({ code: 'ECONNREFUSED' })
  })
})
