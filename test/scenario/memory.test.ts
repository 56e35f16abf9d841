/** What the program as it is shipped needs while nothing happens: one page of `npm start`. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { openPlace } from '../kit/place.ts'

const MEGABYTE = 1024
const hasProc = existsSync('/proc/self/status')

/** Beside the sources, so that it finds its libraries. */
const build = () => {
  const folder = mkdtempSync('dist-')
  const args = ['tsc', '-p', 'tsconfig.build.json', '--outDir', folder]
  const built = spawnSync('npx', args, { encoding: 'utf8' })
  if (built.status !== 0) throw new Error(built.stdout)
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

const residentKilobytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

test.skipIf(!hasProc)('the idle program, as built, needs at most 120 MB on embedded', async () => {
  using built = build()
  await using place = await openPlace('embedded')
  const program = spawn(process.execPath, [`${built.folder}/main.js`, 'serve', '--port=0'], {
    env: { ...process.env, ...place.variables },
  })
  try {
    let said = ''
    program.stdout.on('data', (text) => {
      said += text
    })
    await eventually(() => said.includes('http://'), { withinMs: 30_000 })
    const resident = residentKilobytes(program.pid ?? 0) / MEGABYTE
    expect(resident).toBeGreaterThan(20)
    expect(resident).toBeLessThan(120)
  } finally {
    program.kill('SIGTERM')
    await once(program, 'exit')
  }
})
