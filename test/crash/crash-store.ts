/** What the crash tests write and read: the embedded engines on one data folder, as a program has. */
import { type EventId, parseId } from '../../services/kernel/ids.ts'
import { SystemClock } from '../../services/platform/clock.ts'
import { FolderBlobs } from '../../services/platform/embedded/blobs.ts'
import { EmbeddedCommit } from '../../services/platform/embedded/commit.ts'
import { DataFolder } from '../../services/platform/embedded/data-folder.ts'
import { EmbeddedLog } from '../../services/platform/embedded/log.ts'
import { EmbeddedTables } from '../../services/platform/embedded/tables.ts'
import { Telemetry } from '../../services/platform/telemetry.ts'

const logSettings = {
  visibilityMs: 60_000,
  sweepMs: 60_000,
  purgeMax: 10_000,
  redeliverMinMs: 5,
  redeliverMaxMs: 100,
} as const

export interface CrashStore extends AsyncDisposable {
  readonly tables: EmbeddedTables
  readonly log: EmbeddedLog
  readonly commit: EmbeddedCommit
  readonly blobs: FolderBlobs
}

export const openCrashStore = async (path: string): Promise<CrashStore> => {
  const telemetry = new Telemetry({ level: 'silent', version: 'test' })
  const folder = await DataFolder.open(path)
  const store = folder.openStore({ mapBytes: 2 ** 32, telemetry })
  const tables = new EmbeddedTables(store, { sweepMs: 50, sweepMax: 100, telemetry })
  const log = new EmbeddedLog({ store, telemetry, clock: new SystemClock(), settings: logSettings })
  const commit = new EmbeddedCommit({ store, tables, log, telemetry })
  const blobs = await FolderBlobs.open(folder.blobs)
  const dispose = async (): Promise<void> => {
    for (const each of [commit, log, tables, blobs, store, folder]) {
      await each[Symbol.asyncDispose]()
    }
  }
  return { tables, log, commit, blobs, [Symbol.asyncDispose]: dispose }
}

/** The row that says how far a writer is. */
export const headOf = (writer: number) => ({ owner: `writer ${writer}`, shard: writer })

export const eventIdOf = (writer: number, step: number): EventId =>
  parseId<'event'>(`${(1n << 62n) + (BigInt(writer) << 40n) + BigInt(step)}`)

/** What both rows of a writer's pair hold after a step. */
export const pairOf = (writer: number, step: number): string => `pair ${writer} ${step};`

export const blobOf = (step: number): Buffer => Buffer.alloc(10_000 + step, `${step},`)
