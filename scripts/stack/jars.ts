/**
 * Jars by name from Maven: a pom that lists the roots, `copy-dependencies` for all they need.
 * The result is kept in the user's cache under a name that carries a hash of the pom, so a changed
 * list of dependencies never meets an old folder.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { locked } from './lock.ts'
import { narrated, type Report, secondsSince } from './progress.ts'
import { cacheRoot, limitsMs } from './settings.ts'
import { runTool } from './tools.ts'

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
  const pom = path.join(jarFolder(set), 'pom.xml')
  const args = ['-B', '-f', pom, copyGoal, '-DincludeScope=runtime']
  const downloads = new DownloadCount(set.name)
  const run = runTool({
    file: 'mvn',
    args: [...args, `-DoutputDirectory=${outputDirectory}`],
    purpose: `downloading ${set.name} with Maven`,
    limitMs: limitsMs.download,
    onOutput: (text) => downloads.read(text),
  })
  await narrated({ report, label: () => downloads.label() }, run)
}

/** Maven says a line for every file it gets; the last name shows that it is alive. */
class DownloadCount {
  readonly #name: string
  #count = 0
  #last = ''

  constructor(name: string) {
    this.#name = name
  }

  read(text: string): void {
    for (const match of text.matchAll(/Downloaded from [^\n]*\/([^/ \n]+) \(/g)) {
      this.#count += 1
      this.#last = match[1] ?? ''
    }
  }

  label(): string {
    if (this.#count === 0) return `${this.#name}: Maven is resolving`
    return `${this.#name}: ${this.#count} files, last ${this.#last}`
  }
}
