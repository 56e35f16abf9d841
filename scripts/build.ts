/** `npm run prepare`: compiles the program into `dist/`; `npm ci` runs it by itself. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { helpRequested } from './help.ts'

helpRequested(`Usage: npm run prepare

Compiles main.ts and everything it needs into dist/, the folder that
\`npm start\` and the \`tributary\` command run from.`)

rmSync('dist', { recursive: true, force: true })
const built = spawnSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' })
process.exitCode = built.status ?? 1
