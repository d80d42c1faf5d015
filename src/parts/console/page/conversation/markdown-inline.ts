/**
 * Parses the inline part of Markdown: a subset of CommonMark 0.31 with the strikethrough and bare links of GitHub. Pure
 * functions.
 *
 * HTML is text, except `<br>`. A link has an address with `http:`, `https:` or `mailto:`; any other address is shown as
 * text. The work is linear in the length of the text.
 */
import type { Meter } from './terminal.ts'

export type Inline =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'strong' | 'em' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly children: readonly Inline[] }
  | { readonly type: 'image'; readonly src: string; readonly alt: string }
  | { readonly type: 'break' }

type Wrapper = 'strong' | 'em' | 'strike'

/** A marker that may open emphasis, a link or an image. */
interface Opener {
  readonly marker: string
  /** The index in `#out` of the node with the marker's text. If nothing closes the marker, the node stays as text. */
  readonly at: number
}

interface Destination {
  readonly href: string
  /** The index after the closing `)`. */
  readonly end: number
}

/** The most openers at a time, which limits the nesting. Above this number the oldest opener stays text. */
const openerLimit = 32
/** The most levels of round brackets in the address of a link or an image. */
const bracketLimit = 8

const special = /[\\`*_~[\]!<&]|https?:\/\//g
const escapable = /[!-/:-@[-`{-~]/
const entities: ReadonlyMap<string, string> = new Map([
  ['amp', '&'], ['lt', '<'], ['gt', '>'], ['quot', '"'], ['apos', '\''], ['#39', '\''], ['nbsp', '\u00a0'],
])
const wrappers: Readonly<Record<string, Wrapper>> = {
  '**': 'strong', '__': 'strong', '*': 'em', '_': 'em', '~~': 'strike',
}

export function parseInline(text: string, meter: Meter = { steps: 0 }): readonly Inline[] {
  return new InlineParser(text, meter).parse()
}

/** Tells whether the page may show an address as a link. */
export function isSafeLink(href: string): boolean {
  return /^(?:https?:\/\/|mailto:)[^\s]/i.test(href)
}

class InlineParser {
  readonly #text: string
  readonly #meter: Meter
  readonly #out: Inline[] = []
  #openers: Opener[] = []
  /** The result of `tickRuns` for the text; undefined until the first backtick is found. */
  #ticks: ReadonlyMap<number, number[]> | undefined
  #at = 0

  constructor(text: string, meter: Meter) {
    this.#text = text
    this.#meter = meter
  }

  parse(): readonly Inline[] {
    const text = this.#text
    while (this.#at < text.length) {
      this.#meter.steps++
      special.lastIndex = this.#at
      const found = special.exec(text)
      const next = found?.index ?? text.length
      this.#meter.steps += next - this.#at
      this.#say(text.slice(this.#at, next))
      this.#at = next
      if (found !== null) this.#special(found[0])
    }
    return this.#out
  }

  /** Adds text to the last output node if that is a text node and not an open marker; else adds a new node. */
  #say(text: string): void {
    if (text === '') return
    const last = this.#out.at(-1)
    const isMarker = this.#openers.at(-1)?.at === this.#out.length - 1
    if (last?.type === 'text' && !isMarker) this.#out[this.#out.length - 1] = { type: 'text', text: last.text + text }
    else this.#out.push({ type: 'text', text })
  }

  #special(found: string): void {
    switch (found) {
      case '\\': return this.#escape()
      case '`': return this.#code()
      case '*':
      case '_':
      case '~': return this.#emphasis(found)
      case '[': return this.#open('[', 1)
      case '!': return this.#text[this.#at + 1] === '[' ? this.#open('![', 2) : this.#literal(1)
      case ']': return this.#closeLink()
      case '<': return this.#angle()
      case '&': return this.#entity()
      default: return this.#bareLink()
    }
  }

  #literal(length: number): void {
    this.#say(this.#text.slice(this.#at, this.#at + length))
    this.#at += length
  }

  #escape(): void {
    const next = this.#text[this.#at + 1] ?? ''
    if (next === '\n') this.#out.push({ type: 'break' })
    else this.#say(escapable.test(next) ? next : `\\${next}`)
    this.#at += 1 + next.length
  }

  #code(): void {
    const text = this.#text
    const length = runLength(text, this.#at, '`')
    this.#ticks ??= tickRuns(text, this.#meter)
    const places = this.#ticks.get(length) ?? []
    while (places.length > 0 && (places.at(-1) ?? 0) <= this.#at) places.pop()
    const end = places.at(-1)
    if (end === undefined) return this.#literal(length)
    const code = text.slice(this.#at + length, end).replaceAll('\n', ' ')
    const isPadded = code.startsWith(' ') && code.endsWith(' ') && code.trim() !== ''
    this.#out.push({ type: 'code', text: isPadded ? code.slice(1, -1) : code })
    this.#at = end + length
  }

  #emphasis(character: string): void {
    const text = this.#text
    const length = runLength(text, this.#at, character)
    const [before = ' ', after = ' '] = [text[this.#at - 1], text[this.#at + length]]
    const isInWord = character === '_' && isWord(before) && isWord(after)
    const canOpen = !/\s/.test(after) && !isInWord && !(character === '_' && isWord(before))
    const canClose = !/\s/.test(before) && !isInWord && !(character === '_' && isWord(after))
    let left = length
    while (left > 0) {
      this.#meter.steps++
      const closed = canClose ? this.#close(character, left) : 0
      if (closed > 0) {
        left -= closed
        this.#at += closed
        continue
      }
      const size = left >= 2 ? 2 : 1
      if (canOpen && (character !== '~' || size === 2)) this.#open(character.repeat(size), size)
      else this.#literal(size)
      left -= size
    }
  }

  /** Closes the innermost open marker of at most `left` times `character`. Returns its length; 0 if none is closed. */
  #close(character: string, left: number): number {
    for (let index = this.#openers.length - 1; index >= 0; index--) {
      const { marker, at } = this.#openers[index] ?? { marker: '[', at: 0 }
      if (marker.endsWith('[')) return 0
      const type = wrappers[marker]
      if (!marker.startsWith(character) || marker.length > left || type === undefined) continue
      // A marker does not close the marker directly before it.
      if (at === this.#out.length - 1) return 0
      this.#wrap(index, (children) => ({ type, children }))
      return marker.length
    }
    return 0
  }

  #open(marker: string, length: number): void {
    this.#out.push({ type: 'text', text: marker })
    this.#openers.push({ marker, at: this.#out.length - 1 })
    if (this.#openers.length > openerLimit) this.#openers.shift()
    this.#at += length
  }

  /** Replaces a marker by one node, with the nodes after the marker as children. */
  #wrap(index: number, make: (children: readonly Inline[]) => Inline): void {
    const at = this.#openers[index]?.at ?? 0
    const children = this.#out.splice(at + 1)
    this.#meter.steps += children.length
    this.#out[at] = make(children)
    this.#openers.length = index
  }

  #closeLink(): void {
    const index = this.#openers.findLastIndex(({ marker }) => marker.endsWith('['))
    const opener = this.#openers[index]
    if (opener === undefined) return this.#literal(1)
    const destination = this.#text[this.#at + 1] === '(' ? this.#destination(this.#at + 2) : undefined
    if (destination === undefined) {
      this.#openers.splice(index, 1)
      return this.#literal(1)
    }
    const { href, end } = destination
    this.#at = end
    if (opener.marker === '![') {
      return this.#wrap(index, (children) => ({ type: 'image', src: href, alt: plain(children) }))
    }
    if (!isSafeLink(href)) {
      this.#openers.splice(index, 1)
      return this.#say(`](${href})`)
    }
    this.#wrap(index, (children) => ({ type: 'link', href, children }))
    // Links do not nest, so earlier openers of links stay text.
    this.#openers = this.#openers.filter(({ marker }) => marker !== '[')
  }

  /**
   * Reads the rest of a link or an image after `](`: an address, also in `<>`, then a quoted title or none, then `)`.
   * Returns undefined for any other text.
   */
  #destination(from: number): Destination | undefined {
    const text = this.#text
    let at = from
    let depth = 0
    for (; at < text.length; at++) {
      this.#meter.steps++
      const character = text[at] ?? ''
      if (character === '\\') at++
      else if (character === '(' && ++depth > bracketLimit) return undefined
      else if (character === ')' && --depth < 0) break
      else if (/\s/.test(character)) break
    }
    const href = text.slice(from, at).replace(/^<|>$/g, '').replace(/\\(?=[!-/:-@[-`{-~])/g, '')
    const end = text[at] === ')' ? at : this.#endOfTitle(at)
    return end === undefined ? undefined : { href, end: end + 1 }
  }

  /** Returns the index of the `)` after a quoted title; undefined when no title with a `)` follows `from`. */
  #endOfTitle(from: number): number | undefined {
    const text = this.#text
    const quote = text[from + 1]
    if (quote !== '"' && quote !== '\'') return undefined
    const end = text.indexOf(quote, from + 2)
    this.#meter.steps += (end < 0 ? text.length : end) - from
    return end >= 0 && text[end + 1] === ')' ? end + 1 : undefined
  }

  /** Handles `<`: a link in angle brackets, the break `<br>`, or text. */
  #angle(): void {
    const rest = this.#text.slice(this.#at + 1, this.#at + 2050)
    const line = /^br ?\/?>/i.exec(rest)
    const link = line === null ? /^(?:https?:\/\/|mailto:)[^\s<>]{1,2040}>/i.exec(rest) : null
    this.#meter.steps += link?.[0].length ?? 1
    if (line !== null) this.#out.push({ type: 'break' })
    else if (link !== null) this.#out.push(linkTo(link[0].slice(0, -1)))
    else return this.#literal(1)
    this.#at += 1 + (line ?? link ?? [''])[0].length
  }

  #entity(): void {
    const found = /^&([a-z#0-9]{2,5});/.exec(this.#text.slice(this.#at, this.#at + 8))
    const character = entities.get(found?.[1] ?? '')
    if (found === null || character === undefined) return this.#literal(1)
    this.#say(character)
    this.#at += found[0].length
  }

  #bareLink(): void {
    const text = this.#text
    const isInside = this.#openers.some(({ marker }) => marker === '[')
    const scheme = text.startsWith('https', this.#at) ? 8 : 7
    if (isInside || isWord(text[this.#at - 1] ?? ' ')) return this.#literal(scheme)
    let end = this.#at
    while (end < text.length && !/[\s<>"`|]/.test(text[end] ?? '')) end++
    const href = withoutPunctuation(text.slice(this.#at, end))
    this.#meter.steps += end - this.#at
    if (!isSafeLink(href)) return this.#literal(scheme)
    this.#out.push(linkTo(href))
    this.#at += href.length
  }
}

function linkTo(href: string): Inline {
  return { type: 'link', href, children: [{ type: 'text', text: href }] }
}

/** Cuts the punctuation off the end of a bare address. A `)` at the end stays if the address has a `(`. */
function withoutPunctuation(href: string): string {
  let end = href.length
  const opened = href.includes('(')
  while (end > 0) {
    const last = href[end - 1] ?? ''
    if (!/[.,;:!?'"*_~\]]/.test(last) && (last !== ')' || opened)) break
    end--
  }
  return href.slice(0, end)
}

function runLength(text: string, from: number, character: string): number {
  let end = from
  while (text[end] === character) end++
  return end - from
}

/** Returns the indexes where runs of backticks start, by the length of the run. Each list has the last index first. */
function tickRuns(text: string, meter: Meter): ReadonlyMap<number, number[]> {
  const runs = new Map<number, number[]>()
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const places = runs.get(run.length) ?? []
    places.push(index)
    runs.set(run.length, places)
  }
  meter.steps += text.length
  for (const places of runs.values()) places.reverse()
  return runs
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}_]/u.test(character)
}

function plain(children: readonly Inline[]): string {
  return children.map((child) => {
    if (child.type === 'text' || child.type === 'code') return child.text
    if (child.type === 'image') return child.alt
    return child.type === 'break' ? ' ' : plain(child.children)
  }).join('')
}
