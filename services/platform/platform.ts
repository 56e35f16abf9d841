/**
 * Everything the services stand on, opened for one set of engines and closed in reverse order.
 *
 * Each engine set is a module of its own, loaded only when it is asked for: a program on the
 * embedded engines never loads a driver.
 */
import { topics } from '../kernel/events.ts'
import type { IdGenerator } from '../kernel/ids.ts'
import type { Settings } from '../kernel/settings.ts'
import type { Blobs } from './blobs.ts'
import type { Cache } from './cache.ts'
import type { Clock } from './clock.ts'
import type { Commit } from './commit.ts'
import { Counts } from './counts.ts'
import type { Feeds } from './feeds.ts'
import { liveSettings } from './generated/tables.ts'
import type { Log } from './log.ts'
import { openAll } from './opened.ts'
import { PartedLists } from './parted-lists.ts'
import { Pending } from './pending.ts'
import type { PubSub } from './pubsub.ts'
import {
  countSettings,
  engineSettings,
  listSettings,
  pendingSettings,
  tallySettings,
} from './settings.ts'
import type { Tables } from './tables.ts'
import { Tallies } from './tallies.ts'
import type { Telemetry } from './telemetry.ts'

export type EngineKind = 'embedded' | 'cluster'

/** What the servers of a cluster hold; blobs lie in a folder on either engine. */
export type ServerEngines = Omit<Engines, 'blobs'>

export interface Engines {
  readonly tables: Tables
  readonly cache: Cache
  readonly feeds: Feeds
  readonly log: Log
  readonly commit: Commit
  readonly pubsub: PubSub
  readonly blobs: Blobs
  readonly ids: Pick<IdGenerator, 'next'>
}

export interface EngineSet<Held extends ServerEngines = Engines> extends AsyncDisposable {
  readonly engines: Held
  /** A consistent copy of everything, taken while serving; only where the data is this process's. */
  readonly backup?: (folder: string) => Promise<void>
}

export interface PlatformOptions {
  readonly settings: Settings
  readonly clock: Clock
  readonly telemetry: Telemetry
  /** The numbered migrations, which a cluster must have applied. */
  readonly cqlFolder: string
  /** Whether the process serves, or runs one command and ends; true when left out. */
  readonly stays?: boolean
  /** Ends a start that still waits for its engines. */
  readonly signal?: AbortSignal
}

export interface Platform extends Engines, AsyncDisposable {
  readonly engine: EngineKind
  readonly clock: Clock
  readonly telemetry: Telemetry
  /** The tallies, behind the cache. */
  readonly counts: Counts
  readonly pending: Pending
  readonly lists: PartedLists
  readonly backup: EngineSet['backup']
  readonly probes: readonly Probe[]
}

/** A question to one part: it resolves when the part answers. */
export interface Probe {
  readonly name: 'tables' | 'log' | 'cache'
  /** Whether the program can serve at all without it. */
  readonly essential: boolean
  ask(): Promise<unknown>
}

export const openPlatform = (options: PlatformOptions): Promise<Platform> =>
  openAll(async (opened) => {
    const { settings, clock, telemetry } = options
    const { kind } = settings.view(engineSettings)
    const { engines, backup } = opened.use(await openEngines(kind, options))
    const { tables, cache, ids } = engines
    const tallies = opened.use(
      new Tallies({ tables, telemetry, settings: settings.view(tallySettings) }),
    )
    const counts = opened.use(
      new Counts({ tallies, cache, telemetry, settings: settings.view(countSettings) }),
    )
    const pending = opened.use(
      new Pending({ tables, clock, ids, telemetry, settings: settings.view(pendingSettings) }),
    )
    const lists = new PartedLists({ tables, clock, settings: settings.view(listSettings) })
    return {
      ...engines,
      ...{ engine: kind, clock, telemetry, counts, pending, lists, backup },
      probes: probesOf(engines),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    }
  })

const openEngines = async (kind: EngineKind, options: PlatformOptions): Promise<EngineSet> => {
  if (kind === 'embedded') {
    const { openEmbedded } = await import('./embedded/platform.ts')
    return await openEmbedded(options)
  }
  return await openAll(async (opened) => {
    const { openCluster } = await import('./cluster/platform.ts')
    const { engines } = opened.use(await openCluster(options))
    const { openBlobs } = await import('./embedded/platform.ts')
    const blobs = opened.use(await openBlobs(options))
    return {
      engines: { ...engines, blobs },
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    }
  })
}

/** Feeds can be read from the tables, slower: a program without its cache still serves. */
const probesOf = ({ tables, log, cache }: Engines): readonly Probe[] => [
  {
    name: 'tables',
    essential: true,
    ask: () => tables.get(liveSettings, { scope: 'all', name: 'probe' }),
  },
  { name: 'log', essential: true, ask: () => log.lag('probe', [topics.operations]) },
  { name: 'cache', essential: false, ask: () => cache.get('probe') },
]
