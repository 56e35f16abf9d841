/** A broker of a test's own, to be killed. */
import { ProcessBackend } from '../../scripts/stack/local.ts'
import { silent } from '../../scripts/stack/progress.ts'
import { host, layoutOf, portsAt } from '../../scripts/stack/settings.ts'
import { temporaryFolder } from './temporary-folder.ts'

export class PrivateKafka implements AsyncDisposable {
  readonly brokers: readonly string[]
  readonly #folder = temporaryFolder('tributary-kafka')
  readonly #backend: ProcessBackend

  /** `offset` moves its ports away from those of any other stack, in hundreds. */
  private constructor(offset: number) {
    const ports = portsAt(offset)
    this.brokers = [`${host}:${ports.kafka}`]
    this.#backend = new ProcessBackend({ layout: layoutOf(this.#folder.path), ports })
  }

  static async open(offset: number): Promise<PrivateKafka> {
    const kafka = new PrivateKafka(offset)
    await kafka.#backend.require(['kafka'])
    await kafka.start()
    return kafka
  }

  start(): Promise<void> {
    return this.#backend.start('kafka', silent)
  }

  /** SIGKILL: no farewell. */
  kill(): Promise<void> {
    return this.#backend.kill('kafka')
  }

  /** Leaves its connections open and answers nothing until it is thawed. */
  freeze(): void {
    this.#backend.signal('kafka', 'SIGSTOP')
  }

  thaw(): void {
    this.#backend.signal('kafka', 'SIGCONT')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#backend.stop(['kafka'], silent)
    this.#folder[Symbol.dispose]()
  }
}
