/** Which stack is meant: its folder and its port offset, from flags, environment and habit. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isCode, StackError, UsageError } from './failures.ts'
import {
  type Layout,
  layoutOf,
  offsetMax,
  offsetStep,
  portsAt,
  repositoryRoot,
  type Site,
} from './settings.ts'

export interface PlaceOptions {
  readonly dir?: string | undefined
  readonly offset?: number | undefined
}

export type BackendName = 'processes' | 'compose'

/** What `up` decided, for the commands that come after it. */
export interface Plan {
  readonly offset: number
  readonly ring: boolean
  readonly backend: BackendName
}

export interface Place {
  readonly site: Site
  readonly offset: number
  /** Present once `up` has run here. */
  readonly plan?: Plan
}

export function parseOffset(text: string): number {
  const offset = Number(text)
  const fits = Number.isInteger(offset) && offset >= 0 && offset <= offsetMax
  if (text.trim() !== '' && fits && offset % offsetStep === 0) return offset
  throw new UsageError(
    `offset '${text}' is not a multiple of ${offsetStep} from 0 to ${offsetMax}; ` +
      'other steps would let the ports of two stacks meet',
  )
}

/** A second stack gets a folder of its own, so that `--offset 100` alone is enough to name it. */
export function chooseDir(options: PlaceOptions, env: NodeJS.ProcessEnv): string {
  const named = options.dir ?? env['TRIBUTARY_STACK_DIR']
  if (named) return path.resolve(named)
  const offset = chooseOffset(options, env) ?? 0
  return path.join(repositoryRoot, offset === 0 ? '.stack' : `.stack-${offset}`)
}

function chooseOffset(options: PlaceOptions, env: NodeJS.ProcessEnv): number | undefined {
  const text = env['TRIBUTARY_STACK_OFFSET']
  return options.offset ?? (text ? parseOffset(text) : undefined)
}

/** A folder keeps the offset it was made with; asking for another one is a mistake. */
export function findPlace(options: PlaceOptions, env: NodeJS.ProcessEnv = process.env): Place {
  const layout = layoutOf(chooseDir(options, env))
  const plan = readPlan(layout)
  if (plan && options.offset !== undefined && options.offset !== plan.offset) {
    throw new StackError(
      `the stack in ${layout.dir} has port offset ${plan.offset}, not ${options.offset}: ` +
        'leave --offset out, choose another --dir, or `reset` it first',
    )
  }
  const offset = plan?.offset ?? chooseOffset(options, env) ?? 0
  const site = { layout, ports: portsAt(offset) }
  return plan ? { site, offset, plan } : { site, offset }
}

function readPlan(layout: Layout): Plan | undefined {
  try {
    return parsePlan(JSON.parse(readFileSync(layout.planFile, 'utf8')))
  } catch (error) {
    // Unreadable means a write cut short: `up` writes it again.
    if (isCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined
    throw error
  }
}

function parsePlan(value: unknown): Plan | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!('offset' in value && 'ring' in value && 'backend' in value)) return undefined
  const { offset, ring, backend } = value
  if (typeof offset !== 'number' || typeof ring !== 'boolean') return undefined
  if (backend !== 'processes' && backend !== 'compose') return undefined
  return { offset, ring, backend }
}

export function writePlan(layout: Layout, plan: Plan): void {
  mkdirSync(layout.dir, { recursive: true })
  // Renamed into place: with half a plan `down` would not find what to stop.
  writeFileSync(`${layout.planFile}.draft`, `${JSON.stringify(plan)}\n`)
  renameSync(`${layout.planFile}.draft`, layout.planFile)
}
