/**
 * The whole system in this process, on either engine, with a clock turned by hand: platform,
 * services and workers. `settle` ends asynchrony; nothing sleeps.
 */
import { programEnvironment } from '../../gateway/cli/environment.ts'
import type { GatewayOptions } from '../../gateway/gateway.ts'
import { graphqlSettings, socketSettings } from '../../gateway/graphql/settings.ts'
import { serverSettings, telemetrySettings } from '../../gateway/settings.ts'
import { composeServices, type Services, serviceSections } from '../../services/compose.ts'
import { readSettings, type Settings } from '../../services/kernel/settings.ts'
import { type Opened, openAll } from '../../services/platform/opened.ts'
import { openPlatform, type Platform } from '../../services/platform/platform.ts'
import { platformSections } from '../../services/platform/settings.ts'
import { Telemetry } from '../../services/platform/telemetry.ts'
import type { WorkerDefinition } from '../../workers/kit.ts'
import { roster, Workers } from '../../workers/roster.ts'
import { workerSettings } from '../../workers/settings.ts'
import type { EngineName } from './engines.ts'
import { eventually } from './eventually.ts'
import { type Asker, type GraphqlAnswer, GraphqlClient } from './graphql-client.ts'
import { ManualClock } from './manual-clock.ts'
import { OpenGateway } from './open-gateway.ts'
import { openPlace, type Place } from './place.ts'

const sections = [
  ...platformSections,
  ...serviceSections,
  serverSettings,
  graphqlSettings,
  socketSettings,
  telemetrySettings,
  workerSettings,
]

export interface WorldOptions {
  readonly engine: EngineName
  readonly workers?: readonly WorkerDefinition[]
  /** When its clock begins; now, when the world is left to a program with a real clock. */
  readonly startMs?: number
  /** Over those of the place, by variable of the environment. */
  readonly variables?: Readonly<Record<string, string>>
  /** More of the schema than the product has. */
  readonly extension?: GatewayOptions['extension']
}

/**
 * A first failure parks at once: only the clock of the test moves a retry on. Passwords are hashed
 * as cheaply as can be.
 */
const CALM = {
  TRIBUTARY_WORKERS_ATTEMPTS_IN_PLACE: '1',
  TRIBUTARY_WORKERS_ATTEMPTS_MAX: '3',
  TRIBUTARY_TELEMETRY_LEVEL: 'silent',
  TRIBUTARY_SERVER_PORT: '0',
  TRIBUTARY_ACCOUNTS_PASSWORD_COST_LOG2: '10',
  TRIBUTARY_ACCOUNTS_PASSWORD_ROUNDS: '1',
}

interface Parts extends AsyncDisposable {
  readonly settings: Settings
  readonly platform: Platform
  readonly services: Services
  readonly workers: Workers
  /** The gateway, opened when somebody first asks for it. */
  readonly gateway: () => Promise<OpenGateway>
}

export class World implements AsyncDisposable {
  readonly place: Place
  readonly clock: ManualClock
  readonly #options: WorldOptions
  readonly #ownsPlace: boolean
  #parts: Parts

  private constructor(options: WorldOptions, home: Home, parts: Parts) {
    this.#options = options
    this.place = home.place
    this.clock = home.clock
    this.#ownsPlace = home.owned
    this.#parts = parts
  }

