/**
 * A copy of a data folder taken while it serves, and its way back (PLT-6).
 *
 * The store is copied as one snapshot of LMDB: a prefix of the history, rows and log together, in
 * which every commit is whole or absent. Blobs are copied after it: a row never refers to a blob
 * that was put later than itself, so all that the snapshot speaks of is there, unless it was removed
 * meanwhile. `format` comes last: a copy without it was cut short, and nothing will open it.
 *
 * Neither direction writes into a folder that holds anything.
 */
import { constants } from 'node:fs'
import { copyFile, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConflictError, DamagedError } from '../../kernel/errors.ts'
import { INCOMING_BLOBS } from './blobs.ts'
import { BLOBS_FOLDER, checkFolder, FORMAT, syncFolder, writeFormat } from './data-folder.ts'
import { STORE_FILE, type Store } from './store.ts'

export interface CopyReport {
  readonly storeBytes: number
  readonly blobs: number
  readonly blobBytes: number
}

/** Copies the data folder at `from`, whose store is open here, into `into`. */
export const backUp = async (
  store: Store,
  { from, into }: { readonly from: string; readonly into: string },
): Promise<CopyReport> =>
  fill(into, async () => {
    await store.copyTo(join(into, STORE_FILE))
    await syncFile(join(into, STORE_FILE))
    return copyBlobs(from, into)
  })

/** Makes a data folder at `into` of a backup at `from`, which stays as it is. */
export const restore = async ({
  from,
  into,
}: {
  readonly from: string
  readonly into: string
}): Promise<CopyReport> => {
  if (checkFolder(from) !== 'ready') {
    throw new DamagedError(`${from} is no finished backup: it was cut short or is something else`)
  }
  return fill(into, async () => {
    await copySynced(join(from, STORE_FILE), join(into, STORE_FILE))
    return copyBlobs(from, into)
  })
}

/** Fills an empty folder and marks it whole; what fails leaves no mark, and nothing behind. */
const fill = async (
  into: string,
  copy: () => Promise<Omit<CopyReport, 'storeBytes'>>,
): Promise<CopyReport> => {
  await mkdir(into, { recursive: true, mode: 0o700 })
  if ((await readdir(into)).length > 0) {
    throw new ConflictError(`${into} is not empty: choose an empty folder or a new one`)
  }
  try {
    const blobs = await copy()
    writeFormat(into, { format: FORMAT, state: 'ready' })
    syncFolder(dirname(into))
    return { storeBytes: (await stat(join(into, STORE_FILE))).size, ...blobs }
  } catch (error) {
    for (const name of await readdir(into)) await rm(join(into, name), { recursive: true })
    throw error
  }
}

const copyBlobs = async (from: string, into: string): Promise<Omit<CopyReport, 'storeBytes'>> => {
  let blobs = 0
  let blobBytes = 0
  for await (const path of filesBelow(from, BLOBS_FOLDER)) {
    const bytes = await copySynced(join(from, path), join(into, path))
    if (bytes === undefined) continue
    blobs += 1
    blobBytes += bytes
  }
  return { blobs, blobBytes }
}

/** The files below `folder`, as paths from `root`; what is still coming in is not one. */
async function* filesBelow(root: string, folder: string): AsyncGenerator<string, void> {
  for (const entry of (await unlessGone(() =>
    readdir(join(root, folder), { withFileTypes: true }),
  )) ?? []) {
    const path = join(folder, entry.name)
    if (entry.name === INCOMING_BLOBS) continue
    if (entry.isDirectory()) yield* filesBelow(root, path)
    else yield path
  }
}

/** Copies a file (or shares its blocks, where the disk can) and syncs it and its folder. */
const copySynced = async (from: string, to: string): Promise<number | undefined> => {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const copied = await unlessGone(async () => {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    return true
  })
  if (!copied) return undefined
  await syncFile(to)
  syncFolder(dirname(to))
  return (await stat(to)).size
}

const syncFile = async (path: string): Promise<void> => {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A blob may be removed while its folder is walked. */
const unlessGone = async <Found>(look: () => Promise<Found>): Promise<Found | undefined> => {
  try {
    return await look()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
