/**
 * Jars by name from Maven: a pom that lists the roots, `copy-dependencies` for all they need.
 * The result is kept in the user's cache under a name that carries a hash of the pom, so a changed
 * list of dependencies never meets an old folder.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { StackError } from './failures.ts'
import { locked } from './lock.ts'
import { narrated, type Report, secondsSince } from './progress.ts'
import { cacheRoot, limitsMs } from './settings.ts'

export interface JarSet {
  readonly name: string
  readonly version: string
  /** `group:artifact:version` of the roots. */
  readonly roots: readonly string[]
}

export function renderPom(set: JarSet): string {
  const dependencies = set.roots.map((root) => {
    const [group, artifact, version] = root.split(':')
    return `    <dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`
  })
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tributary.stack</groupId>
  <artifactId>${set.name}</artifactId>
  <version>${set.version}</version>
  <dependencies>
${dependencies.join('\n')}
  </dependencies>
</project>
`
}

export function jarFolder(set: JarSet): string {
  const hash = createHash('sha256').update(renderPom(set)).digest('hex').slice(0, 8)
  return path.join(cacheRoot(), `${set.name}-${set.version}-${hash}`)
}

export function jarsAreCached(set: JarSet): boolean {
  return existsSync(path.join(jarFolder(set), 'lib'))
}

/** Sorted, because a class archive is valid only for the very class path it was made with. */
export function classPath(set: JarSet): string[] {
  const lib = path.join(jarFolder(set), 'lib')
  const names = readdirSync(lib).filter((name) => name.endsWith('.jar'))
  return names.sort().map((name) => path.join(lib, name))
}

export async function ensureJars(set: JarSet, report: Report): Promise<void> {
  if (jarsAreCached(set)) return
  await locked(`${jarFolder(set)}.lock`, report, async () => {
    if (!jarsAreCached(set)) await download(set, report)
  })
}

/** Into a draft folder first: a download cut short must not look like a finished one. */
async function download(set: JarSet, report: Report): Promise<void> {
  const startedAt = performance.now()
  const folder = jarFolder(set)
  const draft = path.join(folder, 'draft')
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  writeFileSync(path.join(folder, 'pom.xml'), renderPom(set))
  // One Maven at a time: two of them may spoil each other's files in its local repository.
  await locked(path.join(cacheRoot(), 'maven.lock'), report, () => {
    report(`downloading ${set.name} ${set.version} with Maven into ${folder}`)
    return runMaven(set, draft, report)
  })
  renameSync(draft, path.join(folder, 'lib'))
  report(`${set.name}: ${classPath(set).length} jars in place (${secondsSince(startedAt)})`)
}

const copyGoal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'

async function runMaven(set: JarSet, outputDirectory: string, report: Report): Promise<void> {
  const folder = jarFolder(set)
  const log = path.join(folder, 'maven.log')
  const args = ['-B', '-f', path.join(folder, 'pom.xml'), copyGoal, '-DincludeScope=runtime']
  const child = spawn('mvn', [...args, `-DoutputDirectory=${outputDirectory}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitsMs.download,
  })
  const file = createWriteStream(log)
  child.stdout.pipe(file, { end: false })
  child.stderr.pipe(file, { end: false })
  const label = downloadLabel(set.name, createInterface({ input: child.stdout }))
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const code = await narrated({ report, label }, exit)
  await new Promise<void>((resolve) => file.end(resolve))
  if (code === 0) return
  const tail = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-15).join('\n')
  throw new StackError(`Maven could not download ${set.name}. The end of ${log}:\n${tail}`)
}

function downloadLabel(name: string, lines: NodeJS.EventEmitter): () => string {
  let count = 0
  let last = ''
  lines.on('line', (line: string) => {
    const file = /^Downloaded from .*\/([^/ ]+) \(/.exec(line.replace('[INFO] ', ''))?.[1]
    if (file === undefined) return
    count += 1
    last = file
  })
  return () =>
    count === 0 ? `${name}: Maven is resolving` : `${name}: ${count} files, last ${last}`
}
