import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { askRunning } from '../../../gateway/control/control-client.ts'
import { ControlServer } from '../../../gateway/control/control-server.ts'
import { LINE_BYTES_MAX } from '../../../gateway/control/protocol.ts'
import { socketPath } from '../../../gateway/control/socket-path.ts'
import type { Services } from '../../../services/compose.ts'
import { BadInputError } from '../../../services/kernel/errors.ts'
import { Telemetry } from '../../../services/platform/telemetry.ts'

const folder = mkdtempSync(join(tmpdir(), 'tributary-control-'))
afterAll(() => rmSync(folder, { recursive: true }))

const lines = [{ name: 'a.b', value: '1' }]
const services = {
  settings: {
    list: () => lines,
    set: () => Promise.reject(new BadInputError('a.b must be a number', { field: 'a.b' })),
    get: () => {
      throw new TypeError('a bug')
    },
  },
} as unknown as Services

const openControl = (path: string) =>
  ControlServer.open({
    path,
    telemetry: new Telemetry({ level: 'silent', version: 'test' }),
    context: { services, backup: undefined },
  })

const ask = (path: string, command: string, words: Record<string, string> = {}) =>
  askRunning(path, { command, words, actor: 'ada' })

const say = (path: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let heard = ''
    const socket = connect(path, () => socket.write(text))
    socket.on('data', (chunk) => {
      heard += chunk
      if (heard.includes('\n')) socket.end()
    })
    socket.on('close', () => resolve(heard))
    socket.on('error', reject)
  })

describe('the control socket', () => {
  test('a command is answered; only the owner may open the socket', async () => {
    const path = join(folder, 'a.sock')
    await using _control = await openControl(path)
    expect(await ask(path, 'settings.list')).toEqual({ answered: true, value: lines })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('a fault keeps its code, message and field; a bug is not told', async () => {
    const path = join(folder, 'b.sock')
    await using _control = await openControl(path)
    await expect(ask(path, 'settings.set', { name: 'a.b', value: 'x' })).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: 'a.b must be a number',
      field: 'a.b',
    })
    await expect(ask(path, 'settings.get', { name: 'a.b' })).rejects.not.toThrow('a bug')
    await expect(ask(path, 'settings.lits')).rejects.toThrow('did you mean settings.list?')
  })

  test('nobody listening is an answer of its own', async () => {
    expect(await ask(join(folder, 'nobody.sock'), 'settings.list')).toEqual({ answered: false })
  })

  test('what a crashed process left behind is replaced', async () => {
    const path = join(folder, 'c.sock')
    const first = await openControl(path)
    await using _second = await openControl(path)
    expect((await ask(path, 'settings.list')).answered).toBe(true)
    await first[Symbol.asyncDispose]()
  })

  test('a line that is no request is refused, one without an end is cut off', async () => {
    const path = join(folder, 'd.sock')
    await using _control = await openControl(path)
    expect(await say(path, 'hello\n')).toContain('BAD_INPUT')
    expect(await say(path, '{"command":1}\n')).toContain('BAD_INPUT')
    expect(await say(path, 'x'.repeat(LINE_BYTES_MAX + 70_000)).catch(() => '')).toBe('')
  })

  test('a folder too deep for a socket has it elsewhere, for this user alone', async () => {
    const deep = join(folder, 'deep'.repeat(10), 'deeper'.repeat(10), 'deepest'.repeat(5))
    mkdirSync(deep, { recursive: true })
    const path = socketPath(deep)
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103)
    expect(socketPath(deep)).toBe(path)
    await using _control = await openControl(path)
    expect((await ask(path, 'settings.list')).answered).toBe(true)
    expect(statSync(join(path, '..')).mode & 0o077).toBe(0)
  })
})
