/** The gateway on a listener of its own, as the program opens it. */
import { Gateway, type GatewayOptions } from '../../gateway/gateway.ts'
import { Health } from '../../gateway/health.ts'
import { HttpServer } from '../../gateway/server.ts'
import { serverSettings } from '../../gateway/settings.ts'
import type { Services } from '../../services/compose.ts'
import type { Settings } from '../../services/kernel/settings.ts'
import { openAll } from '../../services/platform/opened.ts'
import type { Platform } from '../../services/platform/platform.ts'
import { serverSecret } from '../../services/platform/server-secret.ts'

export interface OpenGatewayOptions {
  readonly settings: Settings
  readonly platform: Platform
  readonly services: Services
  readonly extension?: GatewayOptions['extension'] | undefined
}

export class OpenGateway implements AsyncDisposable {
  readonly address: string
  readonly http: HttpServer
  readonly #opened: AsyncDisposable

  private constructor(address: string, http: HttpServer, opened: AsyncDisposable) {
    this.address = address
    this.http = http
    this.#opened = opened
  }

  static open({
    settings,
    platform,
    services,
    extension,
  }: OpenGatewayOptions): Promise<OpenGateway> {
    return openAll(async (opened) => {
      const { clock, telemetry } = platform
      const view = settings.view(serverSettings)
      const health = opened.use(new Health({ probeMs: view.probeMs }))
      const http = opened.use(
        new HttpServer({ settings: view, telemetry, health, version: 'test' }),
      )
      opened.use(
        await Gateway.open({
          ...{ http, services, settings, clock, telemetry },
          authenticator: services.accounts,
          cursorSecret: await serverSecret(platform, 'cursors'),
          ...(extension ? { extension } : {}),
        }),
      )
      return new OpenGateway(await http.listen(), http, opened)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]()
  }
}
