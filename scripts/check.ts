/** `npm run check`: everything a machine can say about the tree without running the program. */
import { spawnSync } from 'node:child_process'
import { helpRequested } from './help.ts'

helpRequested(`Usage: npm run check

Runs, in this order, and fails if any of them finds something:
  types      tsc over the whole tree
  lint       Biome: lint rules and formatting (\`npx biome check --write\` mends most)
  tidy       import rule, cycles, mirrored engine folders, banned names, dead files
  drift      generated files equal what \`npm run codegen\` would write`)

const steps: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['types', ['tsc', '-p', 'tsconfig.json']],
  ['lint', ['biome', 'check', '--error-on-warnings', '.']],
  ['tidy', ['vitest', 'run', '--silent=true', 'test/tidy.test.ts']],
  ['drift', ['tsx', 'scripts/codegen.ts', '--check']],
]

const failed: string[] = []
for (const [name, command] of steps) {
  const started = Date.now()
  const run = spawnSync('npx', command, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  console.log(`${run.status === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`)
  if (run.status === 0) continue
  failed.push(name)
  console.log(run.stdout + run.stderr)
}
if (failed.length > 0) console.log(`check failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
