/** The source tree as a graph: every file with what it imports, read by a real parser. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { parseSync } from 'oxc-parser'

export interface Import {
  /** A path from the root for our own files, else the package name. */
  readonly target: string
  readonly own: boolean
  readonly typeOnly: boolean
}

export interface Module {
  /** Path from the root, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly imports: readonly Import[]
}

const FOLDERS = ['gateway', 'services', 'workers', 'scripts', 'bench', 'test']

export const readModules = (root: string): Module[] => {
  const files = ['main.ts', ...FOLDERS.flatMap((folder) => sources(root, folder))]
  return files.filter((file) => isThere(root, file)).map((path) => readModule(root, path))
}

const isThere = (root: string, file: string): boolean =>
  readdirSync(dirname(join(root, file))).includes(file.split('/').at(-1) ?? '')

const sources = (root: string, folder: string): string[] => {
  if (!isThere(root, folder)) return []
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
}

const readModule = (root: string, path: string): Module => {
  const text = readFileSync(join(root, path), 'utf8')
  const { module, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const imports = [
    ...module.staticImports.map((each) => ({
      name: each.moduleRequest.value,
      typeOnly: each.entries.length > 0 && each.entries.every(({ isType }) => isType),
    })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest ? [{ name: moduleRequest.value, typeOnly: isType }] : [],
      ),
    ),
    ...module.dynamicImports.flatMap(({ moduleRequest }) => {
      const literal = /^['"](.*)['"]$/.exec(text.slice(moduleRequest.start, moduleRequest.end))
      return literal?.[1] ? [{ name: literal[1], typeOnly: false }] : []
    }),
  ]
  return { path, text, imports: imports.map(({ name, typeOnly }) => resolve(path, name, typeOnly)) }
}

const resolve = (from: string, name: string, typeOnly: boolean): Import => {
  if (name.startsWith('.')) {
    return {
      target: normalize(join(dirname(from), name)).replaceAll('\\', '/'),
      own: true,
      typeOnly,
    }
  }
  const words = name.split('/')
  const target = name.startsWith('@') ? words.slice(0, 2).join('/') : (words[0] ?? name)
  return { target, own: false, typeOnly }
}

/** The first cycle among value imports, as the files on it, or nothing. */
export const findCycle = (modules: readonly Module[]): string[] | undefined => {
  const byPath = new Map(modules.map((module) => [module.path, module]))
  const finished = new Set<string>()
  const visit = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (finished.has(path)) return undefined
    for (const { own, typeOnly, target } of byPath.get(path)?.imports ?? []) {
      const cycle = own && !typeOnly ? visit(target, [...trail, path]) : undefined
      if (cycle) return cycle
    }
    finished.add(path)
    return undefined
  }
  for (const { path } of modules) {
    const cycle = visit(path, [])
    if (cycle) return cycle
  }
  return undefined
}
