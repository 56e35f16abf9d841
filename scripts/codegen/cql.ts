/**
 * Reads the numbered migrations of `cql/` into table definitions. It knows the part of CQL the
 * migrations use and refuses the rest: what it does not understand, the embedded store cannot do.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface CqlColumn {
  readonly column: string
  readonly type: string
}

export interface CqlTable {
  readonly name: string
  readonly comment: string
  readonly partition: readonly CqlColumn[]
  readonly clustering: readonly CqlColumn[]
  readonly order: 'asc' | 'desc'
  readonly columns: readonly CqlColumn[]
}

const TYPES = ['text', 'int', 'bigint', 'double', 'boolean', 'blob', 'timestamp']
const KEY_TYPES = TYPES.filter((type) => type !== 'double')
const NAME = /^[a-z][a-z0-9_]*$/

export const readMigrations = (folder: string): CqlTable[] => {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.cql'))
    .sort()
  files.forEach((file, index) => {
    const number = String(index + 1).padStart(4, '0')
    if (!file.startsWith(`${number}-`)) throw new Error(`${file}: expected number ${number}`)
  })
  const tables = new Map<string, CqlTable>()
  for (const file of files) {
    for (const statement of statementsOf(readFileSync(join(folder, file), 'utf8'))) {
      apply(statement, { file, tables })
    }
  }
  return [...tables.values()]
}

interface Statement {
  readonly comment: string
  readonly text: string
}

/** Splits at semicolons; the comment above a statement is its meaning. */
export const statementsOf = (source: string): Statement[] => {
  const statements: Statement[] = []
  let comment: string[] = []
  let text: string[] = []
  for (const line of source.split('\n')) {
    const [code = '', note] = splitComment(line)
    if (text.length === 0 && code.trim() === '') {
      comment = note === undefined ? [] : [...comment, note]
      continue
    }
    text.push(code)
    if (!code.trimEnd().endsWith(';')) continue
    statements.push({ comment: comment.join('\n'), text: text.join('\n').trim().slice(0, -1) })
    comment = []
    text = []
  }
  if (text.join('').trim() !== '') throw new Error('the last statement lacks its semicolon')
  return statements
}

const splitComment = (line: string): [string, string | undefined] => {
  const at = line.indexOf('--')
  return at < 0 ? [line, undefined] : [line.slice(0, at), line.slice(at + 2).trim()]
}

const apply = (
  { text, comment }: Statement,
  { file, tables }: { readonly file: string; readonly tables: Map<string, CqlTable> },
): void => {
  const create = /^CREATE TABLE (\S+) \(([\s\S]*?)\n\)([\s\S]*)$/.exec(text)
  const add = /^ALTER TABLE (\S+) ADD (\S+) (\S+)$/.exec(text)
  try {
    if (create) {
      const [, name = '', body = '', options = ''] = create
      if (tables.has(name)) throw new Error('it exists already')
      tables.set(name, parseTable({ name, body, options, comment }))
      return
    }
    const grown = add && tables.get(add[1] ?? '')
    if (!add || !grown) throw new Error('only CREATE TABLE and ALTER TABLE … ADD are known')
    const column = parseColumn(`${add[2]} ${add[3]}`)
    tables.set(grown.name, { ...grown, columns: [...grown.columns, column] })
  } catch (cause) {
    throw new Error(`${file}: ${text.split('\n')[0]}: ${(cause as Error).message}`, { cause })
  }
}

const parseTable = (source: {
  readonly name: string
  readonly body: string
  readonly options: string
  readonly comment: string
}): CqlTable => {
  const { name, body, options, comment } = source
  const key = /PRIMARY KEY \(\(([^)]*)\)(?:, ([^)]*))?\)/.exec(body)
  if (!key) throw new Error('it needs PRIMARY KEY ((partition), clustering)')
  if (!NAME.test(name)) throw new Error('names are lower_snake')
  const all = body
    .slice(0, key.index)
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
    .map(parseColumn)
  const pick = (names = ''): CqlColumn[] =>
    names
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)
      .map((column) => keyColumn(all, column))
  const partition = pick(key[1])
  const clustering = pick(key[2])
  const keys = new Set([...partition, ...clustering].map(({ column }) => column))
  const columns = all.filter(({ column }) => !keys.has(column))
  if (columns.length === 0) throw new Error('it needs a column besides its key')
  return { name, comment, partition, clustering, order: orderOf(options, clustering), columns }
}

const parseColumn = (text: string): CqlColumn => {
  const [column = '', type = '', ...rest] = text.split(/\s+/)
  if (!NAME.test(column) || rest.length > 0) throw new Error(`cannot read column '${text}'`)
  if (!TYPES.includes(type))
    throw new Error(`column ${column}: type ${type} is not one of ${TYPES.join(', ')}`)
  return { column, type }
}

const keyColumn = (all: readonly CqlColumn[], name: string): CqlColumn => {
  const found = all.find(({ column }) => column === name)
  if (!found) throw new Error(`key column ${name} is not defined`)
  if (!KEY_TYPES.includes(found.type)) throw new Error(`${found.type} cannot be in a key`)
  return found
}

/** All clustering columns run one way, so that a pair can be compared as one thing. */
const orderOf = (options: string, clustering: readonly CqlColumn[]): 'asc' | 'desc' => {
  const order = /CLUSTERING ORDER BY \(([^)]*)\)/.exec(options)?.[1]
  if (order === undefined) return 'asc'
  const parts = order.split(',').map((part) => part.trim().split(/\s+/))
  const same = parts.every(([column], index) => column === clustering[index]?.column)
  if (!same || parts.length !== clustering.length) {
    throw new Error('CLUSTERING ORDER BY names every clustering column in order')
  }
  const directions = new Set(parts.map(([, direction = 'ASC']) => direction))
  if (directions.size !== 1) throw new Error('all clustering columns run one way')
  return directions.has('DESC') ? 'desc' : 'asc'
}
