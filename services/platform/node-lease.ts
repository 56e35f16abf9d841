/**
 * The node number of this process, and the ids made with it.
 *
 * An id is unique because no two processes ever issue ids of one node for the same ms. A row per
 * node says who holds it and `highMs`: no id of the node was, or will be, issued after that ms. The
 * holder reserves time ahead: it first writes a later `highMs`, then issues up to it. Whoever takes
 * the node over issues only after `highMs`. So uniqueness needs no clock to be right, only one
 * conditional write to be: a clock that stepped back, or a lease taken over too early, costs time
 * and never an id.
 *
 * When the lease is lost, or the tables do not answer until it is over, `next` throws; ids go on as
 * soon as the lease is renewed or another node is leased. A failing `next` has it renewed at once: on
 * a machine that was suspended the clock has leapt while every timer stood still.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { DomainError, UnavailableError } from '../kernel/errors.ts'
import { type Id, IdGenerator, NODE_COUNT } from '../kernel/ids.ts'
import type { Values } from '../kernel/settings.ts'
import type { Clock } from './clock.ts'
import { type NodeLeasesRow, nodeLeases } from './generated/tables.ts'
import { LEASE_SKEW_MS } from './leases.ts'
import type { idSettings } from './settings.ts'
import type { Tables } from './tables.ts'
import type { Telemetry } from './telemetry.ts'

/** Rows looked at in one go. */
const PROBE_NODES = 32

export interface NodeLeaseOptions {
  readonly tables: Tables
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly settings: Values<typeof idSettings>
}

interface Held {
  readonly node: number
  readonly version: bigint
  readonly highMs: number
}

export class NodeLease implements AsyncDisposable {
  readonly #options: NodeLeaseOptions
  readonly #holder: string
  readonly #closing = new AbortController()
  readonly #lost
  /** Ends the rest between two renewals. */
  #hurry = new AbortController()
  #held: Held
  #generator: IdGenerator
  #keeping: Promise<void> = Promise.resolve()

  private constructor(options: NodeLeaseOptions, holder: string, taken: Taken) {
    this.#options = options
    this.#holder = holder
    this.#held = taken.held
    this.#generator = generatorOf(options.clock, taken)
    this.#lost = options.telemetry.counter(
      'tributary_ids_leases_lost_total',
      'node numbers that another process took over',
    )
  }

  static async open(options: NodeLeaseOptions): Promise<NodeLease> {
    const holder = randomUUID()
    const lease = new NodeLease(options, holder, await takeNode(options, holder))
    lease.#keeping = lease.#keep()
    return lease
  }

  get node(): number {
    return this.#held.node
  }

  /** A new id, greater than all before it; UnavailableError while there is no lease. */
  next<Name extends string>(): Id<Name> {
    try {
      return this.#generator.next()
    } catch (error) {
      this.#hurry.abort()
      throw error
    }
  }

  async #keep(): Promise<void> {
    const { clock, settings, telemetry } = this.#options
    const { signal } = this.#closing
    for (;;) {
      await clock.sleep(settings.leaseMs / 3, this.#hurry.signal)
      while (!signal.aborted) {
        try {
          this.#hurry = new AbortController()
          await this.#renew()
          break
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          telemetry.log.warn({ err: error, node: this.node }, 'the node lease was not renewed')
        }
        await clock.sleep(settings.leaseMs / 20, signal)
      }
      if (signal.aborted) return
    }
  }

  async #renew(): Promise<void> {
    const { clock, settings } = this.#options
    const highMs = Math.max(this.#held.highMs, clock.now() + settings.leaseMs)
    const held = await this.#change({ expiresAt: highMs, highMs })
    if (held) {
      this.#held = held
      this.#generator.extend(highMs)
      return
    }
    this.#generator.stop()
    this.#lost.inc()
    const taken = await takeNode(this.#options, this.#holder)
    this.#held = taken.held
    this.#generator = generatorOf(clock, taken)
  }

  /** Changes the row if it is still this holder's; `undefined` when it is not. */
  async #change(
    next: { readonly expiresAt: number; readonly highMs: number },
    version = this.#held.version,
  ): Promise<Held | undefined> {
    const { node } = this.#held
    const outcome = await this.#options.tables.compareAndSet(
      nodeLeases,
      { node },
      {
        expected: { holder: this.#holder, version },
        next: { ...next, version: version + 1n },
      },
    )
    if (outcome.applied) return { node, version: version + 1n, highMs: next.highMs }
    const { current } = outcome
    // A renewal whose answer got lost did happen: the lease is still this holder's.
    const mine = current?.holder === this.#holder && current.version !== version
    return mine && current.version !== null ? this.#change(next, current.version) : undefined
  }

  /** Gives the node back with the last ms that was issued, so that nobody has to wait for it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    this.#hurry.abort()
    await this.#keeping
    const { lastMs } = this.#generator
    this.#generator.stop()
    await this.#change({ expiresAt: 0, highMs: lastMs })
  }
}

interface Taken {
  readonly held: Held
  /** Ids up to this ms may have been issued by others. */
  readonly afterMs: number
}

