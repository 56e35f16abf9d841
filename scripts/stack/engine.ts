/** What the stack needs to know of an engine, and how any engine is started and waited for. */
import { closeSync, openSync, readSync } from 'node:fs'
import path from 'node:path'
import { StackError } from './failures.ts'
import { portIsFree } from './probes.ts'
import { type Command, isRunning, launch, type ProcessRecord, sizeOf } from './processes.ts'
import { eventually, narrated, type Report, secondsSince } from './progress.ts'
import { type EngineName, host, type Layout, offsetStep } from './settings.ts'

export interface Engine {
  readonly name: EngineName
  /** All it listens on; checked before the start, when the reason for a failure is still clear. */
  readonly ports: readonly number[]
  readonly startLimitMs: number
  /** A log line that must appear before the probe counts. */
  readonly readyLine?: string
  /** Downloads, renders configuration, formats data: whatever a start needs. Idempotent. */
  prepare(report: Report): Promise<Command>
  probe(): Promise<boolean>
}

export function pidFile(layout: Layout, name: EngineName): string {
  return path.join(layout.pids, `${name}.json`)
}

export function logFile(layout: Layout, name: EngineName): string {
  return path.join(layout.logs, `${name}.log`)
}

export async function startEngineProcess(
  engine: Engine,
  layout: Layout,
  report: Report,
): Promise<void> {
  const command = await engine.prepare(report)
  const startedAt = performance.now()
  const log = logFile(layout, engine.name)
  const logStart = sizeOf(log)
  const record = await launch({ ...command, logFile: log, pidFile: pidFile(layout, engine.name) })
  await waitUntilReady({ engine, record, log, logStart, report })
  report(`${engine.name} is up on ${host}:${engine.ports[0]} (${secondsSince(startedAt)})`)
}

/** For an engine that runs already, perhaps started by a command that was interrupted. */
export async function joinEngineProcess(
  engine: Engine,
  layout: Layout,
  joined: { record: ProcessRecord; report: Report },
): Promise<void> {
  const { readyLine: _, ...probed } = engine
  const log = logFile(layout, engine.name)
  await waitUntilReady({ ...joined, engine: probed, log, logStart: 0 })
}

export async function refuseTakenPorts(engines: readonly Engine[]): Promise<void> {
  for (const engine of engines) {
    for (const port of engine.ports) if (!(await portIsFree(port))) throw portTaken(engine, port)
  }
}

function portTaken(engine: Engine, port: number): StackError {
  return new StackError(
    `${engine.name} cannot start: another process listens on ${host}:${port}. ` +
      'If that is the stack of another checkout, share it by setting TRIBUTARY_STACK_DIR to ' +
      `its folder, or start one beside it with --offset ${offsetStep}.`,
  )
}

/** No engine says more than this between its start and its ready line. */
const logTailBytes = 1024 * 1024

interface Start {
  readonly engine: Engine
  readonly record: ProcessRecord
  readonly log: string
  readonly logStart: number
  readonly report: Report
}

async function waitUntilReady(start: Start): Promise<void> {
  const { engine, record, report } = start
  const check = async () =>
    !isRunning(record) || (hasReadyLine(start) && (await engine.probe()) && isRunning(record))
  const waiting = eventually({ limitMs: engine.startLimitMs, everyMs: 50 }, check)
  const label = () => `waiting for ${engine.name} (pid ${record.pid}) to serve`
  const inTime = await narrated({ report, label }, waiting)
  if (!isRunning(record)) throw startFailure(start, 'ended during its start')
  if (!inTime) throw startFailure(start, `does not serve after ${engine.startLimitMs / 1000} s`)
}

/** The log may have been rotated meanwhile, so a start past the end means "read all of it". */
function freshLog(start: Start): string {
  const size = sizeOf(start.log)
  const from = Math.max(start.logStart <= size ? start.logStart : 0, size - logTailBytes)
  const bytes = Buffer.alloc(size - from)
  const file = openSync(start.log, 'r')
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from)).toString()
  } finally {
    closeSync(file)
  }
}

function hasReadyLine(start: Start): boolean {
  return start.engine.readyLine === undefined || freshLog(start).includes(start.engine.readyLine)
}

function startFailure(start: Start, what: string): StackError {
  const tail = freshLog(start).trimEnd().split('\n').slice(-20).join('\n')
  return new StackError(`${start.engine.name} ${what}. The end of ${start.log}:\n${tail}`)
}
