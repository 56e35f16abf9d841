/** A Cassandra of a test's own, to be killed. */
import { ProcessBackend } from '../../scripts/stack/local.ts'
import { silent } from '../../scripts/stack/progress.ts'
import { dataCenter, host, layoutOf, portsAt } from '../../scripts/stack/settings.ts'
import type { StackAddresses } from './engines.ts'
import { temporaryFolder } from './temporary-folder.ts'

export class PrivateCassandra implements AsyncDisposable {
  readonly address: StackAddresses['cassandra']
  readonly #folder = temporaryFolder('tributary-cassandra')
  readonly #backend: ProcessBackend

  /** `offset` moves its ports away from those of any other stack, in hundreds. */
  private constructor(offset: number) {
    const ports = portsAt(offset)
    this.address = { host, port: ports.cassandra, dataCenter }
    this.#backend = new ProcessBackend({ layout: layoutOf(this.#folder.path), ports })
  }

  static async open(offset: number): Promise<PrivateCassandra> {
    const cassandra = new PrivateCassandra(offset)
    await cassandra.#backend.require(['cassandra'])
    await cassandra.start()
    return cassandra
  }

  start(): Promise<void> {
    return this.#backend.start('cassandra', silent)
  }

  /** SIGKILL: no farewell. */
  kill(): Promise<void> {
    return this.#backend.kill('cassandra')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#backend.stop(['cassandra'], silent)
    this.#folder[Symbol.dispose]()
  }
}
