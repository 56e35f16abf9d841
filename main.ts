#!/usr/bin/env node
/**
 * The composition root: the one file that reads the environment and the arguments, and the only one
 * that sees the whole program. Everything is opened in order and closed in reverse.
 */
import { existsSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Actions, runCli } from './gateway/cli/cli.ts'
import { type Flags, programEnvironment } from './gateway/cli/environment.ts'
import {
  type Arguments,
  beginsData,
  type CommandName,
  runCommand,
  runWithoutData,
} from './gateway/control/commands.ts'
import { askRunning } from './gateway/control/control-client.ts'
import { ControlServer } from './gateway/control/control-server.ts'
import { socketPath } from './gateway/control/socket-path.ts'
import { Gateway } from './gateway/gateway.ts'
import { graphqlSettings, socketSettings } from './gateway/graphql/settings.ts'
import { Health } from './gateway/health.ts'
import { HttpServer } from './gateway/server.ts'
import { serverSettings, telemetrySettings } from './gateway/settings.ts'
import { StopSignals } from './gateway/stop-signals.ts'
import { composeServices, serviceSections } from './services/compose.ts'
import { readSettings, type Settings } from './services/kernel/settings.ts'
import { SystemClock } from './services/platform/clock.ts'
import { openPlatform } from './services/platform/platform.ts'
import { serverSecret } from './services/platform/server-secret.ts'
import { engineSettings, platformSections } from './services/platform/settings.ts'
import { Telemetry } from './services/platform/telemetry.ts'
import { startTracing } from './services/platform/tracing.ts'
import { parseRoles, Workers } from './workers/roster.ts'
import { workerSettings } from './workers/settings.ts'

/** The package's root: from the sources as from `dist/`. */
const root = existsSync(new URL('package.json', import.meta.url))
  ? new URL('.', import.meta.url)
  : new URL('..', import.meta.url)
const cqlFolder = fileURLToPath(new URL('cql', root))
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  version: string
}

const sections = [
  ...platformSections,
  ...serviceSections,
  serverSettings,
  graphqlSettings,
  socketSettings,
  telemetrySettings,
  workerSettings,
]

const settingsOf = (flags: Flags): Settings =>
  readSettings(sections, programEnvironment(process.env, flags))

const serve = async (flags: Flags): Promise<void> => {
  const settings = settingsOf(flags)
  const server = settings.view(serverSettings)
  const engine = settings.view(engineSettings)
  const roles = parseRoles(server.roles)
  const stop = new StopSignals(process, () => server.drainMs)

  const { level, traces, otlpUrl, otlpTimeoutMs } = settings.view(telemetrySettings)
  const tracing = { version, otlpUrl, exportTimeoutMs: otlpTimeoutMs }
  await using _tracing = traces === 'on' ? await startTracing(tracing) : undefined
  const telemetry = new Telemetry({ level, version })
  telemetry.collectProcessMetrics()
  await using health = new Health({ probeMs: server.probeMs })
  await using http = new HttpServer({ settings: server, telemetry, health, version })
  const address = await http.listen()

  const clock = new SystemClock()
  await using platform = await openPlatform({
    ...{ settings, clock, telemetry, cqlFolder },
    signal: stop.signal,
  })
  const services = composeServices(platform, settings)
  await using _following = await services.settings.follow()
  await using _watching = await services.accounts.follow()
  services.settings.onChange(() => {
    telemetry.log.level = settings.view(telemetrySettings).level
  })
  const worker = { ...platform, services, settings: settings.view(workerSettings) }
  await using workers = Workers.forRoles(roles, { ...worker, random: Math.random })
  await workers.start()
  await using _control =
    engine.kind === 'embedded'
      ? await ControlServer.open({
          path: socketPath(engine.dataFolder),
          telemetry,
          context: { services, backup: platform.backup },
        })
      : undefined
  // Whatever its roles, a process tells of its health and its metrics.
  await using gateway = roles.includes('gateway')
    ? await Gateway.open({
        ...{ http, services, settings, clock, telemetry },
        authenticator: services.accounts,
        cursorSecret: await serverSecret(platform, 'cursors'),
      })
    : undefined
  await health.serving(platform.probes)
  const place = engine.kind === 'embedded' ? `data in ${engine.dataFolder}` : engine.namespace
  process.stdout.write(`tributary ${version} on ${address}, ${engine.kind} engines, ${place}\n`)

  await stop.asked
  health.draining()
  await clock.sleep(server.unreadyMs)
  await Promise.all([gateway?.drain(), http.close()])
}

/** In the program that has the data folder, if one runs; else on engines opened for this command. */
const command = async (name: CommandName, words: Arguments, flags: Flags): Promise<unknown> => {
  const settings = settingsOf(flags)
  const actor = `${userInfo().username}@cli`
  const { kind, dataFolder } = settings.view(engineSettings)
  if (kind === 'embedded') {
    const { isUnused } = await import('./services/platform/embedded/data-folder.ts')
    if (!isUnused(dataFolder)) {
      const asked = await askRunning(socketPath(dataFolder), { command: name, words, actor })
      if (asked.answered) return asked.value
    } else if (!beginsData(name)) return runWithoutData(name, words, { settings, dataFolder })
  }
  const telemetry = new Telemetry({ level: 'error', version })
  const clock = new SystemClock()
  await using platform = await openPlatform({
    ...{ settings, clock, telemetry, cqlFolder },
    stays: false,
  })
  const services = composeServices(platform, settings)
  await services.settings.load()
  const result = await runCommand(name, words, { services, actor, backup: platform.backup })
  await platform.commit.published()
  return result
}

const migrate = async (flags: Flags, progress: (text: string) => void): Promise<void> => {
  const settings = settingsOf(flags)
  if (settings.view(engineSettings).kind === 'embedded') {
    progress('The embedded engines have nothing to migrate.')
    return
  }
  const { migrateCluster } = await import('./services/platform/cluster/platform.ts')
  const telemetry = new Telemetry({ level: 'warn', version })
  await migrateCluster({ settings, telemetry, cqlFolder, progress })
}

const restore = async (folder: string, flags: Flags): Promise<string> => {
  const { restoreEmbedded } = await import('./services/platform/embedded/platform.ts')
  return await restoreEmbedded(folder, settingsOf(flags))
}

const actions: Actions = {
  ...{ version, serve, command, migrate, restore },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
}

process.exitCode = await runCli(process.argv.slice(2), actions)
