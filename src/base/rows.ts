/**
 * Formats rows of text in columns for people, with two spaces between columns. Cells are not cut. Spaces at the end of
 * a line are removed.
 */

export function formatRows(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  }
  const line = (row: readonly string[]): string => {
    return row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()
  }
  return rows.map(line).join('\n')
}
