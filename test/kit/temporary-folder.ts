/** A folder for one test, gone with all that is in it when disposed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFolder extends Disposable {
  readonly path: string
}

export const temporaryFolder = (name = 'tributary'): TemporaryFolder => {
  const path = mkdtempSync(join(tmpdir(), `${name}-`))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
