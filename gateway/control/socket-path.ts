/**
 * Where the control socket of a data folder is: in it. The path of a Unix socket holds about 100
 * bytes, so a deep folder has its socket in a private folder of the user under the system's place
 * for temporary files, named by the data folder.
 */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { ConflictError } from '../../services/kernel/errors.ts'

/** 104 on macOS and 108 on Linux, with the closing zero. */
const SOCKET_PATH_BYTES_MAX = 103

export const socketPath = (dataFolder: string): string => {
  const folder = realpathSync(dataFolder)
  const inside = join(folder, 'control.sock')
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  return join(privateFolder(), `${name}.sock`)
}

/** Refuses a folder that somebody else made there first. */
const privateFolder = (): string => {
  const { uid } = userInfo()
  const folder = join(tmpdir(), `tributary-${uid}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0) return folder
  throw new ConflictError(`${folder} is not a folder of this user alone: remove it`)
}
