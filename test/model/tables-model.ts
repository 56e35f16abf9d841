/**
 * The tables as simply as they can be said: rows in a list, sorted and filtered on every read. Slow
 * and obviously right; the engines are compared with it.
 */
import type {
  AnyTable,
  Cells,
  Column,
  ColumnValue,
  Slice,
  Write,
} from '../../services/platform/tables.ts'

export type ModelRow = Record<string, ColumnValue | null>

export class TablesModel {
  readonly #rows = new Map<AnyTable, ModelRow[]>()
  /** The highest version so far of each row written with versions, removals included. */
  readonly #versions = new Map<string, bigint>()

  get(table: AnyTable, key: Cells): ModelRow | undefined {
    const columns = [...table.partition, ...table.clustering]
    return this.#of(table).find((row) => compareCells(columns, row, key) === 0)
  }

  write(writes: readonly Write[]): void {
    for (const write of writes.filter((each) => this.#stands(each))) {
      if (write.kind === 'put') this.#put(write.table, write.row)
      else this.#remove(write.table, write.key)
    }
  }

  insertIfAbsent(table: AnyTable, row: Cells): boolean {
    if (this.get(table, row)) return false
    this.#put(table, row)
    return true
  }

  compareAndSet(table: AnyTable, key: Cells, expected: Cells, next: Cells): boolean {
    const row = this.get(table, key)
    const holds = row && Object.entries(expected).every(([name, value]) => row[name] === value)
    if (holds) Object.assign(row, next)
    return holds === true
  }

  slice(table: AnyTable, partition: Cells, slice: Slice<AnyTable>): ModelRow[] {
    const { after, from, until, before, limit, direction } = slice
    const sign = (table.order === 'desc') === (direction === 'reverse') ? 1 : -1
    const side = (row: ModelRow, bound: Cells): number => {
      const named = table.clustering.filter(({ name }) => bound[name] !== undefined)
      return sign * compareCells(named, row, bound)
    }
    return this.#of(table)
      .filter((row) => compareCells(table.partition, row, partition) === 0)
      .filter((row) => !after || side(row, after as Cells) > 0)
      .filter((row) => !from || side(row, from as Cells) >= 0)
      .filter((row) => !until || side(row, until as Cells) <= 0)
      .filter((row) => !before || side(row, before as Cells) < 0)
      .sort((a, b) => sign * compareCells(table.clustering, a, b))
      .slice(0, limit)
  }

  #stands(write: Write): boolean {
    const { table, version } = write
    if (version === undefined) return true
    const cells = write.kind === 'put' ? write.row : write.key
    const columns = [...table.partition, ...table.clustering]
    const name = [table.name, ...columns.map((column) => String(cells[column.name]))].join('/')
    if ((this.#versions.get(name) ?? 0n) >= version) return false
    this.#versions.set(name, version)
    return true
  }

  #of(table: AnyTable): ModelRow[] {
    const known = this.#rows.get(table)
    if (known) return known
    const rows: ModelRow[] = []
    this.#rows.set(table, rows)
    return rows
  }

  #put(table: AnyTable, cells: Cells): void {
    const existing = this.get(table, cells)
    const row: ModelRow = existing ?? {}
    for (const { name } of [...table.partition, ...table.clustering, ...table.columns]) {
      const value = cells[name]
      row[name] = value === undefined ? (row[name] ?? null) : value
    }
    if (!existing) this.#of(table).push(row)
  }

  #remove(table: AnyTable, key: Cells): void {
    const row = this.get(table, key)
    this.#rows.set(
      table,
      this.#of(table).filter((each) => each !== row),
    )
  }
}

const compareCells = (columns: readonly Column[], a: Cells, b: Cells): number => {
  for (const { name } of columns) {
    const order = compareValues(a[name] ?? null, b[name] ?? null)
    if (order !== 0) return order
  }
  return 0
}

const compareValues = (a: ColumnValue | null, b: ColumnValue | null): number => {
  if (typeof a === 'string' && typeof b === 'string') {
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  if (a === b) return 0
  return a !== null && b !== null && a < b ? -1 : 1
}
