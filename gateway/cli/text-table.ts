/** Columns of text, as wide as their widest cell; the last one takes what it needs. */
export const textTable = <Row extends object>(
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
): string => {
  const cells = rows.map((row) => columns.map((column) => oneLine(String(row[column]))))
  const lines = [columns.map((column) => column.toUpperCase()), ...cells]
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const CELL_CHARACTERS_MAX = 120

const oneLine = (text: string): string => {
  const flat = text.replace(/\s+/g, ' ')
  return flat.length > CELL_CHARACTERS_MAX ? `${flat.slice(0, CELL_CHARACTERS_MAX - 1)}…` : flat
}
