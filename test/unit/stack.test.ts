import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseArguments } from '../../scripts/stack/arguments.ts'
import { renderCassandraYaml } from '../../scripts/stack/cassandra-command.ts'
import { composeEnvironment, projectName } from '../../scripts/stack/compose.ts'
import { readStack } from '../../scripts/stack/control.ts'
import { UsageError } from '../../scripts/stack/failures.ts'
import { type JarSet, jarFolder, renderPom } from '../../scripts/stack/jars.ts'
import { renderArguments } from '../../scripts/stack/java-command.ts'
import { renderKafkaProperties } from '../../scripts/stack/kafka.ts'
import { chooseDir, findPlace, parseOffset, writePlan } from '../../scripts/stack/place.ts'
import { isRunning, parseRecord, parseStat, recordOf } from '../../scripts/stack/processes.ts'
import { redisArguments } from '../../scripts/stack/redis.ts'
import { missingMessage, parseJavaVersion } from '../../scripts/stack/requirements.ts'
import {
  layoutOf,
  offsetStep,
  type Ports,
  portsAt,
  repositoryRoot,
} from '../../scripts/stack/settings.ts'

function everyPort(ports: Ports): number[] {
  const { ring, ...single } = ports
  return [...Object.values(single), ...ring, ...ring.map((port) => port + 10_000)]
}

async function withFolder(work: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tributary-stack-test-'))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('arguments', () => {
  test('up takes a folder, an offset and a ring', () => {
    const request = parseArguments(['up', '--ring', '--dir', 'd', '--offset', '100'])
    expect(request).toEqual({ action: 'up', ring: true, docker: true, dir: 'd', offset: 100 })
  })

  test('kill and start name an engine', () => {
    expect(parseArguments(['kill', 'kafka'])).toMatchObject({ action: 'kill', engine: 'kafka' })
    expect(parseArguments(['start', 'ring-2'])).toMatchObject({ engine: 'ring-2' })
  })

  test.each([
    [['upp'], 'Did you mean up'],
    [['up', '--rign'], 'Did you mean --ring'],
    [['kill', 'casandra'], 'Did you mean cassandra'],
    [['kill'], "missing required argument 'engine'"],
    [['status', 'extra'], 'too many arguments'],
    [['down', '--ring'], "unknown option '--ring'"],
    [[], 'name a command'],
  ])('%j is a usage error that says %s', (argv, message) => {
    expect(() => parseArguments(argv)).toThrow(UsageError)
    expect(() => parseArguments(argv)).toThrow(message)
  })

  test('--help answers with examples', () => {
    expect(parseArguments(['--help'])).toMatchObject({
      action: 'help',
      text: expect.stringContaining('Examples:'),
    })
  })
})

describe('place', () => {
  test.each(['50', '-100', '1.5', 'x', '', '10000'])('%j is no offset', (text) => {
    expect(() => parseOffset(text)).toThrow(UsageError)
  })

  test('no two stacks share a port at any two offsets', () => {
    const offsets = [0, 100, 500, 600, 1000, 2600, 2700, 9900]
    const ports = offsets.flatMap((offset) => everyPort(portsAt(offset)))
    expect(new Set(ports).size).toBe(ports.length)
    const residues = everyPort(portsAt(0)).map((port) => port % offsetStep)
    // Only a ring port and its bus port are alike, and they are 10,000 apart.
    expect(new Set(residues).size).toBe(residues.length - 3)
  })

  test('an offset alone names a folder of its own', () => {
    expect(path.basename(chooseDir({}, {}))).toBe('.stack')
    expect(path.basename(chooseDir({ offset: 100 }, {}))).toBe('.stack-100')
    expect(path.basename(chooseDir({}, { TRIBUTARY_STACK_OFFSET: '200' }))).toBe('.stack-200')
  })

  test('a flag goes before the environment', () => {
    const env = { TRIBUTARY_STACK_DIR: '/from/environment' }
    expect(chooseDir({}, env)).toBe('/from/environment')
    expect(chooseDir({ dir: '/from/flag' }, env)).toBe('/from/flag')
  })

  test('a folder keeps the offset it was made with', async () => {
    await withFolder((dir) => {
      writePlan(layoutOf(dir), { offset: 300, ring: false, backend: 'processes' })
      expect(findPlace({ dir }, {}).site.ports.redis).toBe(16679)
      expect(() => findPlace({ dir, offset: 100 }, {})).toThrow('port offset 300, not 100')
    })
  })

  test('a folder without a stack reads as none', async () => {
    await withFolder((dir) => {
      expect(readStack(dir)).toBeUndefined()
    })
  })
})

