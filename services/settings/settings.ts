/**
 * Settings that change while the program runs (OPS-1).
 *
 * The table `live_settings` is the truth; it stands over the environment of every process. A change
 * is checked, committed with its event, applied here and announced to the other processes, which
 * read the table again. An announcement may be lost, so each process also reads it now and then.
 * The audit trail is written by the worker that hears the event.
 */
import type { AuditEntry, AuditService } from '../audit/audit.ts'
import { BadInputError, UnavailableError } from '../kernel/errors.ts'
import { type Event, makeEvent, SettingChanged } from '../kernel/events.ts'
import type { IdGenerator } from '../kernel/ids.ts'
import type { SettingLine, Settings } from '../kernel/settings.ts'
import type { Clock } from '../platform/clock.ts'
import type { Commit } from '../platform/commit.ts'
import type { PubSub } from '../platform/pubsub.ts'
import type { Tables } from '../platform/tables.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import { putLiveSetting, readLiveSettings } from './settings-tables.ts'

export type SettingChangedEvent = Event<(typeof SettingChanged)['fields']>

export interface SettingsDependencies {
  readonly settings: Settings
  readonly tables: Tables
  readonly commit: Commit
  readonly pubsub: PubSub
  readonly clock: Clock
  readonly ids: Pick<IdGenerator, 'next'>
  readonly telemetry: Telemetry
  readonly audit: AuditService
}

const CHANNEL = 'settings'
const POLL_MS = 5_000

export class SettingsService {
  readonly #own: SettingsDependencies
  readonly #listeners = new Set<() => void>()
  /** One read of the table at a time; those who ask meanwhile share the next one. */
  #loading: Promise<void> = Promise.resolve()

  constructor(dependencies: SettingsDependencies) {
    this.#own = dependencies
  }

  /** Called after any change that reached this process, and once when it is registered. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
    listener()
  }

  list(): SettingLine[] {
    return this.#own.settings.lines()
  }

  get(name: string): SettingLine {
    return this.#own.settings.line(name)
  }

  async set(name: string, value: string, actor: string): Promise<SettingLine> {
    const { settings, clock, commit, ids } = this.#own
    settings.check(name, value)
    const changedAt = clock.now()
    const event = makeEvent(
      SettingChanged,
      { id: ids.next(), at: changedAt },
      { name, value, previous: settings.text(name), actor, changedAt },
    )
    await commit.commit([putLiveSetting({ name, value, actor, changedAt })], [event])
    settings.change(name, value)
    this.#tell()
    await this.#announce(name)
    return this.get(name)
  }

  /** What has been changed, newest first. */
  history(limit: number): Promise<AuditEntry[]> {
    const matches = ({ action }: AuditEntry) => action === SettingChanged.type
    return this.#own.audit.recent({ limit, matches })
  }

  /** Keeps a change for ever; hearing of it again changes nothing. */
  async record({ id, data }: SettingChangedEvent): Promise<void> {
    await this.#own.audit.record({
      id,
      at: data.changedAt,
      actor: data.actor,
      action: SettingChanged.type,
      subject: data.name,
      detail: `${data.previous ?? ''} → ${data.value}`,
    })
  }

  /** Reads every live setting and applies what differs. */
  load(): Promise<void> {
    this.#loading = this.#loading.then(
      () => this.#apply(),
      () => this.#apply(),
    )
    return this.#loading
  }

  /** Loads, then keeps this process up to date until disposed. */
  async follow(): Promise<AsyncDisposable> {
    await this.load()
    const stopping = new AbortController()
    const reload = () => void this.#reload()
    const subscription = await this.#own.pubsub.subscribe(CHANNEL, {
      message: reload,
      resync: reload,
    })
    const polling = this.#poll(stopping.signal)
    return {
      [Symbol.asyncDispose]: async () => {
        stopping.abort()
        await subscription[Symbol.asyncDispose]()
        await polling
        await this.#loading.catch(() => undefined)
      },
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#own.clock.sleep(POLL_MS, signal)
      if (!signal.aborted) await this.#reload()
    }
  }

  /** The next poll mends what this one could not do: the values stay as they are until then. */
  async #reload(): Promise<void> {
    try {
      await this.load()
    } catch (error) {
      this.#own.telemetry.log.warn({ err: error }, 'live settings could not be read')
    }
  }

  async #apply(): Promise<void> {
    const { settings, tables } = this.#own
    let changed = false
    for (const { name, value } of await readLiveSettings(tables)) {
      changed = this.#applyOne(settings, { name, value }) || changed
    }
    if (changed) this.#tell()
  }

  /** A row of another version of the program may name what is unknown or refused here. */
  #applyOne(settings: Settings, row: { readonly name: string; readonly value: string }): boolean {
    try {
      const before = settings.text(row.name)
      settings.change(row.name, row.value)
      return settings.text(row.name) !== before
    } catch (error) {
      if (!(error instanceof BadInputError)) throw error
      this.#own.telemetry.log.warn({ err: error }, 'a live setting does not fit this version')
      return false
    }
  }

  async #announce(name: string): Promise<void> {
    try {
      await this.#own.pubsub.publish(CHANNEL, name)
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error
      // The change stands; the others see it when they next read the table.
      this.#own.telemetry.log.warn({ err: error }, 'a change of settings was not announced')
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
