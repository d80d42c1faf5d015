/**
 * Draws Markdown: blocks and inline parts as elements, text as text nodes. Links open in another tab and send no
 * referrer. Only images that are data URLs are loaded.
 */
import { element, fill, type Child } from '../dom.ts'
import { isSafeLink, type Inline } from './markdown-inline.ts'
import { parseMarkdown, type Block, type ListItem, type Table } from './markdown.ts'
import { MarkdownStream } from './markdown-stream.ts'
import { textNodes } from './text-nodes.ts'
import { copyButton } from './text-view.ts'
import { imageView } from './image-view.ts'

const headings = ['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const

export function markdownView(text: string): HTMLElement {
  return element('div', { class: 'markdown', dir: 'auto' }, parseMarkdown(text).map(blockView))
}

/** Draws Markdown that grows. Only the blocks that later text can change are drawn again. */
export class GrowingMarkdown {
  readonly root = element('div', { class: 'markdown growing', dir: 'auto' })
  readonly #stream = new MarkdownStream()
  readonly #open = element('div', { class: 'open-blocks' })
  #length = 0

  constructor() {
    this.root.append(this.#open)
  }

  /** Shows the whole text so far. The text must begin with the text of the last call. */
  show(text: string): void {
    if (text.length === this.#length) return
    const { settled, open } = this.#stream.push(text.slice(this.#length))
    this.#length = text.length
    for (const block of settled) this.#open.before(blockView(block))
    fill(this.#open, open.map(blockView))
  }
}

function blockView(block: Block): HTMLElement {
  switch (block.type) {
    case 'paragraph': return element('p', { dir: 'auto' }, block.children.map(inlineView))
    case 'heading': return element(headings[block.level - 1] ?? 'h6', { dir: 'auto' }, block.children.map(inlineView))
    case 'code': return codeView(block.text, block.language)
    case 'quote': return element('blockquote', {}, block.children.map(blockView))
    case 'list': {
      const name = block.start === undefined ? 'ul' : 'ol'
      return element(name, { start: block.start }, block.items.map(itemView))
    }
    case 'table': return tableView(block)
    case 'rule': return element('hr')
  }
}

export function codeView(text: string, language = ''): HTMLElement {
  return element('div', { class: 'code' },
    element('div', { class: 'code-head' }, element('span', {}, language), copyButton(() => text)),
    element('pre', { dir: 'ltr', tabindex: '0' }, element('code', {}, textNodes(text))))
}

function itemView({ checked, children }: ListItem): HTMLElement {
  if (checked === undefined) return element('li', { dir: 'auto' }, tight(children))
  const [sign, word] = checked ? ['☑', 'Done'] : ['☐', 'To do']
  const box = element('span', { class: 'box', role: 'img', 'aria-label': word }, sign)
  return element('li', { class: 'task', dir: 'auto' }, box, element('div', {}, tight(children)))
}

/** Draws the blocks of a list item. A paragraph at the beginning has no space around it. */
function tight(children: readonly Block[]): readonly Child[] {
  return children.map((child, index) => {
    return index === 0 && child.type === 'paragraph' ? child.children.map(inlineView) : blockView(child)
  })
}

function tableView({ align, head, rows }: Table): HTMLElement {
  const cell = (name: 'th' | 'td', children: readonly Inline[], index: number): HTMLElement => {
    return element(name, { class: align[index] && `align-${align[index]}`, dir: 'auto' }, children.map(inlineView))
  }
  return element('div', { class: 'table', tabindex: '0' }, element('table', {},
    element('thead', {}, element('tr', {}, head.map((children, index) => cell('th', children, index)))),
    element('tbody', {}, rows.map((row) => {
      return element('tr', {}, row.map((children, index) => cell('td', children, index)))
    }))))
}

function inlineView(inline: Inline): Child {
  switch (inline.type) {
    case 'text': return textNodes(inline.text)
    case 'code': return element('code', { dir: 'ltr' }, textNodes(inline.text))
    case 'strong': return element('strong', {}, inline.children.map(inlineView))
    case 'em': return element('em', {}, inline.children.map(inlineView))
    case 'strike': return element('s', {}, inline.children.map(inlineView))
    case 'link': return linkView(inline.href, inline.children)
    case 'image': return imageView(inline.src, inline.alt)
    case 'break': return element('br')
  }
}

/** Draws a link. Its host or mail address follows, unless the text is the address. An unsafe link is drawn as text. */
export function linkView(href: string, children: readonly Inline[]): Child {
  const [first] = children
  const isAddress = children.length === 1 && first?.type === 'text' && first.text === href
  const link = element('a', { href, title: href, rel: 'noreferrer noopener', target: '_blank' },
    children.length === 0 ? href : children.map(inlineView))
  if (!isSafeLink(href)) return element('span', {}, children.map(inlineView))
  return isAddress ? link : [link, element('span', { class: 'leads-to' }, ` (${placeOf(href)})`)]
}

function placeOf(href: string): string {
  try {
    const { protocol, host, pathname } = new URL(href)
    return protocol === 'mailto:' ? pathname : host
  } catch {
    return href // No address: it is shown as written.
  }
}
