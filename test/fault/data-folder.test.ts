import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConflictError, DamagedError } from '../../services/kernel/errors.ts'
import { DataFolder } from '../../services/platform/embedded/data-folder.ts'
import { Child } from '../kit/child.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'

const holder = (path: string) => new Child('fault/folder-child.ts', { args: [path] })

/** Opens and closes; throws what opening throws. */
const visit = async (path: string): Promise<void> => {
  await using folder = await DataFolder.open(path)
  await using _store = folder.openStore({ mapBytes: 2 ** 28 })
}

/** Every file with its bytes, without those of the lock. */
const contentsOf = (path: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(path)
      .filter((file) => !file.includes('lock'))
      .map((file) => [file, readFileSync(join(path, file)).toString('latin1')]),
  )

describe('the lock of a data folder', () => {
  test('a second process is refused and told the pid of the first', async () => {
    using temporary = temporaryFolder('folder')
    await using first = holder(temporary.path)
    await first.says('open')
    await using second = holder(temporary.path)
    const answer = await second.says('refused')
    expect(answer).toMatch(/^refused CONFLICT /)
    expect(answer).toContain(`process ${first.pid}`)
    await expect(visit(temporary.path)).rejects.toThrow(`process ${first.pid}`)
  })

  test('a folder is free again when its process stops, or is killed', async () => {
    using temporary = temporaryFolder('folder')
    for (const signal of ['SIGTERM', 'SIGKILL', 'SIGKILL'] as const) {
      await using child = holder(temporary.path)
      await child.says('open')
      await child.kill(signal)
    }
    await visit(temporary.path)
  })

  test('a stopped process, which answers nobody, still holds its folder', async () => {
    using temporary = temporaryFolder('folder')
    await using first = holder(temporary.path)
    await first.says('open')
    process.kill(first.pid, 'SIGSTOP')
    await expect(visit(temporary.path)).rejects.toBeInstanceOf(ConflictError)
  })

  test('of many that start at once one wins, and again after it is killed', async () => {
    using temporary = temporaryFolder('folder')
    for (let round = 0; round < 2; round += 1) {
      const children = Array.from({ length: 5 }, () => holder(temporary.path))
      const answers = await Promise.all(
        children.map((child) => Promise.any([child.says('open'), child.says('refused')])),
      )
      expect(answers.filter((answer) => answer === 'open')).toHaveLength(1)
      await Promise.all(children.map((child) => child.kill()))
    }
  })

  test('one process opens a folder once, and may again after closing it', async () => {
    using temporary = temporaryFolder('folder')
    await using folder = await DataFolder.open(temporary.path)
    await expect(DataFolder.open(temporary.path)).rejects.toThrow(`process ${process.pid}`)
    await folder[Symbol.asyncDispose]()
    await visit(temporary.path)
  })
})

describe('a data folder that cannot be used', () => {
  /** A folder with 500 rows in it, closed. */
  const filled = async () => {
    const temporary = temporaryFolder('folder')
    await using folder = await DataFolder.open(temporary.path)
    await using store = folder.openStore({ mapBytes: 2 ** 28 })
    const rows = store.database('rows')
    await store.transaction(() => {
      for (let turn = 0; turn < 500; turn += 1) {
        void rows.put(Buffer.from(`row ${turn}`), Buffer.alloc(1000, turn))
      }
    })
    return temporary
  }

  const damages: readonly (readonly [string, (path: string) => void, RegExp])[] = [
    [
      'of a newer format',
      (path) => note(path, { format: 2, state: 'ready' }),
      /newer version.*format 2/,
    ],
    ['with an unreadable format', (path) => writeFileSync(join(path, 'format'), '{"for'), /format/],
    ['with a senseless format', (path) => note(path, { format: 'x' }), /format/],
    ['without its format', (path) => rmSync(join(path, 'format')), /no 'format'/],
    ['without its store', (path) => rmSync(join(path, 'store.mdb')), /store\.mdb is missing/],
    ['with an empty store', (path) => truncateSync(join(path, 'store.mdb')), /header/],
    ['with half a header', (path) => truncateSync(join(path, 'store.mdb'), 100), /cut off|header/],
    [
      'with a store cut off',
      (path) => truncateSync(join(path, 'store.mdb'), 20_480),
      /cut off.*20480 of/,
    ],
    ['with garbage for a store', (path) => garbage(path), /header/],
  ]
  const note = (path: string, content: unknown) =>
    writeFileSync(join(path, 'format'), JSON.stringify(content))
  const garbage = (path: string) => {
    const file = join(path, 'store.mdb')
    writeFileSync(file, Buffer.alloc(statSync(file).size, 'garbage'))
  }

  test.each(damages)(
    '%s is refused with what to do, and left as it is',
    async (_what, damage, message) => {
      using temporary = await filled()
      damage(temporary.path)
      const before = contentsOf(temporary.path)
      const error = await visit(temporary.path).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(error).toBeInstanceOf(DamagedError)
      expect(String(error)).toMatch(message)
      expect(String(error)).toMatch(/restore a backup/i)
      expect(contentsOf(temporary.path)).toEqual(before)
    },
  )

  test('with files of somebody else is refused and left as it is', async () => {
    using temporary = temporaryFolder('folder')
    writeFileSync(join(temporary.path, 'letter.txt'), 'dear')
    await expect(visit(temporary.path)).rejects.toBeInstanceOf(DamagedError)
    expect(readdirSync(temporary.path)).toEqual(['letter.txt'])
  })

  test('a copy of a folder with its store and format opens', async () => {
    using temporary = await filled()
    using copy = temporaryFolder('copy')
    for (const file of ['format', 'store.mdb']) {
      cpSync(join(temporary.path, file), join(copy.path, file))
    }
    await visit(copy.path)
  })

  test('a first start that was cut short begins again', async () => {
    using temporary = temporaryFolder('folder')
    mkdirSync(join(temporary.path, 'data'))
    note(join(temporary.path, 'data'), { format: 1, state: 'new' })
    writeFileSync(join(temporary.path, 'data', 'store.mdb'), 'half a hea')
    await visit(join(temporary.path, 'data'))
    await visit(join(temporary.path, 'data'))
  })
})
