/**
 * The generated regions of a document. A region stands between two lines:
 *
 *     <!-- generated: options -->
 *     <!-- /generated -->
 *
 * Its name chooses the table. The text around the regions is written by hand and stays as it is.
 */

const region = /^<!-- generated: ([a-z]+) -->\n[^]*?^<!-- \/generated -->$/gm
const mark = /^<!-- (?:generated: .*|\/generated) -->$/gm

/** Makes the text of a region, without a line feed at its end. */
export type Table = () => string

/** Returns the document with every region filled. @throws Error for an unknown name or a mark without its other */
export function fillRegions(document: string, text: string, tables: Readonly<Record<string, Table>>): string {
  const marks = text.match(mark)?.length ?? 0
  let regions = 0
  const filled = text.replace(region, (_, name: string) => {
    regions++
    const table = Object.hasOwn(tables, name) ? tables[name] : undefined
    if (table === undefined) throw new Error(`${document}: there is no table "${name}" for this document`)
    return `<!-- generated: ${name} -->\n${table()}\n<!-- /generated -->`
  })
  if (marks !== 2 * regions) throw new Error(`${document}: a mark of a generated region has no other`)
  return filled
}