describe('configuration', () => {
  test('Cassandra syncs its commit log before it acknowledges', () => {
    const yaml = renderCassandraYaml({ native: 19142, storage: 17100 })
    expect(yaml).toContain('commitlog_sync: batch\n')
    expect(yaml).not.toContain('commitlog_sync_period')
    expect(yaml).toContain('native_transport_port: 19142\n')
    expect(yaml).toContain('seeds: "127.0.0.1:17100"')
  })

  test('Kafka creates no topic on its own', () => {
    const properties = renderKafkaProperties(portsAt(100), '/data')
    expect(properties).toContain('auto.create.topics.enable=false\n')
    expect(properties).toContain('advertised.listeners=PLAINTEXT://127.0.0.1:19192\n')
    expect(properties).toContain('controller.quorum.voters=1@127.0.0.1:19193\n')
    expect(properties).toContain('log.dirs=/data\n')
  })

  test('the Kafka container has the settings of the Kafka process', () => {
    const elsewhere = /^(listeners|advertised|listener\.security|controller\.quorum|log\.dirs)/
    const own = renderKafkaProperties(portsAt(0), '/data')
      .trim()
      .split('\n')
      .filter((line) => !elsewhere.test(line))
    const compose = readFileSync(path.join(repositoryRoot, 'docker-compose.yml'), 'utf8')
    const container = [...compose.matchAll(/^ +KAFKA_(\w+): "?([^"\n]+)"?$/gm)].map(
      ([, name = '', value]) => `${name.toLowerCase().replaceAll('_', '.')}=${value}`,
    )
    expect(own.length).toBeGreaterThan(15)
    expect(container).toEqual(expect.arrayContaining(own))
  })

  test('the shared Redis writes no dump', () => {
    const args = redisArguments(16379, '/data')
    expect(args[args.indexOf('--save') + 1]).toBe('')
    expect(args[args.indexOf('--bind') + 1]).toBe('127.0.0.1')
  })

  test('Java arguments survive blanks, quotes and backslashes', () => {
    expect(renderArguments(['-cp', '/a b/"c"\\d'])).toBe('"-cp"\n"/a b/\\"c\\"\\\\d"\n')
  })

  test('a changed list of dependencies gets a new cache folder', () => {
    const set: JarSet = { name: 'x', version: '1', roots: ['g:a:1'] }
    expect(renderPom(set)).toContain('<artifactId>a</artifactId><version>1</version>')
    expect(jarFolder(set)).not.toBe(jarFolder({ ...set, roots: ['g:a:2'] }))
  })

  test('containers publish the same ports as processes', () => {
    const site = { layout: layoutOf('/one'), ports: portsAt(100) }
    expect(composeEnvironment(site)).toMatchObject({ TRIBUTARY_STACK_KAFKA_PORT: '19192' })
    expect(projectName('/one')).not.toBe(projectName('/two'))
  })
})

describe('requirements', () => {
  test.each([
    ['openjdk version "17.0.15" 2025-04-15', '17.0.15'],
    ['openjdk version "25" 2025-09-16', '25'],
    ['sh: java: not found', undefined],
  ])('the version in %j is %s', (text, version) => {
    expect(parseJavaVersion(text)).toBe(version)
  })

  test('one message names every missing program and how to get them all', () => {
    const message = missingMessage([
      { what: 'Java 17', debian: 'openjdk-17-jre-headless', brew: 'openjdk@17' },
      { what: 'Maven', debian: 'maven', brew: 'maven' },
    ])
    expect(message).toContain('apt-get install openjdk-17-jre-headless maven\n')
    expect(message).toContain('brew install openjdk@17 maven\n')
  })
})

describe('pid ownership', () => {
  const stat = `42 (a (strange) name) S ${Array.from({ length: 18 }, (_, i) => i).join(' ')} 777 0 0`

  test('the start time is found behind a name with parentheses', () => {
    expect(parseStat(stat)).toEqual({ state: 'S', startTime: '777' })
    expect(parseStat('')).toBeUndefined()
  })

  test('a process is ours only while pid and start time agree', () => {
    const record = { pid: 42, startTime: '777' }
    expect(isRunning(record, () => ({ state: 'S', startTime: '777' }))).toBe(true)
    expect(isRunning(record, () => ({ state: 'S', startTime: '778' }))).toBe(false)
    expect(isRunning(record, () => undefined)).toBe(false)
    expect(isRunning(undefined)).toBe(false)
  })

  test('a zombie counts as gone', () => {
    const record = { pid: 42, startTime: '777' }
    expect(isRunning(record, () => ({ state: 'Z', startTime: '777' }))).toBe(false)
  })

  test('a damaged pid file names no process', () => {
    for (const text of ['', '{', 'null', '{"pid":"1","startTime":"2"}', '{"pid":1}']) {
      expect(parseRecord(text)).toBeUndefined()
    }
  })

  test('a real child is running until it ends', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    const record = recordOf(child.pid ?? 0)
    expect(isRunning(record)).toBe(true)
    await ended(child)
    expect(isRunning(record)).toBe(false)
  })
})

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}
