/** The program as people meet it: started, asked, told to stop, killed. */
import { existsSync, mkdirSync, readdirSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { KEY_SET_PATH } from '../../gateway/rest/key-set.ts'
import { engines } from '../kit/engines.ts'
import { eventually } from '../kit/eventually.ts'
import { GraphqlClient } from '../kit/graphql-client.ts'
import { openPlace } from '../kit/place.ts'
import { Program, runProgram } from '../kit/program.ts'
import { SocketClient } from '../kit/socket-client.ts'

/** Each starts several processes: on a busy machine that takes its time. */
describe.each(engines)('the program on %s', { timeout: 180_000 }, (engine) => {
  test('PLT-3: it serves, says where, is ready, and ends in order on SIGTERM', async () => {
    await using place = await openPlace(engine)
    await using program = await Program.serve(place)
    expect(program.lines.at(-1)).toContain(`${engine} engines`)
    const ready = await program.get('/readyz')
    expect(ready.status).toBe(200)
    expect(JSON.parse(ready.text)).toMatchObject({ ready: true, degraded: false })
    expect((await program.get('/startupz')).status).toBe(200)
    expect((await program.get('/metrics')).text).toContain('tributary_worker_lag_events')
    expect(await program.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })

  test('PLT-5: it serves the API, and an open socket does not keep it from stopping', async () => {
    await using place = await openPlace(engine)
    await using program = await Program.serve(place)
    const client = new GraphqlClient(program.address)
    for (const _time of [1, 2, 3]) {
      expect(await client.ask(undefined, '{ __typename }')).toMatchObject({
        status: 200,
        data: { __typename: 'Query' },
      })
    }
    await using socket = new SocketClient(program.address)
    await socket.init()
    expect(await program.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(await socket.closed()).toMatchObject({ code: 1001 })
  })

  test('OPS-1: a setting changed by command reaches the running program and outlives kill -9', async () => {
    await using place = await openPlace(engine)
    await using program = await Program.serve(place)
    const changed = await runProgram(place, 'settings', 'set', 'telemetry.level', 'debug')
    expect(changed).toMatchObject({ code: 0, err: '' })
    await eventually(async () => {
      const { out } = await runProgram(place, 'settings', 'history', '--json')
      return JSON.parse(out).length === 1
    })
    await program.kill('SIGKILL')
    await using again = await Program.serve(place)
    const { out } = await runProgram(place, 'settings', 'get', 'telemetry.level', '--json')
    expect(JSON.parse(out)).toMatchObject({ value: 'debug', source: 'changed' })
    await again.kill('SIGTERM')
  })

  test('commands work while nothing runs', async () => {
    await using place = await openPlace(engine)
    expect((await runProgram(place, 'settings', 'set', 'telemetry.level', 'warn')).code).toBe(0)
    const list = await runProgram(place, 'settings', '--json')
    expect(list.code).toBe(0)
    expect(JSON.parse(list.out).length).toBeGreaterThan(30)
    expect(await runProgram(place, 'dead-letters')).toMatchObject({
      code: 0,
      out: 'There are no dead letters.',
    })
    expect((await runProgram(place, 'dead-letters', 'show', '5000000000000000000')).code).toBe(1)
    expect((await runProgram(place, 'migrate')).code).toBe(0)
  })
})

describe('the program', { timeout: 180_000 }, () => {
  test('OPS-1: wrong settings are all listed before anything is opened', async () => {
    const variables = {
      TRIBUTARY_SERVER_PORT: 'http',
      TRIBUTARY_TELEMETRY_LEVEL: 'loud',
      TRIBUTARY_SERVER_PROT: '1',
    }
    const { code, err } = await runProgram({ variables }, 'serve')
    expect(code).toBe(2)
    for (const name of Object.keys(variables)) expect(err).toContain(name)
    expect(err).toContain('did you mean TRIBUTARY_SERVER_PORT?')
  })

  test('without the role of the gateway it serves health and metrics, and no API', async () => {
    await using place = await openPlace('embedded')
    await using program = await Program.serve(place, '--role=audit')
    for (const path of ['/healthz', '/readyz', '/metrics', '/version']) {
      expect((await program.get(path)).status, path).toBe(200)
    }
    for (const path of ['/graphql?query={__typename}', KEY_SET_PATH]) {
      expect((await program.get(path)).status, path).toBe(404)
    }
    await using socket = new SocketClient(program.address)
    await socket.closed()
    expect(socket.refusedWith).toBe(404)
    expect(await program.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })

  test('an unknown role is refused with the one that was meant', async () => {
    const { code, err } = await runProgram({ variables: {} }, 'serve', '--role=audits')
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('audit?') })
  })

  test('an engine that cannot be reached is waited for, named, and given up with code 3', async () => {
    const variables = {
      TRIBUTARY_ENGINE_KIND: 'cluster',
      TRIBUTARY_ENGINE_START_WAIT_MS: '1500',
      TRIBUTARY_CASSANDRA_HOSTS: '127.0.0.1:1',
    }
    const { code, out, err } = await runProgram({ variables }, 'serve', '--port=0')
    expect(code).toBe(3)
    expect(out).toContain('waiting for Cassandra at 127.0.0.1:1')
    expect(err).toContain('waited 2 s for Cassandra at 127.0.0.1:1')
  })

  test('PLT-3: a second process on one data folder is refused and told who has it', async () => {
    await using place = await openPlace('embedded')
    await using program = await Program.serve(place)
    const { code, err } = await runProgram(place, 'serve', '--port=0')
    expect(code).toBe(4)
    expect(err).toMatch(new RegExp(`\\b${program.pid}\\b`))
    expect((await program.get('/healthz')).status).toBe(200)
  })

  test('a port that is taken ends the start', async () => {
    await using place = await openPlace('embedded')
    await using program = await Program.serve(place)
    await using other = await openPlace('embedded')
    const port = new URL(program.address).port
    const { code, err } = await runProgram(other, 'serve', `--port=${port}`)
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('EADDRINUSE') })
  })

  test('the control socket is for its owner alone and goes with the program', async () => {
    await using place = await openPlace('embedded')
    await using program = await Program.serve(place)
    const socket = join(place.dataFolder, 'control.sock')
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    const dead = await runProgram(place, 'dead-letters', 'drop', '5000000000000000000')
    expect(dead).toMatchObject({ code: 1, err: expect.stringContaining('no dead letter') })
    await program.kill('SIGTERM')
    expect(existsSync(socket)).toBe(false)
  })

  test('without its socket a command finds the folder in use', async () => {
    await using place = await openPlace('embedded')
    await using program = await Program.serve(place)
    unlinkSync(join(place.dataFolder, 'control.sock'))
    const { code, err } = await runProgram(place, 'settings')
    expect(code).toBe(4)
    expect(err).toContain(String(program.pid))
  })

  test('a command that only reads makes no data folder', async () => {
    await using place = await openPlace('embedded')
    const variables = { ...place.variables, TRIBUTARY_TELEMETRY_LEVEL: 'warn' }
    const list = await runProgram({ variables }, 'settings', 'list', '--json')
    expect(JSON.parse(list.out).length).toBeGreaterThan(30)
    const one = await runProgram({ variables }, 'settings', 'get', 'telemetry.level', '--json')
    expect(JSON.parse(one.out)).toMatchObject({ value: 'warn', source: 'environment' })
    const others = [['settings', 'history'], ['dead-letters'], ['backup', join(place.folder, 'b')]]
    for (const words of others) {
      const { code, err } = await runProgram({ variables }, ...words)
      expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('no data in') })
    }
    expect(readdirSync(place.folder)).toEqual([])
    mkdirSync(place.dataFolder)
    expect((await runProgram({ variables }, 'dead-letters')).code).toBe(1)
    expect(readdirSync(place.dataFolder)).toEqual([])
  })

  test('a second signal ends a program that drains at once', async () => {
    await using place = await openPlace('embedded')
    const slow = { variables: { ...place.variables, TRIBUTARY_SERVER_UNREADY_MS: '60000' } }
    await using program = await Program.serve(slow)
    const ending = program.kill('SIGTERM')
    await eventually(async () => (await program.get('/readyz')).status === 503)
    void program.kill('SIGTERM')
    expect(await ending).toEqual({ code: 1, signal: null })
  })

  test('a drain that takes too long ends by itself', async () => {
    await using place = await openPlace('embedded')
    const variables = {
      ...place.variables,
      TRIBUTARY_SERVER_UNREADY_MS: '60000',
      TRIBUTARY_SERVER_DRAIN_MS: '300',
    }
    await using program = await Program.serve({ variables })
    expect(await program.kill('SIGTERM')).toEqual({ code: 1, signal: null })
  })

  test('PLT-6: a backup taken while it serves is restored into another folder', async () => {
    await using place = await openPlace('embedded')
    await using program = await Program.serve(place)
    await runProgram(place, 'settings', 'set', 'telemetry.level', 'debug')
    const copy = join(place.folder, 'copy')
    expect(await runProgram(place, 'backup', copy)).toMatchObject({ code: 0 })
    await program.kill('SIGTERM')
    const data = `--data=${join(place.folder, 'restored')}`
    expect(await runProgram(place, 'restore', copy, data)).toMatchObject({ code: 0 })
    const { out } = await runProgram(place, 'settings', 'get', 'telemetry.level', '--json', data)
    expect(JSON.parse(out)).toMatchObject({ value: 'debug' })
    expect((await runProgram(place, 'restore', copy)).code).toBe(4)
  })
})
