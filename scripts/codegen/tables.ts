/** Writes the typed descriptors of all tables: `services/platform/generated/tables.ts`. */
import type { CqlColumn, CqlTable } from './cql.ts'

const TS_TYPES: Readonly<Record<string, string>> = {
  text: 'string',
  int: 'number',
  bigint: 'bigint',
  double: 'number',
  boolean: 'boolean',
  blob: 'Uint8Array',
  timestamp: 'number',
}

export const camel = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())

const pascal = (name: string): string => {
  const word = camel(name)
  return word.charAt(0).toUpperCase() + word.slice(1)
}

export const renderTables = (tables: readonly CqlTable[]): string =>
  [
    '// Written by `npm run codegen` from cql/*.cql. Do not edit.',
    "import type { Table } from '../tables.ts'",
    '',
    ...tables.map(renderTable),
    `export const allTables = [\n${tables.map(({ name }) => `  ${camel(name)},`).join('\n')}\n] as const`,
    '',
  ].join('\n')

const renderTable = (table: CqlTable): string => {
  const { name, comment, partition, clustering, order, columns } = table
  const row = `${pascal(name)}Row`
  const keys = [...partition, ...clustering]
  const union = (list: readonly CqlColumn[]) =>
    list.length === 0 ? 'never' : list.map(({ column }) => `'${camel(column)}'`).join(' | ')
  return `/**\n${comment
    .split('\n')
    .map((line) => ` * ${line}`)
    .join('\n')}\n */
export interface ${row} {
${keys.map(({ column, type }) => `  readonly ${camel(column)}: ${TS_TYPES[type]}`).join('\n')}
${columns.map(({ column, type }) => `  readonly ${camel(column)}: ${TS_TYPES[type]} | null`).join('\n')}
}

export const ${camel(name)}: Table<${row}, ${union(partition)}, ${union(clustering)}> = {
  name: '${name}',
  partition: [${partition.map(renderColumn).join(', ')}],
  clustering: [${clustering.map(renderColumn).join(', ')}],
  order: '${order}',
  columns: [
${columns.map((column) => `    ${renderColumn(column)},`).join('\n')}
  ],
}
`
}

const renderColumn = ({ column, type }: CqlColumn): string =>
  `{ name: '${camel(column)}', column: '${column}', type: '${type}' }`
