/** How a suite opens the tables of each engine, with the suite's own tables in place. */

import { Store } from '../../services/platform/embedded/store.ts'
import { EmbeddedTables } from '../../services/platform/embedded/tables.ts'
import type { Tables } from '../../services/platform/tables.ts'
import { Telemetry } from '../../services/platform/telemetry.ts'
import type { EngineName } from './engines.ts'
import { borrowKeyspace } from './keyspace.ts'
import { temporaryFolder } from './temporary-folder.ts'

export interface OpenedTables extends AsyncDisposable {
  readonly tables: Tables
}

export type OpenTables = () => Promise<OpenedTables>

const openEmbedded: OpenTables = async () => {
  const folder = temporaryFolder('tables')
  const telemetry = new Telemetry({ level: 'silent', version: 'test' })
  const store = new Store({ folder: folder.path, mapBytes: 2 ** 32, telemetry })
  const tables = new EmbeddedTables(store, { sweepMs: 200, sweepMax: 100, telemetry })
  const dispose = async (): Promise<void> => {
    await tables[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  }
  return { tables, [Symbol.asyncDispose]: dispose }
}

const openCluster: OpenTables = async () => {
  const keyspace = await borrowKeyspace()
  const tables = await keyspace.open()
  const dispose = async (): Promise<void> => {
    await tables[Symbol.asyncDispose]()
    await keyspace[Symbol.asyncDispose]()
  }
  return { tables, [Symbol.asyncDispose]: dispose }
}

export const openTables: Readonly<Record<EngineName, OpenTables>> = {
  embedded: openEmbedded,
  cluster: openCluster,
}
