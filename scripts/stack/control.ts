/**
 * The stack as a library: what the command line does, and what fault tests need to kill and start
 * engines in the middle of a run. Without a folder named, all of it means the checkout's own stack
 * (or the one TRIBUTARY_STACK_DIR names).
 */
import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Backend } from './backend.ts'
import { ComposeBackend, dockerAnswers } from './compose.ts'
import { isCode, StackError } from './failures.ts'
import { ProcessBackend } from './local.ts'
import { locked } from './lock.ts'
import { findPlace, type Place, type PlaceOptions, type Plan, writePlan } from './place.ts'
import { type Report, silent } from './progress.ts'
import { formRing } from './redis.ts'
import {
  coreEngines,
  dataCenter,
  type EngineName,
  host,
  ringEngines,
  type Site,
} from './settings.ts'

export { type PrivateRedis, type PrivateRedisOptions, startRedis } from './redis.ts'
export type { EngineName } from './settings.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

/** The content of `stack.json`. */
export interface StackAddresses {
  readonly redis: Address
  readonly cassandra: Address & { readonly dataCenter: string }
  readonly kafka: { readonly brokers: readonly string[] }
  readonly ring?: readonly Address[]
}

export interface StackOptions extends PlaceOptions {
  readonly report?: Report
}

export interface UpOptions extends StackOptions {
  /** Three Redis Cluster masters as well. A ring that was asked for once stays until `reset`. */
  readonly ring?: boolean
  /** Containers where an engine answers, unless this is false. */
  readonly docker?: boolean
}

export interface EngineStatus {
  readonly name: EngineName
  readonly up: boolean
  readonly about: string
}

/** Starts what does not run yet and resolves when all of it serves. */
export async function stackUp(options: UpOptions = {}): Promise<StackAddresses> {
  const report = options.report ?? silent
  const { layout } = findPlace(options).site
  mkdirSync(layout.dir, { recursive: true })
  return locked(layout.lockFile, report, () => bringUp(options, report))
}

async function bringUp(options: UpOptions, report: Report): Promise<StackAddresses> {
  const place = findPlace(options)
  const plan = choosePlan(place, options)
  const { site } = place
  const backend = backendFor(plan, site)
  const missing = enginesOf(plan).filter((name) => !backend.isUp(name))
  if (missing.length > 0) await backend.require(missing)
  writePlan(site.layout, plan)
  await startAll(enginesOf(plan), backend, report)
  if (plan.ring) await formRing(site, report)
  const addresses = addressesOf(site, plan)
  writeFileSync(site.layout.addressFile, `${JSON.stringify(addresses, undefined, 2)}\n`)
  return addresses
}

/** All at once; every failure is waited for, so that none of the others is left half started. */
async function startAll(
  names: readonly EngineName[],
  backend: Backend,
  report: Report,
): Promise<void> {
  const starts = await Promise.allSettled(names.map((name) => backend.start(name, report)))
  const failures = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason] : []))
  const [first, ...others] = failures
  if (first !== undefined && others.length === 0) throw first
  const messages = failures.map((failure) => (failure instanceof Error ? failure.message : failure))
  if (failures.length > 0) throw new StackError(messages.join('\n\n'))
}

export async function stackDown(options: StackOptions = {}): Promise<void> {
  await withPlan(options, async ({ site }, plan, report) => {
    rmSync(site.layout.addressFile, { force: true })
    await backendFor(plan, site).stop(enginesOf(plan), report)
  })
}

/** Stops the stack and deletes all it wrote. Jars stay. */
export async function stackReset(options: StackOptions = {}): Promise<void> {
  const { layout } = findPlace(options).site
  await stackDown(options)
  await withPlan(options, async ({ site }, plan) => {
    await backendFor(plan, site).purge()
    rmSync(layout.planFile, { force: true })
  })
  try {
    rmdirSync(layout.dir)
  } catch (error) {
    // Somebody keeps other things there too: they are not ours to delete.
    if (!isCode(error, 'ENOENT') && !isCode(error, 'ENOTEMPTY')) throw error
  }
}

export async function killEngine(name: EngineName, options: StackOptions = {}): Promise<void> {
  const { site, plan } = findPlace(options)
  if (plan === undefined) throw notUp(site)
  await backendFor(plan, site).kill(name)
}

/** Starts one engine again on the data it left; resolves when it serves. */
export async function startEngine(name: EngineName, options: StackOptions = {}): Promise<void> {
  const { site, plan } = findPlace(options)
  if (plan === undefined) throw notUp(site)
  const report = options.report ?? silent
  await locked(site.layout.lockFile, report, async () => {
    const backend = backendFor(plan, site)
    if (!backend.isUp(name)) await backend.require([name])
    await backend.start(name, report)
    // With another master still down there is no whole ring to wait for.
    const wholeRing = isRingNode(name) && ringEngines.every((node) => backend.isUp(node))
    if (wholeRing) await formRing(site, report)
  })
}

export function stackStatus(options: StackOptions = {}): EngineStatus[] {
  const { site, plan } = findPlace(options)
  if (plan === undefined) return []
  const backend = backendFor(plan, site)
  return enginesOf(plan).map((name) => {
    return { name, up: backend.isUp(name), about: backend.describe(name) }
  })
}

/** Where the stack is, or undefined unless every engine of it runs. */
export function readStack(dir?: string): StackAddresses | undefined {
  const { site, plan } = findPlace({ dir })
  if (plan === undefined || !hasFile(site.layout.addressFile)) return undefined
  const backend = backendFor(plan, site)
  return enginesOf(plan).every((name) => backend.isUp(name)) ? addressesOf(site, plan) : undefined
}

function hasFile(file: string): boolean {
  try {
    return readFileSync(file).length > 0
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false
    throw error
  }
}

/** A backend is kept for as long as the stack has data: the data belongs to one of the two. */
function choosePlan({ offset, plan }: Place, options: UpOptions): Plan {
  const ring = options.ring === true || plan?.ring === true
  if (plan) return { ...plan, ring }
  const backend = options.docker !== false && dockerAnswers() ? 'compose' : 'processes'
  return { offset, ring, backend }
}

function backendFor(plan: Plan, site: Site): Backend {
  return plan.backend === 'compose' ? new ComposeBackend(site) : new ProcessBackend(site)
}

function enginesOf(plan: Plan): EngineName[] {
  return plan.ring ? [...coreEngines, ...ringEngines] : [...coreEngines]
}

function isRingNode(name: EngineName): boolean {
  return ringEngines.some((node) => node === name)
}

function addressesOf({ ports }: Site, plan: Plan): StackAddresses {
  const addresses = {
    redis: { host, port: ports.redis },
    cassandra: { host, port: ports.cassandra, dataCenter },
    kafka: { brokers: [`${host}:${ports.kafka}`] },
  }
  return plan.ring ? { ...addresses, ring: ports.ring.map((port) => ({ host, port })) } : addresses
}

function notUp(site: Site): StackError {
  return new StackError(`there is no stack in ${site.layout.dir}; \`up\` starts one`)
}

/** Runs `work` under the lock; does nothing where no stack was ever brought up. */
async function withPlan(
  options: StackOptions,
  work: (place: Place, plan: Plan, report: Report) => Promise<void>,
): Promise<void> {
  const place = findPlace(options)
  const { plan } = place
  if (plan === undefined) return
  const report = options.report ?? silent
  await locked(place.site.layout.lockFile, report, () => work(place, plan, report))
}