const generatorOf = (clock: Clock, { held, afterMs }: Taken): IdGenerator =>
  new IdGenerator(() => clock.now(), { node: held.node, afterMs, untilMs: held.highMs })

/** Leases a node nobody holds; starts anywhere, so that processes that start together rarely meet. */
const takeNode = async (options: NodeLeaseOptions, holder: string): Promise<Taken> => {
  const { tables, clock, settings } = options
  const start = randomInt(NODE_COUNT)
  let soonest: Candidate | undefined
  for (let probed = 0; probed < NODE_COUNT; probed += PROBE_NODES) {
    const keys = Array.from({ length: PROBE_NODES }, (_none, index) => ({
      node: (start + probed + index) % NODE_COUNT,
    }))
    const rows = await tables.getMany(nodeLeases, keys)
    for (const [index, { node }] of keys.entries()) {
      const candidate = { node, row: rows[index] }
      if (isHeld(candidate, clock.now())) continue
      const taken = isOver(candidate, clock.now()) && (await take(options, holder, candidate))
      if (taken) return taken
      if (highOf(candidate) < highOf(soonest)) soonest = candidate
    }
  }
  const waitMs = highOf(soonest) + 1 - clock.now()
  if (!soonest || waitMs > settings.leaseMs) {
    throw new UnavailableError(`all ${NODE_COUNT} node numbers are held or lie ahead of the clock`)
  }
  await clock.sleep(waitMs)
  return takeNode(options, holder)
}

interface Candidate {
  readonly node: number
  readonly row: NodeLeasesRow | undefined
}

const highOf = (candidate: Candidate | undefined): number =>
  candidate ? (candidate.row?.highMs ?? 0) : Number.POSITIVE_INFINITY

const isHeld = ({ row }: Candidate, now: number): boolean =>
  row !== undefined && now < (row.expiresAt ?? 0) + LEASE_SKEW_MS

/** Whether ids of now lie after all that were issued. */
const isOver = (candidate: Candidate, now: number): boolean => highOf(candidate) < now

const take = async (
  { tables, clock, settings }: NodeLeaseOptions,
  holder: string,
  { node, row }: Candidate,
): Promise<Taken | undefined> => {
  const highMs = clock.now() + settings.leaseMs
  const version = (row?.version ?? 0n) + 1n
  const next = { holder, version, expiresAt: highMs, highMs }
  const { applied } = row
    ? await tables.compareAndSet(
        nodeLeases,
        { node },
        { expected: { holder: row.holder, version: row.version }, next },
      )
    : await tables.insertIfAbsent(nodeLeases, { node, ...next })
  return applied ? { held: { node, version, highMs }, afterMs: row?.highMs ?? 0 } : undefined
}
