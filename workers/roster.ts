/** Every worker by role, and how the workers of some roles are started and stopped together. */
import { BadInputError } from '../services/kernel/errors.ts'
import { nearest } from '../services/kernel/nearest.ts'
import { audit } from './audit.ts'
import { counting } from './count.ts'
import { EventWorker, type WorkerDependencies } from './event-worker.ts'
import type { Role, WorkerDefinition } from './kit.ts'
import { LagGauge } from './lag.ts'
import { repair } from './repair.ts'
import { TickWorker } from './tick-worker.ts'

export const roster: readonly WorkerDefinition[] = [audit, ...counting, repair]

const ROLES: readonly Role[] = ['gateway', ...new Set(roster.map(({ role }) => role))]

/** `all` is every role; an unknown one is refused with the one that was meant. */
export const parseRoles = (words: readonly string[]): readonly Role[] => {
  if (words.includes('all')) return ROLES
  return words.map((word) => {
    const role = ROLES.find((each) => each === word)
    if (role) return role
    const close = nearest(word, [...ROLES, 'all'])
    const hint = close ? `did you mean ${close}?` : `there are ${['all', ...ROLES].join(', ')}`
    throw new BadInputError(`there is no role ${word}: ${hint}`, { field: 'role' })
  })
}

export class Workers implements AsyncDisposable {
  readonly events: readonly EventWorker[]
  readonly #ticks: readonly TickWorker[]

  constructor(definitions: readonly WorkerDefinition[], dependencies: WorkerDependencies) {
    this.events = definitions
      .filter((definition) => definition.kind === 'events')
      .map((definition) => new EventWorker(definition, dependencies))
    this.#ticks = definitions
      .filter((definition) => definition.kind === 'tick')
      .map((definition) => new TickWorker(definition, dependencies))
    new LagGauge(this.events, dependencies).register()
  }

  static forRoles(roles: readonly Role[], dependencies: WorkerDependencies): Workers {
    const definitions = roster.filter(({ role }) => roles.includes(role))
    return new Workers(definitions, dependencies)
  }

  async start(): Promise<void> {
    await Promise.all([...this.events, ...this.#ticks].map((worker) => worker.start()))
  }

  /** All stop at once: each within its own deadline. */
  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.events, ...this.#ticks]
    await Promise.all(all.map((worker) => worker[Symbol.asyncDispose]()))
  }
}
