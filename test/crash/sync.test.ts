/**
 * A kill cannot show a missing sync, since the page cache survives the process. So this watches the
 * system calls of a writer: before each acknowledgement leaves the process, the bytes it is about
 * were written, then synced, then the header that makes them count was written through.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Child } from '../kit/child.ts'
import { temporaryFolder } from '../kit/temporary-folder.ts'
import { pairOf } from './crash-store.ts'
import { inOrder, parseTrace, type SystemCall } from './system-calls.ts'

const WRITERS = 4
const STEPS = 25
const CALLS = 'openat,fsync,fdatasync,msync,write,writev,pwrite64,pwritev,rename,renameat2'

/** Runs a writer and gives back the trace of its calls. */
const watch = async (folder: string): Promise<string> => {
  const found = spawnSync('strace', ['--version'])
  if (found.error) throw new Error('this test needs strace: apt-get install strace')
  const trace = join(folder, 'trace.txt')
  const under = ['strace', '-f', '-y', '-s', '1000000', '-o', trace, '-e', `trace=${CALLS}`]
  const args = [join(folder, 'data'), `${WRITERS}`, `${STEPS}`]
  await using child = new Child('crash/crash-child.ts', { under, args })
  const ending = await child.ended()
  expect(ending, child.errors).toEqual({ code: 0, signal: null })
  return readFileSync(trace, 'utf8')
}

const isWrite = ({ name }: SystemCall) => /write/.test(name)
const isSync = ({ name }: SystemCall) => name === 'fdatasync' || name === 'fsync'
const isOn = (path: string) => (call: SystemCall) => call.text.includes(`${path}>`)
const isStore = isOn('/data/store.mdb')

/** Descriptors of the store's file whose writes reach the disk before they return. */
const writtenThrough = (trace: string): ReadonlySet<string> => {
  const opened = [...trace.matchAll(/store\.mdb", [^)]*O_DSYNC[^)]*\) += (\d+)</g)]
  return new Set(opened.map(([, descriptor = '']) => descriptor))
}

/** Acknowledgements that left the process too early. */
const tooEarly = (calls: readonly SystemCall[], through: ReadonlySet<string>): string[] => {
  const isThrough = ({ text }: SystemCall) => through.has(/^(\d+)</.exec(text)?.[1] ?? '')
  const early: string[] = []
  for (const call of calls) {
    const said = /^1<[^>]*>, "(ack|pair|blob) (\d+) (\d+)\\n"/.exec(call.text)
    if (!said || call.name !== 'write') continue
    const [, kind = '', writer = '', step = ''] = said
    const event = `\\"name\\":\\"writer ${writer}\\",\\"value\\":\\"${step}\\"`
    const written = kind === 'ack' ? event : pairOf(Number(writer), Number(step))
    const steps =
      kind !== 'blob'
        ? [
            (each: SystemCall) => isWrite(each) && isStore(each) && each.text.includes(written),
            (each: SystemCall) => isSync(each) && isStore(each),
            (each: SystemCall) => isWrite(each) && isStore(each) && isThrough(each),
          ]
        : blobSteps(calls, step)
    if (!inOrder(calls, call, steps)) early.push(`${kind} ${writer} ${step}`)
  }
  return early
}

/** Synced, renamed, and the folder of the new name synced. */
const blobSteps = (calls: readonly SystemCall[], step: string) => {
  const place = `/blobs/step+/${step}"`
  const renamed = calls.find(({ name, text }) => name.startsWith('rename') && text.includes(place))
  const incoming = /"([^"]*\+incoming\/[^"]*)"/.exec(renamed?.text ?? '')?.[1] ?? 'nothing'
  return [
    (each: SystemCall) => isSync(each) && isOn(incoming)(each),
    (each: SystemCall) => each === renamed,
    (each: SystemCall) => isSync(each) && isOn('/blobs/step+')(each),
  ]
}

test('no acknowledgement leaves the process before the sync of its transaction', async () => {
  using folder = temporaryFolder('sync')
  const trace = await watch(folder.path)
  const calls = parseTrace(trace)
  const through = writtenThrough(trace)
  expect(through.size).toBeGreaterThan(0)
  const acknowledgements = calls.filter(({ text }) => /^1<[^>]*>, "(ack|pair|blob) /.test(text))
  expect(acknowledgements).toHaveLength((2 * WRITERS + 1) * STEPS)
  expect(tooEarly(calls, through)).toEqual([])

  // The watch is worth something: without the syncs, or with the headers not written through, it
  // finds every acknowledgement too early.
  const count = acknowledgements.length
  expect(
    tooEarly(
      calls.filter((call) => !isSync(call)),
      through,
    ),
  ).toHaveLength(count)
  expect(tooEarly(calls, new Set())).toHaveLength(2 * WRITERS * STEPS)
})
