/**
 * Reads the front matter of a Markdown file: the lines between two lines `---`, in a subset of YAML.
 *
 * A field is parsed when its value is read, so an unused field may contain other YAML. Supported values are texts
 * (plain, quoted, `|` and `>` blocks), lists (`- item` and `[a, b]`) and `true`. Unlike in YAML 1.2, a plain text may
 * contain a colon and a space.
 */
import { AppError } from '../../base/errors.ts'

export interface FrontMatter {
  /** The text after the front matter, trimmed; the whole text if it has no front matter. */
  readonly body: string
  /**
   * Returns the text of a field; undefined for an empty or missing field.
   * @throws AppError `invalid_input` for a value that is no text
   */
  text(name: string): string | undefined
  /**
   * Returns the texts of a field. A single text is a list of one. A missing field is an empty list.
   * @throws AppError `invalid_input` when the field is not a list of texts
   */
  list(name: string): readonly string[]
  /** Returns whether the value of the field is `true`. */
  flag(name: string): boolean
}

/**
 * Separates the front matter of a text from its body.
 * @throws AppError `invalid_input` for a missing closing `---`, a line that is no field, or a repeated field
 */
export function parseFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const end = isFence(lines[0]) ? lines.findIndex((line, index) => index > 0 && isFence(line)) : 0
  if (end < 0) throw unreadable('it has no end, expected a line of ---')
  const fields = fieldsOf(lines.slice(1, Math.max(end, 1)))
  const body = end === 0 ? lines : lines.slice(end + 1)
  return {
    body: body.join('\n').trim(),
    text: (name) => textOf(fields.get(name)),
    list: (name) => listOf(fields.get(name)),
    flag: (name) => fields.get(name)?.value === 'true',
  }
}

interface Field {
  readonly name: string
  /** The value on the line of the name, without a comment. */
  readonly value: string
  /** The field's further lines, below the line of its name, unchanged. */
  readonly lines: string[]
}

function isFence(line: string | undefined): boolean {
  return line !== undefined && /^---[ \t]*$/.test(line)
}

function fieldsOf(lines: readonly string[]): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>()
  let last: Field | undefined
  for (const line of lines) {
    const [, name, rest = ''] = /^([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t](.*))?$/.exec(line) ?? []
    if (name !== undefined) {
      if (fields.has(name)) throw unreadable(`the field "${name}" is given twice`)
      last = { name, value: withoutComment(rest), lines: [] }
      fields.set(name, last)
    } else if (last !== undefined && /^([ \t]|-([ \t]|$)|#|$)/.test(line)) last.lines.push(line)
    else if (!/^[ \t]*(#|$)/.test(line)) throw unreadable(`expected "name: value", not "${line.slice(0, 60)}"`)
  }
  return fields
}

function textOf(field: Field | undefined): string | undefined {
  if (field === undefined) return undefined
  const isBlock = /^[|>][+-]?$/.test(field.value)
  const text = isBlock ? blockText(field) : scalar([field.value, ...contentLines(field)].join(' ').trim(), field)
  return text === '' ? undefined : text
}

/** Returns the text of a `|` or `>` block. The indentation of its first line with text is cut from all lines. */
function blockText({ value, lines }: Field): string {
  const indent = /^[ \t]*/.exec(lines.find((line) => line.trim() !== '') ?? '')?.[0].length ?? 0
  const cut = lines.map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length)))
  if (value.startsWith('|')) return cut.join('\n').trim()
  return cut.join('\n').trim().replace(/\n+/g, (ends) => (ends.length === 1 ? ' ' : ends.slice(1)))
}

function listOf(field: Field | undefined): readonly string[] {
  if (field === undefined) return []
  const lines = contentLines(field)
  if (field.value.startsWith('[')) return flowItems([field.value, ...lines].join(' '), field)
  if (field.value !== '') return [scalar([field.value, ...lines].join(' '), field)]
  return lines.map((line) => {
    if (!/^-[ \t]/.test(line)) throw unreadable(`the field "${field.name}" is no list of texts`)
    return scalar(line.slice(1).trim(), field)
  })
}

/** Returns the lines of a field without indentation, empty lines and comments. */
function contentLines({ lines }: Field): string[] {
  return lines.map((line) => withoutComment(line).trim()).filter((line) => line !== '')
}

function flowItems(text: string, field: Field): string[] {
  if (!text.endsWith(']')) throw unreadable(`the list "${field.name}" has no end`)
  // A quoted item without its closing quote extends to the end of the list.
  const items = text.slice(1, -1).match(/(?:"(?:[^"\\]|\\[^])*(?:"|\\?$)|'[^']*(?:'|$)|[^,"'])+/g) ?? []
  return items.map((item) => item.trim()).filter((item) => item !== '').map((item) => scalar(item, field))
}

function scalar(text: string, { name }: Field): string {
  if (text.startsWith("'")) {
    if (/^'(?:[^']|'')*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'")
  } else if (text.startsWith('"')) {
    const value = jsonString(text)
    if (value !== undefined) return value
  } else if (!/^([[\]{}&*!|>%@`,]|[-?:]([ \t]|$))/.test(text)) return text
  throw unreadable(`the field "${name}" is no text that could be read`)
}

/** Returns the value of a double-quoted text; undefined when it is no JSON string. */
function jsonString(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined // Not a JSON string.
  }
}

/**
 * Returns the text without its comment. A comment begins with a `#` at the start or after a space or tab, but not in a
 * leading quoted text.
 */
function withoutComment(text: string): string {
  const quoted = /^[ \t]*(?:-[ \t]+)?("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/.exec(text)?.[0] ?? ''
  const rest = text.slice(quoted.length)
  const start = /(^|[ \t])#/.exec(rest)
  return (quoted + (start === null ? rest : rest.slice(0, start.index))).trim()
}

function unreadable(why: string): AppError {
  return new AppError('invalid_input', `Cannot read the front matter: ${why}`)
}
