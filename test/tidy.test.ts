/**
 * What a machine can check about the shape of the tree: who may import whom, no cycles, mirrored
 * engine folders, no dead files, banned words and names. `npm run check` runs it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { findCycle, type Import, type Module, readModules } from './kit/modules.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = readModules(root)
const product = modules.filter(({ path }) => /^(main\.ts|gateway|services|workers)/.test(path))

/** The modules of `services/` in order: each may use the doors of those above it. */
const ORDER = [
  'audit',
  'settings',
  'dead-letter',
  'scheduler',
  'accounts',
  'graph',
  'media',
  'post',
  'engagement',
  'rank',
  'moderation',
  'trending',
  'search',
  'news',
  'realtime',
  'feed',
  'notification',
  'live',
  'drop',
]

interface Rule {
  readonly name: string
  readonly why: string
  readonly from: RegExp
  readonly allows: (target: Import, from: string) => boolean
}

const port = /^services\/platform\/[a-z-]+\.ts$|^services\/platform\/generated\//
const kernel = /^services\/kernel\//
const declared = /^services\/[a-z-]+\/settings\.ts$/
const door = /^services\/([a-z-]+)\/\1\.ts$/
const node = (target: Import) => !target.own && target.target.startsWith('node:')
const moduleOf = (path: string) => /^services\/([a-z-]+)\//.exec(path)?.[1] ?? ''

const mayUseDoor = (target: string, from: string): boolean =>
  door.test(target) && ORDER.indexOf(moduleOf(target)) < ORDER.indexOf(moduleOf(from))

const mayServiceUse = ({ target, own }: Import, from: string): boolean =>
  own &&
  (kernel.test(target) ||
    port.test(target) ||
    moduleOf(target) === moduleOf(from) ||
    mayUseDoor(target, from))

/** The first rule that fits a file is its rule. */
const rules: readonly Rule[] = [
  {
    name: 'kernel',
    why: 'shared words depend on nothing',
    from: kernel,
    allows: ({ target, own }) => own && kernel.test(target),
  },
  {
    name: 'telemetry',
    why: 'the files of the platform that know metrics, printing and tracing libraries',
    from: /^services\/platform\/(telemetry|tracing)\.ts$/,
    allows: ({ target, own }) =>
      own
        ? kernel.test(target) || port.test(target)
        : /^(prom-client|pino|@opentelemetry\/.+)$/.test(target),
  },
  {
    name: 'platform root',
    why: 'opens one engine set, so it alone among ports sees both',
    from: /^services\/platform\/platform\.ts$/,
    allows: ({ target, own }) => own && /^services\/(kernel|platform)\//.test(target),
  },
  {
    name: 'port',
    why: 'a port is a contract: no engine and no library may shape it',
    from: port,
    allows: (target) => node(target) || kernel.test(target.target) || port.test(target.target),
  },
  {
    name: 'embedded engine',
    why: 'no server, no network, one storage library',
    from: /^services\/platform\/embedded\//,
    allows: (target) =>
      node(target) ||
      target.target === 'lmdb' ||
      kernel.test(target.target) ||
      port.test(target.target) ||
      target.target.startsWith('services/platform/embedded/'),
  },
  {
    name: 'cluster engine',
    why: 'the only place where drivers are imported',
    from: /^services\/platform\/cluster\//,
    allows: (target) =>
      node(target) ||
      ['cassandra-driver', 'ioredis', 'kafkajs'].includes(target.target) ||
      kernel.test(target.target) ||
      port.test(target.target) ||
      target.target.startsWith('services/platform/cluster/'),
  },
  {
    name: 'composition of services',
    why: 'builds every service from the platform, in their order',
    from: /^services\/compose\.ts$/,
    allows: ({ target, own }) =>
      own &&
      (kernel.test(target) || port.test(target) || door.test(target) || declared.test(target)),
  },
  {
    name: 'accounts',
    why: 'the one service that hashes passwords and signs tokens',
    from: /^services\/accounts\//,
    allows: (target, from) =>
      target.target === 'jose' || target.target === 'node:crypto' || mayServiceUse(target, from),
  },
  {
    name: 'service',
    why: 'look up the list, never down: downward talk goes by events; engines only through ports',
    from: /^services\//,
    allows: mayServiceUse,
  },
  {
    name: 'gateway',
    why: 'the edge sees doors and the kernel, never a table, a cache key or a topic',
    from: /^gateway\//,
    allows: ({ target, own }) =>
      !own ||
      target.startsWith('gateway/') ||
      kernel.test(target) ||
      door.test(target) ||
      target === 'services/compose.ts' ||
      /^services\/platform\/(telemetry|clock)\.ts$/.test(target) ||
      target.startsWith('schema/generated/'),
  },
  {
    name: 'workers',
    why: 'a worker calls one door; the kit alone also knows the log',
    from: /^workers\//,
    allows: ({ target, own }) =>
      own &&
      (target.startsWith('workers/') ||
        kernel.test(target) ||
        door.test(target) ||
        target === 'services/compose.ts' ||
        /^services\/platform\/(log|clock|telemetry)\.ts$/.test(target)),
  },
  {
    name: 'bench',
    why: 'a bench opens engines as tests do, and measures the product itself',
    from: /^bench\//,
    allows: ({ target, own }) => !own || !/\.test\.ts$|^(gateway|workers)\//.test(target),
  },
  {
    name: 'scripts',
    why: 'nobody else imports tests; only main.ts imports gateway and workers',
    from: /^scripts\//,
    allows: ({ target, own }) => !own || !/^(test|gateway|workers)\//.test(target),
  },
]