  static async open(options: WorldOptions): Promise<World> {
    const place = await openPlace(options.engine, options.workers)
    const home = { place, clock: new ManualClock(options.startMs), owned: true }
    try {
      return new World(options, home, await openParts(options, home))
    } catch (error) {
      await home.place[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Another process of the same cluster. */
  async beside(options: Partial<WorldOptions> = {}): Promise<World> {
    const all = { ...this.#options, ...options }
    const home = { place: this.place, clock: this.clock, owned: false }
    return new World(all, home, await openParts(all, home))
  }

  /** Ends the program and leaves its data to another. */
  async stop(): Promise<void> {
    await this.#parts[Symbol.asyncDispose]()
  }

  /** Ends the program and starts it again on the same data. */
  async restart(): Promise<void> {
    await this.#parts[Symbol.asyncDispose]()
    // A clock that stood still would meet its own ids again.
    await this.clock.advance(120_000)
    this.#parts = await openParts(this.#options, { place: this.place, clock: this.clock })
  }

  get settings(): Settings {
    return this.#parts.settings
  }
  get platform(): Platform {
    return this.#parts.platform
  }
  get services(): Services {
    return this.#parts.services
  }
  get workers(): Workers {
    return this.#parts.workers
  }

  /** Where the API is served: a real listener. */
  async address(): Promise<string> {
    const { address } = await this.#parts.gateway()
    return address
  }

  /** Asks over HTTP, as `who`, or as nobody. */
  async graphql<Data = unknown>(
    who: Asker | undefined,
    document: string,
    variables: Readonly<Record<string, unknown>> = {},
  ): Promise<GraphqlAnswer<Data>> {
    const client = new GraphqlClient(await this.address())
    return await client.ask<Data>(who, document, variables)
  }

  /** Everything committed has been handled, or waits in the parking lot for a later time. */
  async settle(): Promise<void> {
    const { commit, log } = this.platform
    for (;;) {
      await commit.published()
      for (const { definition } of this.workers.events) {
        await log.settled(definition.name, [definition.topic])
      }
      await Promise.all(this.workers.events.map((worker) => worker.scanParked()))
      if ((await this.#backlog()) === 0) return
    }
  }

  /** Lets time pass, and everything that becomes due happen: the lease of ids is renewed, too. */
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms)
    await eventually(() => this.platform.ids.next())
    await this.settle()
  }

  /** Days at once: who became due meanwhile wakes once, at the end. */
  async leap(ms: number): Promise<void> {
    this.clock.step(this.clock.now() + ms)
    await this.pass(0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts[Symbol.asyncDispose]()
    if (this.#ownsPlace) await this.place[Symbol.asyncDispose]()
  }

  async #backlog(): Promise<number> {
    let events = 0
    for (const { definition } of this.workers.events) {
      const partitions = await this.platform.log.lag(definition.name, [definition.topic])
      events += partitions.reduce((sum, { lag }) => sum + lag, 0)
    }
    return events
  }
}

interface Home {
  readonly place: Place
  readonly clock: ManualClock
  readonly owned: boolean
}

const openParts = (
  options: WorldOptions,
  { place, clock }: Pick<Home, 'place' | 'clock'>,
): Promise<Parts> =>
  openAll(async (opened: Opened) => {
    const variables = { ...CALM, ...place.variables, ...options.variables }
    const settings = readSettings(sections, programEnvironment(variables, new Map()))
    const telemetry = new Telemetry({
      level: settings.view(telemetrySettings).level,
      version: 'test',
    })
    const platform = opened.use(
      await openPlatform({ settings, clock, telemetry, cqlFolder: 'cql' }),
    )
    const services = composeServices(platform, settings)
    opened.use(await services.settings.follow())
    opened.use(await services.accounts.follow())
    const workers = opened.use(
      new Workers(options.workers ?? roster, {
        ...{ log: platform.log, clock, telemetry, services },
        settings: settings.view(workerSettings),
        random: () => 1,
      }),
    )
    await workers.start()
    const { extension } = options
    let gateway: Promise<OpenGateway> | undefined
    const open = () => OpenGateway.open({ settings, platform, services, extension })
    return {
      ...{ settings, platform, services, workers },
      gateway: () => {
        gateway ??= open()
        return gateway
      },
      [Symbol.asyncDispose]: async () => {
        await (await gateway)?.[Symbol.asyncDispose]()
        await opened[Symbol.asyncDispose]()
      },
    }
  })
