/**
 * Parses the blocks of Markdown: a subset of CommonMark 0.31 with the tables and task lists of GitHub. Pure functions.
 *
 * HTML is text, and there are no reference links. The nesting is limited, so the work is linear in the length of the
 * text.
 */
import { parseInline, type Inline } from './markdown-inline.ts'
import type { Meter } from './terminal.ts'

export type Align = 'left' | 'center' | 'right' | undefined

export type Block =
  | { readonly type: 'paragraph'; readonly children: readonly Inline[] }
  | { readonly type: 'heading'; readonly level: number; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly children: readonly Block[] }
  | { readonly type: 'list'; readonly start: number | undefined; readonly items: readonly ListItem[] }
  | Table
  | { readonly type: 'rule' }

export interface ListItem {
  /** True for a task that is done, false for an open task; undefined for an item that is no task. */
  readonly checked: boolean | undefined
  readonly children: readonly Block[]
}

export interface Table {
  readonly type: 'table'
  readonly align: readonly Align[]
  readonly head: readonly (readonly Inline[])[]
  readonly rows: readonly (readonly (readonly Inline[])[])[]
}

/** A block and the number of the line where it begins, from 0. */
export interface PlacedBlock {
  readonly block: Block
  readonly line: number
}

interface Marker {
  readonly indent: number
  /** The index in the line where the text of the item begins. */
  readonly content: number
  /** The number of an ordered item; undefined for an item with a bullet. */
  readonly start: number | undefined
  readonly sign: string
}

/** The most levels of quotes and lists. Deeper quotes and lists are text. */
const depthLimit = 10
const columnLimit = 64

export function parseMarkdown(text: string, meter: Meter = { steps: 0 }): readonly Block[] {
  return placedBlocks(text.split(/\r?\n/), meter).map(({ block }) => block)
}

export function placedBlocks(lines: readonly string[], meter: Meter = { steps: 0 }): readonly PlacedBlock[] {
  return parseAt(lines, 0, meter)
}

/** Parses lines that are nested in `depth` quotes and lists. */
function parseAt(lines: readonly string[], depth: number, meter: Meter): readonly PlacedBlock[] {
  return new BlockParser(lines, depth, meter).parse()
}

class BlockParser {
  readonly #lines: readonly string[]
  readonly #depth: number
  readonly #meter: Meter
  #at = 0

  constructor(lines: readonly string[], depth: number, meter: Meter) {
    this.#lines = lines
    this.#depth = depth
    this.#meter = meter
  }

