/**
 * One writer per folder: two `up` at the same moment, from a test and from a terminal, must not
 * start an engine twice. The lock names its owner the way pid files do, so a lock whose owner
 * crashed holds nobody up.
 */
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isCode, StackError } from './failures.ts'
import { isRunning, ownRecord, readRecord } from './processes.ts'
import { eventually, narrated, type Report } from './progress.ts'
import { limitsMs } from './settings.ts'

export async function locked<T>(file: string, report: Report, work: () => Promise<T>): Promise<T> {
  mkdirSync(path.dirname(file), { recursive: true })
  const waiting = eventually({ limitMs: limitsMs.lock, everyMs: 100 }, () => tryLock(file))
  const label = () => `waiting for process ${readRecord(file)?.pid ?? '?'}, which holds ${file}`
  const held = await narrated({ report, label }, waiting)
  if (!held) throw new StackError(`gave up waiting for ${file}; delete it if nothing uses it`)
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

/** The file appears together with its content because it is linked, not written, into place. */
function tryLock(file: string): boolean {
  const draft = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`
  writeFileSync(draft, JSON.stringify(ownRecord()))
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
    if (!isRunning(readRecord(file))) rmSync(file, { force: true })
    return false
  } finally {
    rmSync(draft, { force: true })
  }
}
