/**
 * A program that writes for as long as it lives and says, a line each, what was acknowledged. It is
 * killed; what it said must be there.
 *
 * Writer `w` does step `n` in one commit: a row of its own (w, n), its head row at n, and an event of
 * key `w`. So a step that is half there shows, and so does a log out of order. Then it writes a pair
 * of rows in two tables without an event. Besides, rows that expire keep the sweeper busy, and one writer puts blobs.
 */
import { writeSync } from 'node:fs'
import { makeEvent, SettingChanged } from '../../services/kernel/events.ts'
import { put } from '../../services/platform/tables.ts'
import { byName, byNameDown, oldest, samples } from '../contract/tables-fixture.ts'
import { blobOf, eventIdOf, headOf, openCrashStore, pairOf } from './crash-store.ts'

const [path = '', writers = '8', stepsMax = 'Infinity'] = process.argv.slice(2)
const opened = await openCrashStore(path)
const { tables, commit, blobs } = opened

/** Straight to the descriptor: what was said has left the process when it is killed. */
const say = (text: string): void => {
  writeSync(1, `${text}\n`)
}

const nextStep = async (writer: number): Promise<number> =>
  ((await tables.get(samples, headOf(writer)))?.whole ?? -1) + 1

const doStep = async (writer: number, step: number): Promise<void> => {
  const name = `writer ${writer}`
  const event = makeEvent(
    SettingChanged,
    { id: eventIdOf(writer, step), at: step },
    { name, value: `${step}`, actor: 'crash', changedAt: step },
  )
  const row = { reader: BigInt(writer), ms: step, id: 0n, title: `${step}`, rank: step }
  await commit.commit([put(oldest, row), put(samples, { ...headOf(writer), whole: step })], [event])
  say(`ack ${writer} ${step}`)
  const pair = { scope: name, name: 'pair', value: pairOf(writer, step) }
  await tables.write([put(byName, pair), put(byNameDown, pair)])
  say(`pair ${writer} ${step}`)
  const brief = { scope: name, name: `${step}`, value: 'brief' }
  if (step % 10 === 0) await tables.write([put(byName, brief, { ttlSeconds: 1 })])
}

const write = async (writer: number): Promise<void> => {
  const first = await nextStep(writer)
  for (let step = first; step < first + Number(stepsMax); step += 1) await doStep(writer, step)
}

const putBlobs = async (): Promise<void> => {
  const first = await nextStep(0)
  for (let step = first; step < first + Number(stepsMax); step += 1) {
    await blobs.put(`step/${step}`, blobOf(step))
    say(`blob 0 ${step}`)
  }
}

say('open')
await Promise.all([putBlobs(), ...Array.from({ length: Number(writers) }, (_, w) => write(w))])
await opened[Symbol.asyncDispose]()
