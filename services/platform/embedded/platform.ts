/** Opens the engines of one process: a data folder, one store in it, and memory. */
import { join } from 'node:path'
import type { Settings } from '../../kernel/settings.ts'
import type { Blobs } from '../blobs.ts'
import { NodeLease } from '../node-lease.ts'
import { openAll } from '../opened.ts'
import type { EngineSet, PlatformOptions } from '../platform.ts'
import { embeddedSettings, engineSettings, idSettings, logSettings } from '../settings.ts'
import { backUp, restore } from './backup.ts'
import { FolderBlobs } from './blobs.ts'
import { EmbeddedCache } from './cache.ts'
import { EmbeddedCommit } from './commit.ts'
import { BLOBS_FOLDER, DataFolder } from './data-folder.ts'
import { EmbeddedFeeds } from './feeds.ts'
import { EmbeddedLog } from './log.ts'
import { MemoryBudget } from './memory-budget.ts'
import { EmbeddedPubSub } from './pubsub.ts'
import { EmbeddedTables } from './tables.ts'

export const openEmbedded = (options: PlatformOptions): Promise<EngineSet> =>
  openAll(async (opened) => {
    const { settings, clock, telemetry } = options
    const embedded = settings.view(embeddedSettings)
    const folder = opened.use(await DataFolder.open(settings.view(engineSettings).dataFolder))
    const store = opened.use(folder.openStore({ ...embedded, telemetry }))
    const tables = opened.use(new EmbeddedTables(store, { ...embedded, telemetry }))
    const log = opened.use(
      new EmbeddedLog({ store, clock, telemetry, settings: settings.view(logSettings) }),
    )
    const commit = opened.use(new EmbeddedCommit({ store, tables, log, telemetry }))
    const budget = new MemoryBudget(embedded.cacheBytes)
    const cache = opened.use(new EmbeddedCache(budget, telemetry))
    const feeds = opened.use(new EmbeddedFeeds(budget, telemetry))
    const pubsub = opened.use(new EmbeddedPubSub(telemetry))
    const blobs = opened.use(await FolderBlobs.open(folder.blobs))
    const ids = opened.use(
      await NodeLease.open({ tables, clock, telemetry, settings: settings.view(idSettings) }),
    )
    return {
      engines: { tables, log, commit, cache, feeds, pubsub, blobs, ids },
      backup: async (into) => void (await backUp(store, { from: folder.path, into })),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    }
  })

/** Blobs of a cluster lie in a folder too, until there is an adapter for object storage. */
export const openBlobs = ({ settings }: PlatformOptions): Promise<Blobs> =>
  FolderBlobs.open(join(settings.view(engineSettings).dataFolder, BLOBS_FOLDER))

/** Makes the data folder of a backup; says what came of it. */
export const restoreEmbedded = async (from: string, settings: Settings): Promise<string> => {
  const into = settings.view(engineSettings).dataFolder
  const { storeBytes, blobs } = await restore({ from, into })
  return `restored ${storeBytes} bytes and ${blobs} blob(s) into ${into}`
}
