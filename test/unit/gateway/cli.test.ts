import { describe, expect, test } from 'vitest'
import { type Actions, runCli } from '../../../gateway/cli/cli.ts'
import {
  BadInputError,
  DamagedError,
  NotFoundError,
  UnavailableError,
} from '../../../services/kernel/errors.ts'

interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly calls: readonly unknown[]
}

const run = async (line: string, answer: (name: string) => unknown = () => []): Promise<Run> => {
  const calls: unknown[] = []
  const note =
    (name: string) =>
    async (...words: unknown[]) => {
      calls.push([
        name,
        ...words.map((word) => (word instanceof Map ? Object.fromEntries(word) : word)),
      ])
      return String(answer(name))
    }
  const output = { out: '', err: '' }
  const actions: Actions = {
    version: '9.8.7',
    serve: async (flags) => void (await note('serve')(flags)),
    migrate: async (flags, progress) => progress(await note('migrate')(flags)),
    restore: note('restore'),
    command: async (name, words, flags) => {
      await note(name)(words, flags)
      return answer(name)
    },
    out: (text) => {
      output.out += text
    },
    err: (text) => {
      output.err += text
    },
  }
  const code = await runCli(line.split(' ').filter(Boolean), actions)
  return { code, calls, ...output }
}

const throwing = (error: Error) => (): never => {
  throw error
}

describe('the command line', () => {
  test('ACC-3: grants are given by handle', async () => {
    const { code, calls, out } = await run('accounts grant ada read,write,admin --data=/tmp/x')
    expect(code).toBe(0)
    expect(calls).toEqual([
      [
        'accounts.grant',
        { handle: 'ada', scopes: 'read,write,admin' },
        { 'engine.dataFolder': '/tmp/x' },
      ],
    ])
    expect(out).toBe('ada may read,write,admin when they sign in again\n')
  })

  test('flags of serve become settings', async () => {
    const { code, calls } = await run('serve --role=audit --engine=cluster --port=0 --data=/tmp/x')
    expect(code).toBe(0)
    expect(calls).toEqual([
      [
        'serve',
        {
          'engine.kind': 'cluster',
          'engine.dataFolder': '/tmp/x',
          'server.roles': 'audit',
          'server.port': '0',
        },
      ],
    ])
  })

  test('--help shows examples and exit codes', async () => {
    const { code, out } = await run('--help')
    expect(code).toBe(0)
    expect(out).toContain('tributary settings set telemetry.level debug')
    expect(out).toContain('Exit codes:')
  })

  test.each([
    ['serve --prot=3', '--port'],
    ['sreve', 'serve'],
    ['settings lst', 'list'],
    ['dead-letters repaly 1', 'replay'],
  ])('%s is refused with a suggestion', async (line, meant) => {
    const { code, err, calls } = await run(line)
    expect(code).toBe(2)
    expect(err).toContain(`Did you mean ${meant}?`)
    expect(calls).toEqual([])
  })

  test('an engine that does not exist is refused', async () => {
    expect(await run('serve --engine=paper')).toMatchObject({ code: 2, calls: [] })
  })

  test.each([
    [new BadInputError('no'), 2],
    [new NotFoundError('no'), 1],
    [new UnavailableError('no'), 3],
    [new DamagedError('no'), 4],
    [new TypeError('no'), 1],
  ])('%s ends with exit code %i', async (error, code) => {
    const ended = await run('dead-letters show 1', throwing(error))
    expect(ended).toMatchObject({ code, out: '' })
    expect(ended.err).toContain('no')
  })

  test('the cause of a fault is told', async () => {
    const fault = new UnavailableError('no answer', { cause: new Error('connection refused') })
    const { err } = await run('settings', throwing(fault))
    expect(err).toBe('tributary: no answer\n  because: Error: connection refused\n')
  })

  test('settings print as a table and as JSON', async () => {
    const line = { name: 'a.b', value: '1', default: '2', range: '1 to 3', about: 'c' }
    const list = [{ ...line, live: true, source: 'default', unit: '' }]
    const table = await run('settings', () => list)
    expect(table.out).toMatch(/^NAME {2}VALUE/)
    expect(table.out).toContain('a.b   1')
    const json = await run('settings list --json', () => list)
    expect(JSON.parse(json.out)).toEqual(list)
  })

  test('the folder of a backup is made absolute before the running program gets it', async () => {
    const { calls } = await run('backup some/place')
    expect(calls).toEqual([['backup', { folder: `${process.cwd()}/some/place` }, {}]])
  })

  test('version is printed by command and by flag', async () => {
    expect((await run('version')).out).toBe('9.8.7\n')
    expect((await run('--version')).out).toBe('9.8.7\n')
  })
})
