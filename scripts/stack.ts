/** `npm run stack -- up|down|status|reset|kill NAME|start NAME`; all of it lives in `stack/`. */
import { parseArguments, type Request } from './stack/arguments.ts'
import {
  killEngine,
  type StackOptions,
  stackDown,
  stackReset,
  stackStatus,
  stackUp,
  startEngine,
} from './stack/control.ts'
import { StackError, UsageError } from './stack/failures.ts'
import { secondsSince } from './stack/progress.ts'

async function run(request: Request): Promise<void> {
  const options = { dir: request.dir, offset: request.offset, report: console.log }
  const startedAt = performance.now()
  const done = (text: string) => console.log(`${text} (${secondsSince(startedAt)})`)
  switch (request.action) {
    case 'up':
      await stackUp({ ...options, ring: request.ring, docker: request.docker })
      return done('the stack is up')
    case 'down':
      await stackDown(options)
      return done('the stack is down')
    case 'reset':
      await stackReset(options)
      return done('the stack is down and its data deleted')
    case 'status':
      return printStatus(options)
    case 'kill':
    case 'start':
      return runOnEngine(request, options)
  }
}

async function runOnEngine(request: Request, options: StackOptions): Promise<void> {
  const { action, engine } = request
  if (engine === undefined) throw new UsageError(`${action} needs the name of an engine`)
  if (action === 'start') return startEngine(engine, options)
  await killEngine(engine, options)
  console.log(`${engine} killed`)
}

function printStatus(options: StackOptions): void {
  const engines = stackStatus(options)
  const lines = engines.map(({ name, up, about }) => {
    return `${name.padEnd(10)} ${up ? 'up  ' : 'down'}  ${about}`
  })
  console.log(lines.join('\n') || 'no stack here; `npm run stack -- up` starts one')
  process.exitCode = engines.length > 0 && engines.every((engine) => engine.up) ? 0 : 1
}

// Leaving through `exit` ends the tools that are still running; engines stay, `down` stops them.
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

try {
  const request = parseArguments(process.argv.slice(2))
  if (request.action === 'help') console.log(request.text)
  else await run(request)
} catch (error) {
  if (!(error instanceof StackError)) throw error
  console.error(`error: ${error.message}`)
  process.exitCode = error.exitCode
}
