/**
 * Processes that outlive the command which started them.
 *
 * A pid alone does not name a process: after a crash or a reboot the number belongs to somebody
 * else. A record therefore holds the pid together with the start time the kernel keeps for it, and
 * every signal is sent only when both still agree.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { isCode, StackError } from './failures.ts'
import { eventually } from './progress.ts'
import { limitsMs } from './settings.ts'

export interface ProcessRecord {
  readonly pid: number
  /** Opaque; compared for equality only. */
  readonly startTime: string
}

export interface ProcessStat {
  readonly state: string
  readonly startTime: string
}

/** `/proc/PID/stat`: the command in parentheses may itself hold blanks and parentheses. */
export function parseStat(text: string): ProcessStat | undefined {
  const fields = text
    .slice(text.lastIndexOf(')') + 1)
    .trim()
    .split(/\s+/)
  const [state, startTime] = [fields[0], fields[19]]
  return state && startTime ? { state, startTime } : undefined
}

function statOf(pid: number): ProcessStat | undefined {
  if (process.platform !== 'linux') return statByPs(pid)
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch (error) {
    // ESRCH: the process ended between opening and reading the file.
    if (isCode(error, 'ENOENT') || isCode(error, 'ESRCH')) return undefined
    throw error
  }
}

function statByPs(pid: number): ProcessStat | undefined {
  const result = spawnSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], { encoding: 'utf8' })
  const [state, ...started] = result.stdout.trim().split(/\s+/)
  return state && started.length > 0 ? { state, startTime: started.join(' ') } : undefined
}

/** True while the very process of the record runs; a zombie waiting for its parent is gone. */
export function isRunning(
  record: ProcessRecord | undefined,
  look: (pid: number) => ProcessStat | undefined = statOf,
): record is ProcessRecord {
  if (record === undefined) return false
  const stat = look(record.pid)
  return stat !== undefined && stat.startTime === record.startTime && !/^[ZX]/.test(stat.state)
}

export function ownRecord(): ProcessRecord {
  return recordOf(process.pid)
}

export function recordOf(pid: number): ProcessRecord {
  const stat = statOf(pid)
  if (stat === undefined) throw new StackError(`process ${pid} ended as soon as it was started`)
  return { pid, startTime: stat.startTime }
}

export function parseRecord(text: string): ProcessRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // A file cut short by a crash names no process.
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (!('pid' in value) || !('startTime' in value)) return undefined
  const { pid, startTime } = value
  return typeof pid === 'number' && typeof startTime === 'string' ? { pid, startTime } : undefined
}

export function readRecord(file: string): ProcessRecord | undefined {
  try {
    return parseRecord(readFileSync(file, 'utf8'))
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

export interface Command {
  readonly file: string
  readonly args: readonly string[]
}

export interface Launch extends Command {
  readonly logFile: string
  readonly pidFile: string
}

const logBytesMax = 16 * 1024 * 1024

/** Starts a process in a session of its own, with its output appended to the log. */
export async function launch(plan: Launch): Promise<ProcessRecord> {
  mkdirSync(path.dirname(plan.logFile), { recursive: true })
  mkdirSync(path.dirname(plan.pidFile), { recursive: true })
  rotateLog(plan.logFile)
  const log = openSync(plan.logFile, 'a')
  try {
    // A JVM that crashes leaves its report in its working folder: beside the log is best.
    const cwd = path.dirname(plan.logFile)
    const child = spawn(plan.file, plan.args, { cwd, detached: true, stdio: ['ignore', log, log] })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    child.unref()
    const record = recordOf(child.pid ?? 0)
    writeFileSync(plan.pidFile, `${JSON.stringify(record)}\n`)
    return record
  } finally {
    closeSync(log)
  }
}

/** Logs are appended to, so that the lines before a crash stay; one old file is kept. */
function rotateLog(file: string): void {
  if (sizeOf(file) > logBytesMax) renameSync(file, `${file}.1`)
}

export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function signal(record: ProcessRecord, name: NodeJS.Signals): void {
  try {
    if (isRunning(record)) process.kill(record.pid, name)
  } catch (error) {
    if (!isCode(error, 'ESRCH')) throw error
  }
}

export async function kill(record: ProcessRecord): Promise<void> {
  signal(record, 'SIGKILL')
  const gone = await eventually({ limitMs: limitsMs.kill, everyMs: 10 }, () => !isRunning(record))
  if (!gone) throw new StackError(`process ${record.pid} is still there after SIGKILL`)
}

/** Asks politely first; an engine that does not listen within the limit is killed. */
export async function stop(record: ProcessRecord, limitMs = limitsMs.stop): Promise<void> {
  signal(record, 'SIGTERM')
  const gone = await eventually({ limitMs, everyMs: 25 }, () => !isRunning(record))
  if (!gone) await kill(record)
}

/** Forgets a process that ended. */
export function dropRecord(file: string): void {
  rmSync(file, { force: true })
}
