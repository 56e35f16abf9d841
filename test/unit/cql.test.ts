import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readMigrations } from '../../scripts/codegen/cql.ts'
import { renderTables } from '../../scripts/codegen/tables.ts'

describe('the reader of migrations', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cql-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const read = (...sources: string[]) => {
    sources.forEach((source, index) => {
      writeFileSync(join(folder, `000${index + 1}-part.cql`), source)
    })
    return readMigrations(folder)
  }

  const posts = `-- Posts by author.
CREATE TABLE posts_by_author (
  author bigint,
  bucket int, -- a month
  order_ms timestamp,
  id bigint,
  flags int,
  PRIMARY KEY ((author, bucket), order_ms, id)
) WITH CLUSTERING ORDER BY (order_ms DESC, id DESC);
`

  test('finds keys, order, columns and meaning', () => {
    expect(read(posts)).toEqual([
      {
        name: 'posts_by_author',
        comment: 'Posts by author.',
        partition: [
          { column: 'author', type: 'bigint' },
          { column: 'bucket', type: 'int' },
        ],
        clustering: [
          { column: 'order_ms', type: 'timestamp' },
          { column: 'id', type: 'bigint' },
        ],
        order: 'desc',
        columns: [{ column: 'flags', type: 'int' }],
      },
    ])
  })

  test('adds the columns of later files', () => {
    const [table] = read(posts, 'ALTER TABLE posts_by_author ADD note text;\n')
    expect(table?.columns.map(({ column }) => column)).toEqual(['flags', 'note'])
  })

  test('writes descriptors with names in camel case and nullable columns', () => {
    const text = renderTables(read(posts))
    expect(text).toContain(
      "export const postsByAuthor: Table<PostsByAuthorRow, 'author' | 'bucket', 'orderMs' | 'id'>",
    )
    expect(text).toContain('readonly flags: number | null')
    expect(text).toContain('readonly orderMs: number\n')
  })

  test.each<[string, string]>([
    ['a counter', posts.replace('flags int', 'flags counter')],
    ['mixed directions', posts.replace('id DESC', 'id ASC')],
    ['a table of keys alone', posts.replace('  flags int,\n', '')],
    ['a key that is not defined', posts.replace('order_ms, id)\n', 'order_ms, nid)\n')],
    ['a double in the key', posts.replace('id bigint,\n  flags', 'id double,\n  flags')],
    ['another statement', 'CREATE INDEX ON posts (flags);\n'],
    ['a statement that does not end', 'CREATE TABLE x (\n'],
  ])('refuses %s', (_what, source) => {
    expect(() => read(source)).toThrow()
  })

  test('refuses a gap in the numbers', () => {
    writeFileSync(join(folder, '0002-late.cql'), posts)
    expect(() => readMigrations(folder)).toThrow('expected number 0001')
  })
})
