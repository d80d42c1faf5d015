/** Printing of TypeScript text in this project's style: quotes, comments, and lines that are not too long. */

const widest = 120

/** A literal as it is written in source: `'text'`, `12`, `[]`, `{ a: 1 }`. */
export function literal(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${name}: ${literal(member)}`)
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  }
  return String(value)
}

export function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
}

/** A doc comment on a line of its own, or nothing. */
export function comment(doc: string, indent = ''): string[] {
  return doc === '' ? [] : [`${indent}/** ${doc} */`]
}

/** The line, or if it is too long `broken`: by default the line broken after `&&`, `||` or a comma, or before `|`. */
export function wrap(line: string, broken?: readonly string[]): string[] {
  if (line.length <= widest) return [line]
  if (broken !== undefined) return [...broken]
  return breakLine(line, `${/^ */.exec(line)?.[0] ?? ''}  `)
}

function breakLine(line: string, indent: string): string[] {
  const at = line.length > widest ? breakPoint(line, indent.length) : undefined
  if (at === undefined) return [line]
  return [line.slice(0, at).trimEnd(), ...breakLine(`${indent}${line.slice(at).trimStart()}`, indent)]
}

function breakPoint(line: string, from: number): number | undefined {
  let found: number | undefined
  for (const match of line.matchAll(/(?:&&|\|\||,) | (?=\| )/g)) {
    const at = match.index + match[0].length
    if (at > from && at <= widest) found = at
  }
  return found
}
