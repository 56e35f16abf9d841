/** Short-lived helpers (Maven, the Kafka formatter, Compose): run to the end, never left behind. */
import { type ChildProcess, spawn } from 'node:child_process'
import { StackError } from './failures.ts'
import type { Command } from './processes.ts'

const outputBytesMax = 8_192

/** Keeps the last of what a child says, for the message when it fails. */
export function lastWords(child: ChildProcess): () => string {
  let text = ''
  const add = (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-outputBytesMax)
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  child.on('error', (error) => add(Buffer.from(error.message)))
  return () => text.trimEnd()
}

/** Ends the child with this process, however this process ends short of SIGKILL. */
export function tieToThisProcess(child: ChildProcess): void {
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('close', () => process.off('exit', end))
}

export interface ToolRun extends Command {
  /** What failed, in the words of the message. */
  readonly purpose: string
  readonly limitMs: number
  readonly env?: NodeJS.ProcessEnv
  readonly onOutput?: (text: string) => void
}

export async function runTool(run: ToolRun): Promise<void> {
  const { file, args, limitMs, env = process.env } = run
  const child = spawn(file, args, { env, timeout: limitMs, stdio: ['ignore', 'pipe', 'pipe'] })
  tieToThisProcess(child)
  const words = lastWords(child)
  child.stdout.on('data', (chunk: Buffer) => run.onOutput?.(chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => run.onOutput?.(chunk.toString()))
  const outcome = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(outcomeOf(code, signal)))
  })
  if (outcome !== undefined) throw new StackError(`${run.purpose} failed: ${outcome}\n${words()}`)
}

function outcomeOf(code: number | null, signal: string | null): string | undefined {
  if (code === 0) return undefined
  return code === null ? `ended by ${signal}, perhaps because its time was up` : `exit code ${code}`
}
