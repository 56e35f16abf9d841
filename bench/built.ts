/**
 * The program and the references compiled, as they run in production: what a loader of TypeScript
 * adds to every call would blur the comparison.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'

const FOLDER = '.bench'

/** Compiles once for each run; resolves scripts to what was built of them. */
export const build = (): ((script: string) => string) => {
  mkdirSync(FOLDER, { recursive: true })
  const config = {
    extends: '../tsconfig.build.json',
    compilerOptions: { outDir: '.', rootDir: '..', sourceMap: false },
    include: ['../main.ts', '../gateway', '../services', '../workers', '../bench/*.child.ts'],
  }
  writeFileSync(`${FOLDER}/tsconfig.json`, JSON.stringify(config))
  const { status } = spawnSync('npx', ['tsc', '-p', `${FOLDER}/tsconfig.json`], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('the program does not compile')
  return (script) => `../${FOLDER}/${script.replace(/\.ts$/, '.js')}`
}
