/**
 * The front matter of a markdown file: the few forms of YAML that the files of skills use.
 *
 * A file that begins with a line `---` has fields up to the next such line. Fields are told apart when the file is read
 * and understood when they are asked for, so what nobody asks for may be any YAML. Understood are texts (plain, quoted,
 * `|` and `>` blocks), lists (`- item` and `[a, b]`) and `true`. Kinder than YAML 1.2 in one thing: a plain text may
 * hold `: `, as descriptions do. Anchors, tags and whatever else would be guessed at are refused. Linear in the length;
 * pure.
 */
import { AppError } from '../../base/errors.ts'

export interface FrontMatter {
  /** What follows the front matter, or the whole text when there is none. */
  readonly body: string
  /** @throws AppError `invalid_input` when the field is no text */
  text(name: string): string | undefined
  /** A single text stands for a list of one. @throws AppError `invalid_input` when the field is no list of texts */
  list(name: string): readonly string[]
  /** Whether the field says `true`. */
  flag(name: string): boolean
}

/** @throws AppError `invalid_input` for what has no end or is no list of fields */
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
  /** On the line of the name; a comment is cut off. */
  readonly value: string
  /** The lines below that belong to it, as they are. */
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
  if (/^[|>][+-]?$/.test(field.value)) return blockText(field)
  const text = scalar([field.value, ...contentLines(field)].join(' ').trim(), field)
  return text === '' ? undefined : text
}

/** A block: what its first line is indented by is cut off every line. */
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

/** The lines of a field without what is empty or a comment, each without its indentation. */
function contentLines({ lines }: Field): string[] {
  return lines.map((line) => withoutComment(line).trim()).filter((line) => line !== '')
}

function flowItems(text: string, field: Field): string[] {
  if (!text.endsWith(']')) throw unreadable(`the list "${field.name}" has no end`)
  // A quote without an end runs to the end, so that no part is looked at twice.
  const items = text.slice(1, -1).match(/(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|'[^']*(?:'|$)|[^,"'])+/g) ?? []
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

/** The escapes of JSON are those of YAML that occur. */
function jsonString(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** A comment begins with a number sign at the beginning or after a space; one in quotes is none. */
function withoutComment(text: string): string {
  const quoted = /^[ \t]*(?:-[ \t]+)?("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/.exec(text)?.[0] ?? ''
  const rest = text.slice(quoted.length)
  const start = /(^|[ \t])#/.exec(rest)
  return (quoted + (start === null ? rest : rest.slice(0, start.index))).trim()
}

function unreadable(why: string): AppError {
  return new AppError('invalid_input', `Cannot read the front matter: ${why}`)
}
