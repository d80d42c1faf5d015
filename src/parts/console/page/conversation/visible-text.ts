/**
 * Makes invisible characters visible, and cuts long texts. Pure functions.
 *
 * A bidirectional control can disguise a command (CVE-2021-42574), so it becomes a mark with its name. The zero-width
 * joiners ZWJ and ZWNJ stay, because words and emoji need them.
 */

/** The names of invisible characters. */
const names: ReadonlyMap<string, string> = new Map([
  ['\u00ad', 'SHY'], ['\u061c', 'ALM'], ['\u180e', 'MVS'], ['\u200b', 'ZWSP'], ['\u200e', 'LRM'], ['\u200f', 'RLM'],
  ['\u2028', 'LS'], ['\u2029', 'PS'],
  ['\u202a', 'LRE'], ['\u202b', 'RLE'], ['\u202c', 'PDF'], ['\u202d', 'LRO'], ['\u202e', 'RLO'],
  ['\u2060', 'WJ'], ['\u2066', 'LRI'], ['\u2067', 'RLI'], ['\u2068', 'FSI'], ['\u2069', 'PDI'], ['\ufeff', 'BOM'],
])

// The characters of `names`, and all control characters except tab and line feed.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g

/** A visible piece of a text, or the name of an invisible character. */
export type Visible = { readonly text: string } | { readonly mark: string }

/** Splits a text at its invisible characters. A carriage return before a line feed is dropped. */
export function visible(text: string): readonly Visible[] {
  const parts: Visible[] = []
  let from = 0
  for (const { 0: character, index } of text.matchAll(hidden)) {
    const isLineEnd = character === '\r' && text[index + 1] === '\n'
    if (index > from) parts.push({ text: text.slice(from, index) })
    if (!isLineEnd) parts.push({ mark: nameOf(character) })
    from = index + 1
  }
  if (from < text.length) parts.push({ text: text.slice(from) })
  return parts
}

function nameOf(character: string): string {
  const code = character.charCodeAt(0)
  return names.get(character) ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The beginning and the end of a text. `omitted` is the number of UTF-16 code units between them. */
export interface Excerpt {
  readonly head: string
  readonly omitted: number
  readonly tail: string
}

/** Cuts the middle out of a text of more than `limit` UTF-16 code units. No surrogate pair is split. */
export function excerptOf(text: string, limit: number): Excerpt {
  if (text.length <= limit) return { head: text, omitted: 0, tail: '' }
  const half = Math.floor(limit / 2)
  const headEnd = isHigh(text.charCodeAt(half - 1)) ? half - 1 : half
  const tailStart = text.length - half
  const start = isHigh(text.charCodeAt(tailStart - 1)) ? tailStart + 1 : tailStart
  return { head: text.slice(0, headEnd), omitted: start - headEnd, tail: text.slice(start) }
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** Splits a text into rows of at most `width` UTF-16 code units. Each line begins a new row. */
export function rowsOf(text: string, width: number): readonly string[] {
  const rows: string[] = []
  for (const line of text.split('\n')) {
    for (let at = 0; at === 0 || at < line.length; at += width) rows.push(line.slice(at, at + width))
  }
  return rows
}
