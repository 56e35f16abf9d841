/** A child process that runs a script of the tests and speaks in lines. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { eventually } from './eventually.ts'

export interface ChildOptions {
  readonly args?: readonly string[]
  /** A command that runs the child: `['strace', '-f']`. */
  readonly under?: readonly string[]
}

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class Child implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #ended: Promise<Ending>
  #output = ''
  #errors = ''

  /** `script` is relative to the folder of the tests. */
  constructor(script: string, { args = [], under = [] }: ChildOptions = {}) {
    const path = fileURLToPath(new URL(`../${script}`, import.meta.url))
    const node = [process.execPath, ...(path.endsWith('.ts') ? ['--import', 'tsx'] : []), path]
    const [command = '', ...rest] = [...under, ...node, ...args]
    this.#process = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text
    })
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text
    })
    // A test that was given up never disposes its child: it goes with the process of the tests.
    const end = () => void this.#process.kill('SIGKILL')
    process.once('exit', end)
    this.#ended = once(this.#process, 'close').then(([code, signal]) => {
      process.removeListener('exit', end)
      return { code, signal }
    })
  }

  get pid(): number {
    return this.#process.pid ?? -1
  }

  /** The whole lines it has said so far: what a kill cut off is not among them. */
  get lines(): readonly string[] {
    return this.#output.split('\n').slice(0, -1)
  }

  get errors(): string {
    return this.#errors
  }

  /** Waits for a line that begins with `start`; fails at once when the child ends without it. */
  async says(start: string, withinMs = 30_000): Promise<string> {
    const find = () => this.lines.find((line) => line.startsWith(start))
    await eventually(() => this.#hasEnded || find() !== undefined, { withinMs, everyMs: 2 })
    // Its last words come before `close`, but may come after its end is known.
    if (find() === undefined) await this.#ended
    const line = find()
    if (line !== undefined) return line
    throw new Error(`the child ended without saying '${start}'\n${this.#output}\n${this.#errors}`)
  }

  ended(): Promise<Ending> {
    return this.#ended
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Ending> {
    this.#process.kill(signal)
    return this.#ended
  }

  get #hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) await this.kill()
  }
}
