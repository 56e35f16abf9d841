/**
 * Tables of the suite's own, for shapes that `cql/` has no table of. `cqlOf` says how a cluster
 * creates one; the embedded engine needs nothing but the descriptor.
 */
import type { AnyTable, Column, ColumnType, Table } from '../../services/platform/tables.ts'

const column = (name: string, type: ColumnType): Column => ({ name, column: snake(name), type })

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export interface SampleRow {
  readonly owner: string
  readonly shard: number
  readonly plainText: string | null
  readonly whole: number | null
  readonly large: bigint | null
  readonly ratio: number | null
  readonly isOn: boolean | null
  readonly body: Uint8Array | null
  readonly seenAt: number | null
}

/** A column of every type; a partition of two columns and one row. */
export const samples: Table<SampleRow, 'owner' | 'shard', never> = {
  name: 'suite_samples',
  partition: [column('owner', 'text'), column('shard', 'int')],
  clustering: [],
  order: 'asc',
  columns: [
    column('plainText', 'text'),
    column('whole', 'int'),
    column('large', 'bigint'),
    column('ratio', 'double'),
    column('isOn', 'boolean'),
    column('body', 'blob'),
    column('seenAt', 'timestamp'),
  ],
}

export interface EntryRow {
  readonly reader: bigint
  readonly ms: number
  readonly id: bigint
  readonly title: string | null
  readonly rank: number | null
}

type EntryTable = Table<EntryRow, 'reader', 'ms' | 'id'>

const entries = (name: string, order: 'asc' | 'desc'): EntryTable => ({
  name,
  partition: [column('reader', 'bigint')],
  clustering: [column('ms', 'timestamp'), column('id', 'bigint')],
  order,
  columns: [column('title', 'text'), column('rank', 'int')],
})

/** The pair (ms, id), newest first and oldest first. */
export const newest = entries('suite_newest', 'desc')
export const oldest = entries('suite_oldest', 'asc')

export interface NameRow {
  readonly scope: string
  readonly name: string
  readonly value: string | null
}

const names = (name: string, order: 'asc' | 'desc'): Table<NameRow, 'scope', 'name'> => ({
  name,
  partition: [column('scope', 'text')],
  clustering: [column('name', 'text')],
  order,
  columns: [column('value', 'text')],
})

/** Text in the clustering order, both ways. */
export const byName = names('suite_by_name', 'asc')
export const byNameDown = names('suite_by_name_down', 'desc')

export interface MarkRow {
  readonly home: string
  readonly isPinned: boolean
  readonly place: number
  readonly tag: Uint8Array
  readonly note: string | null
}

/** The other types a clustering column can have. */
export const marks: Table<MarkRow, 'home', 'isPinned' | 'place' | 'tag'> = {
  name: 'suite_marks',
  partition: [column('home', 'text')],
  clustering: [column('isPinned', 'boolean'), column('place', 'int'), column('tag', 'blob')],
  order: 'asc',
  columns: [column('note', 'text')],
}

export interface VersionRow {
  readonly name: string
  readonly version: bigint | null
  readonly writer: string | null
  readonly note: string | null
}

/** Written only conditionally. */
export const versions: Table<VersionRow, 'name', never> = {
  name: 'suite_versions',
  partition: [column('name', 'text')],
  clustering: [],
  order: 'asc',
  columns: [column('version', 'bigint'), column('writer', 'text'), column('note', 'text')],
}

export interface CopyRow {
  readonly scope: string
  readonly name: string
  readonly value: string | null
  readonly rank: number | null
}

/** Written only with versions. */
export const copies: Table<CopyRow, 'scope', 'name'> = {
  name: 'suite_copies',
  partition: [column('scope', 'text')],
  clustering: [column('name', 'text')],
  order: 'asc',
  columns: [column('value', 'text'), column('rank', 'int')],
}

export interface LedgerRow {
  readonly book: string
  readonly line: number
  readonly amount: number | null
  readonly version: bigint | null
  readonly writer: string | null
}

/** Line 0 sums up the others. Written only by `compareAndWrite`. */
export const ledgers: Table<LedgerRow, 'book', 'line'> = {
  name: 'suite_ledgers',
  partition: [column('book', 'text')],
  clustering: [column('line', 'int')],
  order: 'asc',
  columns: [column('amount', 'int'), column('version', 'bigint'), column('writer', 'text')],
}

export const fixtureTables: readonly AnyTable[] = [
  samples,
  newest,
  oldest,
  byName,
  byNameDown,
  marks,
  versions,
  copies,
  ledgers,
]

/** The statement that creates `table` in the keyspace in use. */
export const cqlOf = (table: AnyTable): string => {
  const { name, partition, clustering, columns, order } = table
  const all = [...partition, ...clustering, ...columns].map((each) => `${each.column} ${each.type}`)
  const names = (list: readonly Column[]) => list.map((each) => each.column)
  const key = [`(${names(partition).join(', ')})`, ...names(clustering)].join(', ')
  const sorted = names(clustering).map((each) => `${each} ${order.toUpperCase()}`)
  const suffix = sorted.length > 0 ? ` WITH CLUSTERING ORDER BY (${sorted.join(', ')})` : ''
  return `CREATE TABLE IF NOT EXISTS ${name} (${all.join(', ')}, PRIMARY KEY (${key}))${suffix}`
}