const violations = (module: Module): string[] => {
  const rule = rules.find(({ from }) => from.test(module.path))
  if (!rule) return []
  return module.imports
    .filter((target) => !rule.allows(target, module.path))
    .map(({ target }) => `${module.path} → ${target} (${rule.name}: ${rule.why})`)
}

describe('the tree', () => {
  test('is seen by the parser', () => {
    expect(modules.length).toBeGreaterThan(30)
    const imports = modules.reduce((sum, module) => sum + module.imports.length, 0)
    expect(imports).toBeGreaterThan(60)
  })

  test('obeys the import rule', () => {
    expect(modules.flatMap(violations)).toEqual([])
  })

  test('has every module of services in the order of dependence', () => {
    const folders = readdirSync(join(root, 'services'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => name !== 'kernel' && name !== 'platform')
    expect(folders.filter((name) => !ORDER.includes(name))).toEqual([])
  })

  test('has no import cycle', () => {
    expect(findCycle(modules)).toBeUndefined()
  })

  test('imports only files that exist', () => {
    const missing = modules.flatMap(({ path, imports }) =>
      imports
        .filter(({ own, target }) => own && !existsSync(join(root, target)))
        .map(({ target }) => `${path} → ${target}`),
    )
    expect(missing).toEqual([])
  })

  test('has no dead file', () => {
    const used = new Set(modules.flatMap(({ imports }) => imports.map(({ target }) => target)))
    const startsByItself =
      /^main\.ts$|^scripts\/[a-z-]+\.ts$|^bench\/[a-z-]+\.(bench|child)\.ts$|\.test\.ts$|^test\/.*child[a-z-]*\.ts$/
    const dead = modules
      .map(({ path }) => path)
      .filter((path) => !used.has(path) && !startsByItself.test(path))
    expect(dead).toEqual([])
  })
})

describe('the engines', () => {
  const files = (folder: string) =>
    readdirSync(join(root, 'services/platform', folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
  /** Ports that only one engine set has so far. */
  const single = new Set(['blobs.ts'])

  test('mirror the ports name for name', () => {
    const adapters = [
      'tables.ts',
      'cache.ts',
      'feeds.ts',
      'log.ts',
      'commit.ts',
      'pubsub.ts',
      'blobs.ts',
    ]
    for (const name of adapters) {
      expect(files('.'), `port ${name}`).toContain(name)
      expect(files('embedded'), `embedded/${name}`).toContain(name)
      if (!single.has(name)) expect(files('cluster'), `cluster/${name}`).toContain(name)
    }
  })

  test('have their contract in prose at the top of each port', () => {
    for (const name of files('.')) {
      const text = readFileSync(join(root, 'services/platform', name), 'utf8')
      expect(text.startsWith('/**'), name).toBe(true)
    }
  })
})

describe('the words', () => {
  const find = (pattern: RegExp, among: readonly Module[]) =>
    among.flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, index) =>
          pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
        ),
    )

  test('of files are kebab-case nouns of the domain', () => {
    const bad = modules
      .map(({ path }) => path)
      .filter(
        (path) =>
          !/^[a-z0-9-]+(\.(test|contract|bench|config|child))?\.ts$/.test(basename(path)) ||
          /^(index|utils?|types|misc|helpers?|common)\.ts$/.test(basename(path)) ||
          /(^|\/)(utils?|misc|helpers?|common)$/.test(dirname(path)),
      )
    expect(bad).toEqual([])
  })

  test('of product code escape no type and print nothing', () => {
    expect(
      find(
        /^(?!\s*(\*|\/\/|\/\*)).*(\bas any\b|as unknown as|\bconsole\.)|@ts-ignore|@ts-expect-error/,
        product,
      ),
    ).toEqual([])
  })

  test('of product code ask ports, not globals, for time, chance and the environment', () => {
    const guarded = product.filter(
      ({ path }) =>
        path !== 'main.ts' &&
        !path.startsWith('services/platform/') &&
        !path.startsWith('gateway/'),
    )
    expect(
      find(/\bDate\.now\(|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|process\.env/, guarded),
    ).toEqual([])
    const environment = product.filter(({ path }) => path !== 'main.ts')
    expect(find(/process\.(env|argv)\b/, environment)).toEqual([])
  })

  test('of classes name no manager, helper or interface prefix', () => {
    expect(
      find(/\b(class|interface) (I[A-Z][a-z]\w*|\w*(Manager|Helper|Util|Utils|Impl))\b/, product),
    ).toEqual([])
  })

  test('of tests are facts', () => {
    const tests = modules.filter(({ path }) => path.startsWith('test/'))
    expect(find(/\b(test|it)(\.\w+)?\(\s*['"`]should\b/, tests)).toEqual([])
    expect(
      find(
        /\b(test|it|describe)\.(only|todo)\b/,
        tests.filter(({ path }) => path !== 'test/tidy.test.ts'),
      ),
    ).toEqual([])
  })
})

describe('the documents', () => {
  const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...markdown('docs')]

  test('link to files that exist', () => {
    const broken = documents.flatMap((document) => {
      const text = readFileSync(join(root, document), 'utf8')
      return [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)]
        .map((match) => match[1] ?? '')
        .filter((link) => !existsSync(join(root, dirname(document), link)))
        .map((link) => `${document} → ${link}`)
    })
    expect(broken).toEqual([])
  })

  test('name npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const missing = documents.flatMap((document) =>
      [...readFileSync(join(root, document), 'utf8').matchAll(/npm run ([a-z][a-z:-]*)/g)]
        .map((match) => match[1] ?? '')
        .filter((name) => !(name in scripts))
        .map((name) => `${document}: npm run ${name}`),
    )
    expect(missing).toEqual([])
  })

  function markdown(folder: string): string[] {
    if (!existsSync(join(root, folder))) return []
    return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
  }
})
