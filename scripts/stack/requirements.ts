/** What the machine must have before anything is started, told all at once with how to get it. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { MissingRequirementError } from './failures.ts'
import { limitsMs, versions } from './settings.ts'

export interface Java {
  readonly file: string
  readonly version: string
}

/** Undefined when the program is not on the PATH; its output, both streams, otherwise. */
function outputOf(file: string, args: readonly string[]): string | undefined {
  const result = spawnSync(file, args, { encoding: 'utf8', timeout: limitsMs.tool })
  return result.error ? undefined : result.stdout + result.stderr
}

export function parseJavaVersion(text: string): string | undefined {
  return /version "([^"]+)"/.exec(text)?.[1]
}

/** JAVA_HOME first, as Maven and every other Java tool looks there first. */
function javaCandidates(env: NodeJS.ProcessEnv): string[] {
  const home = env['JAVA_HOME']
  return home ? [path.join(home, 'bin', 'java'), 'java'] : ['java']
}

interface JavaSearch {
  readonly java?: Java
  readonly unsuitable: readonly string[]
}

/** Cassandra 5 runs on Java 11 and 17, Kafka 4 on 17 and later: 17 is the one they share. */
function searchJava(env: NodeJS.ProcessEnv): JavaSearch {
  const unsuitable: string[] = []
  for (const file of javaCandidates(env)) {
    const version = parseJavaVersion(outputOf(file, ['-version']) ?? '')
    if (version?.split('.')[0] === String(versions.java))
      return { java: { file, version }, unsuitable }
    if (version) unsuitable.push(version)
  }
  return { unsuitable }
}

export function findJava(): Java {
  const { java, unsuitable } = searchJava(process.env)
  if (java) return java
  throw new MissingRequirementError(missingMessage([javaGap(unsuitable)]))
}

interface Gap {
  readonly what: string
  readonly debian: string
  readonly brew: string
}

function javaGap(found: readonly string[]): Gap {
  const instead = found.length > 0 ? ` (found ${found.join(' and ')}; set JAVA_HOME to choose)` : ''
  return {
    what: `Java ${versions.java}, for Cassandra and Kafka${instead}`,
    debian: `openjdk-${versions.java}-jre-headless`,
    brew: `openjdk@${versions.java}`,
  }
}

const mavenGap: Gap = {
  what: 'Maven (mvn), to download Cassandra and Kafka',
  debian: 'maven',
  brew: 'maven',
}
const redisGap: Gap = {
  what: 'redis-server and redis-cli',
  debian: 'redis-server',
  brew: 'redis',
}

export function missingMessage(gaps: readonly Gap[]): string {
  return [
    'The stack needs programs this machine does not have:',
    ...gaps.map((gap) => `  - ${gap.what}`),
    'Install them and run this again:',
    `  Debian, Ubuntu:  apt-get install ${gaps.map((gap) => gap.debian).join(' ')}`,
    `  macOS:           brew install ${gaps.map((gap) => gap.brew).join(' ')}`,
    'or start a Docker engine: with one that answers, none of these is needed.',
  ].join('\n')
}

export interface Needs {
  readonly java: boolean
  readonly maven: boolean
}

/** Throws one error that names everything missing. Only presence is asked: Maven starts slowly. */
export function requireTools(needs: Needs): void {
  const hasRedis = isOnPath('redis-server') && isOnPath('redis-cli')
  const gaps = [
    needs.java ? javaProblem() : undefined,
    needs.maven && !isOnPath('mvn') ? mavenGap : undefined,
    hasRedis ? undefined : redisGap,
  ].filter((gap) => gap !== undefined)
  if (gaps.length > 0) throw new MissingRequirementError(missingMessage(gaps))
}

function javaProblem(): Gap | undefined {
  const { java, unsuitable } = searchJava(process.env)
  return java ? undefined : javaGap(unsuitable)
}

export function isOnPath(program: string): boolean {
  return outputOf('/bin/sh', ['-c', `command -v ${program}`])?.trim() !== ''
}
