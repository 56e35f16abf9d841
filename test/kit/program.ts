/** The program itself as a child process: `tributary serve`, and commands that run to their end. */
import { Child } from './child.ts'
import type { Place } from './place.ts'

export interface Run {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The variables of the place, and nothing of the machine's settings for the program. */
const under = (variables: Readonly<Record<string, string>>): string[] => [
  'env',
  ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
]

export const runProgram = async (
  place: Pick<Place, 'variables'>,
  ...args: string[]
): Promise<Run> => {
  await using child = new Child('../main.ts', { args, under: under(place.variables) })
  const { code } = await child.ended()
  return { code, out: child.lines.join('\n'), err: child.errors }
}

interface ServePlace extends Pick<Place, 'variables'> {
  /** A command that runs the program: `['taskset', '-c', '0']`. */
  readonly under?: readonly string[]
  /** What was compiled of it, instead of its source. */
  readonly script?: string
}

export class Program implements AsyncDisposable {
  readonly #child: Child
  readonly address: string

  private constructor(child: Child, address: string) {
    this.#child = child
    this.address = address
  }

  /** Resolves when it says that it serves. */
  static async serve(place: ServePlace, ...args: string[]): Promise<Program> {
    const all = ['serve', '--port=0', ...args]
    const command = [...(place.under ?? []), ...under(place.variables)]
    const child = new Child(place.script ?? '../main.ts', { args: all, under: command })
    try {
      const line = await child.says('tributary ')
      const address = /http:\S+?(?=,)/.exec(line)?.[0]
      if (address === undefined) throw new Error(`no address in '${line}'`)
      return new Program(child, address)
    } catch (error) {
      await child[Symbol.asyncDispose]()
      throw error
    }
  }

  get pid(): number {
    return this.#child.pid
  }

  get lines(): readonly string[] {
    return this.#child.lines
  }

  kill(signal: NodeJS.Signals) {
    return this.#child.kill(signal)
  }

  ended() {
    return this.#child.ended()
  }

  async get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`${this.address}${path}`)
    return { status: response.status, text: await response.text() }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child[Symbol.asyncDispose]()
  }
}
