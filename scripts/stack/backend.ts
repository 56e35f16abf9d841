/**
 * How engines are run: as processes of this machine or as containers. Both keep the same promises,
 * so fault tests need not know which one they got.
 */
import type { Report } from './progress.ts'
import type { EngineName } from './settings.ts'

export interface Backend {
  /** Throws before anything is started when a program is missing or a port is taken. */
  require(names: readonly EngineName[]): Promise<void>
  /** Synchronous, so that a test file can decide at load time what it runs. */
  isUp(name: EngineName): boolean
  /** Resolves when the engine serves: at once if it does already, else on the data it left. */
  start(name: EngineName, report: Report): Promise<void>
  /** Ends it without warning, as a crash would. */
  kill(name: EngineName): Promise<void>
  stop(names: readonly EngineName[], report: Report): Promise<void>
  /** Deletes data, logs and configuration; only called when everything is stopped. */
  purge(): Promise<void>
  describe(name: EngineName): string
}