  parse(): readonly PlacedBlock[] {
    const blocks: PlacedBlock[] = []
    while (this.#at < this.#lines.length) {
      const line = this.#at
      const text = this.#line(line)
      this.#meter.steps += 1 + text.length
      if (text.trim() === '') this.#at++
      else blocks.push({ block: this.#block(text), line })
    }
    return blocks
  }

  #line(at: number): string {
    return this.#lines[at] ?? ''
  }

  #block(text: string): Block {
    const fence = fenceOf(text)
    if (fence !== undefined) return this.#fenced(fence)
    if (indentOf(text) >= 4) return this.#indented()
    const heading = /^ {0,3}(#{1,6})(?=\s|$)/.exec(text)
    if (heading !== null) return this.#heading(text.slice(heading[0].length), heading[1]?.length ?? 1)
    if (isRule(text)) {
      this.#at++
      return { type: 'rule' }
    }
    if (this.#depth < depthLimit) {
      if (isQuote(text)) return this.#quote()
      const marker = markerOf(text)
      if (marker !== undefined) return this.#list(marker)
    }
    return this.#tableAt(this.#at) ? this.#table() : this.#paragraph()
  }

  #inline(text: string): readonly Inline[] {
    return parseInline(text, this.#meter)
  }

  #blocks(lines: readonly string[]): readonly Block[] {
    return parseAt(lines, this.#depth + 1, this.#meter).map(({ block }) => block)
  }

  /** Reads the lines up to the closing fence, or all further lines without a closing fence. */
  #fenced({ indent, mark, info }: Fence): Block {
    const lines: string[] = []
    this.#at++
    for (; this.#at < this.#lines.length; this.#at++) {
      const text = this.#line(this.#at)
      this.#meter.steps += 1 + text.length
      if (closesFence(text, mark)) {
        this.#at++
        break
      }
      lines.push(text.slice(Math.min(indent, indentOf(text))))
    }
    return { type: 'code', language: /^[\w+#.-]*/.exec(info)?.[0] ?? '', text: lines.join('\n') }
  }

  #indented(): Block {
    const lines: string[] = []
    for (; this.#at < this.#lines.length; this.#at++) {
      const text = this.#line(this.#at)
      if (indentOf(text) < 4 && text.trim() !== '') break
      lines.push(text.slice(4))
    }
    while (lines.at(-1)?.trim() === '') lines.pop()
    return { type: 'code', language: '', text: lines.join('\n') }
  }

  #heading(rest: string, level: number): Block {
    this.#at++
    let title = rest.trim()
    let end = title.length
    while (title[end - 1] === '#') end--
    if (end === 0 || title[end - 1] === ' ') title = title.slice(0, end).trim()
    return { type: 'heading', level, children: this.#inline(title) }
  }

  #quote(): Block {
    const lines: string[] = []
    for (; this.#at < this.#lines.length && isQuote(this.#line(this.#at)); this.#at++) {
      lines.push(this.#line(this.#at).replace(/^ {0,3}> ?/, ''))
    }
    return { type: 'quote', children: this.#blocks(lines) }
  }

  #list(first: Marker): Block {
    const items: ListItem[] = []
    for (let marker: Marker | undefined = first; marker !== undefined; marker = this.#nextMarker(first)) {
      items.push(this.#item(marker))
    }
    return { type: 'list', start: first.start, items }
  }

  /** Goes to the list's next item, also after blank lines, and returns its marker; undefined at the end of the list. */
  #nextMarker(first: Marker): Marker | undefined {
    let at = this.#at
    while (at < this.#lines.length && this.#line(at).trim() === '') at++
    const text = this.#line(at)
    const marker = isRule(text) ? undefined : markerOf(text)
    if (marker === undefined || marker.sign !== first.sign || marker.indent >= first.content) return undefined
    this.#at = at
    return marker
  }

  #item(marker: Marker): ListItem {
    const text = this.#line(this.#at).slice(marker.content)
    const task = /^\[([ xX])\](?:\s|$)/.exec(text)
    const lines = [task === null ? text : text.slice(task[0].length)]
    this.#at++
    let isOpen = text.trim() !== ''
    for (; this.#at < this.#lines.length; this.#at++) {
      const next = this.#line(this.#at)
      const indent = indentOf(next)
      const isBlank = next.trim() === ''
      const isNested = indent >= Math.min(marker.content, marker.indent + 2)
      if (isBlank && !this.#goesOnBehind(this.#at, marker)) break
      if (!isBlank && !isNested && !(isOpen && !startsBlock(next))) break
      lines.push(isBlank ? '' : next.slice(Math.min(indent, marker.content)))
      isOpen = !isBlank
    }
    return { checked: task === null ? undefined : task[1] !== ' ', children: this.#blocks(lines) }
  }

  /** Tells whether the line after the blank line `at` belongs to the list item of `marker`. */
  #goesOnBehind(at: number, marker: Marker): boolean {
    const next = this.#line(at + 1)
    return next.trim() !== '' && indentOf(next) >= Math.min(marker.content, marker.indent + 2)
  }

  #tableAt(at: number): boolean {
    const [head, marks] = [this.#line(at), this.#line(at + 1)]
    if (!head.includes('|') || !/^[\s|:-]+$/.test(marks) || !marks.includes('-')) return false
    const columns = cellsOf(marks)
    return columns.every((cell) => /^:?-+:?$/.test(cell)) && columns.length === cellsOf(head).length
  }

  #table(): Block {
    const [head = [], marks = []] = [this.#line(this.#at), this.#line(this.#at + 1)].map(cellsOf)
    const rows: (readonly Inline[])[][] = []
    for (this.#at += 2; this.#at < this.#lines.length; this.#at++) {
      const text = this.#line(this.#at)
      this.#meter.steps += 1 + text.length
      if (text.trim() === '' || !text.includes('|') && startsBlock(text)) break
      rows.push(cellsOf(text).slice(0, head.length).map((cell) => this.#inline(cell)))
    }
    return { type: 'table', align: marks.map(alignOf), head: head.map((cell) => this.#inline(cell)), rows }
  }

  #paragraph(): Block {
    const lines = [this.#line(this.#at).trim()]
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      const text = this.#line(this.#at)
      this.#meter.steps += 1 + text.length
      const isDeep = this.#depth >= depthLimit
      if (text.trim() === '' || !isDeep && startsBlock(text) || this.#tableAt(this.#at)) break
      lines.push(text.trim())
    }
    return { type: 'paragraph', children: this.#inline(lines.join('\n')) }
  }
}

interface Fence {
  readonly indent: number
  readonly mark: string
  readonly info: string
}

function fenceOf(text: string): Fence | undefined {
  const found = /^( {0,3})(`{3,}|~{3,})/.exec(text)
  if (found === null) return undefined
  const [all, indent = '', mark = ''] = found
  const info = text.slice(all.length).trim()
  return mark.startsWith('`') && info.includes('`') ? undefined : { indent: indent.length, mark, info }
}

function closesFence(text: string, mark: string): boolean {
  const trimmed = text.trim()
  if (indentOf(text) > 3 || trimmed.length < mark.length) return false
  const [sign = ''] = mark
  return trimmed === sign.repeat(trimmed.length)
}

function indentOf(text: string): number {
  let at = 0
  while (text[at] === ' ') at++
  return text[at] === '\t' ? at + 4 : at
}

function isRule(text: string): boolean {
  return /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(text)
}

function isQuote(text: string): boolean {
  return /^ {0,3}>/.test(text)
}

function markerOf(text: string): Marker | undefined {
  const found = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}(?! )| |$)/.exec(text)
  if (found === null) return undefined
  const [all, indent = '', word = ''] = found
  const number = Number.parseInt(word, 10)
  const start = Number.isNaN(number) ? undefined : number
  const content = all.endsWith(' ') ? all.length : all.length + 1
  return { indent: indent.length, content, start, sign: word.slice(-1) }
}

/** Tells whether a line ends the paragraph before it, because it begins another block. */
function startsBlock(text: string): boolean {
  if (isQuote(text) || isRule(text) || fenceOf(text) !== undefined || /^ {0,3}#{1,6}(?:\s|$)/.test(text)) return true
  const marker = markerOf(text)
  return marker !== undefined && text.slice(marker.content).trim() !== ''
}

/** Splits a line of a table at its bars into at most `columnLimit` cells. A bar after a backslash is text. */
function cellsOf(line: string): readonly string[] {
  const cells: string[] = []
  const text = line.trim()
  let cell = ''
  for (let at = text.startsWith('|') ? 1 : 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (character === '\\' && text[at + 1] === '|') {
      cell += '|'
      at++
    } else if (character === '|') {
      cells.push(cell.trim())
      cell = ''
      if (cells.length === columnLimit) return cells
    } else cell += character
  }
  return cell.trim() === '' && cells.length > 0 ? cells : [...cells, cell.trim()]
}

function alignOf(mark: string): Align {
  if (mark.endsWith(':')) return mark.startsWith(':') ? 'center' : 'right'
  return mark.startsWith(':') ? 'left' : undefined
}
