/** `npm test`: everything that can run here, and a loud word about what could not. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { helpRequested } from './help.ts'

helpRequested(`Usage: npm test [-- VITEST ARGUMENTS]

Runs every test. Those on the cluster engine need its servers (npm run stack -- up) and are left out,
with a notice at the end, when there are none. With TRIBUTARY_REQUIRE_CLUSTER=1 that is a failure.

Examples:
  npm test
  npm test -- test/contract/log.test.ts
  npm test -- --project together -t 'FEE-4'`)

interface Assertion {
  readonly fullName: string
  readonly status: string
}

interface Report {
  readonly testResults: readonly { readonly assertionResults: readonly Assertion[] }[]
}

/** Titles say which engine a test ran on; the others need none. */
const countByEngine = (file: string): string => {
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as Report
  const ran = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed' || status === 'failed')
  const on = (engine: string) =>
    ran.filter(({ fullName }) => new RegExp(`\\b${engine}\\b`).test(fullName)).length
  const [embedded, cluster] = [on('embedded'), on('cluster')]
  return `${embedded} on embedded, ${cluster} on cluster, ${ran.length - embedded - cluster} on neither`
}

const stackFolder = process.env['TRIBUTARY_STACK_DIR'] ?? '.stack'

const isStackUp = (): boolean => {
  try {
    readFileSync(join(stackFolder, 'stack.json'))
    return true
  } catch {
    return false
  }
}

const folder = mkdtempSync(join(tmpdir(), 'tributary-report-'))
const report = join(folder, 'report.json')
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
const run = spawnSync('npx', ['vitest', 'run', ...reporters, ...process.argv.slice(2)], {
  stdio: 'inherit',
})

try {
  console.log(`\nTests run: ${countByEngine(report)}`)
} catch {
  console.log('\nNo test ran to its end: see above')
}
rmSync(folder, { recursive: true, force: true })
if (!isStackUp()) {
  const line = '!'.repeat(78)
  console.log(`
${line}
!!  NOT RUN: every test of the CLUSTER engine (Cassandra, Redis, Kafka): no stack is up.
!!  To run them:  npm run stack -- up   and then again:  npm test
${line}`)
}
process.exitCode = run.status ?? 1
