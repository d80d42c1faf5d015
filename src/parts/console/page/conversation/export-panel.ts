/**
 * The panel that downloads a whole history as JSON Lines or as one HTML file.
 *
 * The HTML file has the events as the page draws them, without buttons and quiet notes. Its Content-Security-Policy
 * allows no script.
 */
import type { Api } from '../api.ts'
import { element, fill } from '../dom.ts'
import { listAt, textAt } from '../values.ts'
import { button } from './controls.ts'
import { itemView } from './item-view.ts'
import { readEvent, Timeline, type StoredEvent } from './timeline.ts'

export interface ExportOptions {
  readonly api: Api
  readonly id: string
  readonly title: () => string
}

/** When the collected JSON Lines have this many characters, they are put into a Blob, to save memory of the page. */
const partChars = 1_000_000

export function exportPanel({ api, id, title }: ExportOptions): HTMLElement {
  const status = element('p', { class: 'soft', role: 'status' })
  const run = (make: () => Promise<Blob>, ending: string) => async (): Promise<void> => {
    try {
      save(await make(), `conversation-${id}.${ending}`)
      status.textContent = 'The file was given to the browser'
    } catch (thrown) {
      status.textContent = thrown instanceof Error ? thrown.message : String(thrown)
    }
  }
  const tell = (count: number): void => {
    status.textContent = `${count.toLocaleString()} events …`
  }
  const lines = run(() => jsonLines(pagesOf(api, id, tell)), 'jsonl')
  const html = run(() => htmlFile(pagesOf(api, id, tell), title()), 'html')
  return element('div', { class: 'panel-body' },
    element('p', { class: 'export-choice' }, button('', 'JSON Lines', () => void lines()),
      element('span', { class: 'soft' }, 'One event a line, as the server has it.')),
    element('p', { class: 'export-choice' }, button('', 'One HTML file', () => void html()),
      element('span', { class: 'soft' }, 'To read and to send; it needs no server.')),
    status)
}

/** Reads the history from its beginning, a page at a time. @throws Error */
async function* pagesOf(api: Api, id: string, tell: (count: number) => void): AsyncGenerator<readonly unknown[]> {
  const search = `/api/conversations/${encodeURIComponent(id)}/events/search?limit=100`
  let [next, count] = ['', 0]
  do {
    const page = next === '' ? '' : `&page_id=${encodeURIComponent(next)}`
    const { status, json } = await api.get(search + page)
    if (status !== 200) throw new Error('The history cannot be read')
    const items = listAt(json, 'items')
    yield items
    count += items.length
    tell(count)
    next = textAt(json, 'next_page_id')
  } while (next !== '')
}

async function jsonLines(pages: AsyncIterable<readonly unknown[]>): Promise<Blob> {
  const parts: Blob[] = []
  let text = ''
  for await (const items of pages) {
    text += items.map((item) => `${JSON.stringify(item)}\n`).join('')
    if (text.length < partChars) continue
    parts.push(new Blob([text]))
    text = ''
  }
  return new Blob([...parts, text], { type: 'application/jsonl' })
}

async function htmlFile(pages: AsyncIterable<readonly unknown[]>, title: string): Promise<Blob> {
  const head = element('head')
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
  fill(head, element('meta', { charset: 'utf-8' }),
    element('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }),
    element('meta', { name: 'viewport', content: 'width=device-width' }), element('title', {}, title))
  const opening = ['<!DOCTYPE html><html lang="en">', head.outerHTML, '<style>', styles(), '</style>']
  const parts = [new Blob([...opening, '<body class="exported">'])]
  // Each part ends before the last message so far, because a later page can have the results of calls after it.
  let waiting: StoredEvent[] = []
  for await (const items of pages) {
    waiting.push(...items.map(readEvent).filter((event) => event !== undefined))
    const cut = waiting.findLastIndex(({ kind }) => kind === 'MessageEvent')
    if (cut <= 0) continue
    parts.push(drawn(waiting.slice(0, cut)))
    waiting = waiting.slice(cut)
  }
  return new Blob([...parts, drawn(waiting), '</body></html>'], { type: 'text/html' })
}

function drawn(events: readonly StoredEvent[]): Blob {
  const timeline = new Timeline()
  timeline.reset(events)
  const holder = element('div')
  for (const item of timeline.items) {
    if (item.type === 'note' && item.isQuiet) continue
    const row = itemView(item, () => element('span'))
    openAll(row)
    for (const button of row.querySelectorAll('button')) button.replaceWith(...button.querySelectorAll('img'))
    for (const link of row.querySelectorAll('a[href^="#"]')) link.remove()
    holder.append(row)
  }
  return new Blob([holder.innerHTML])
}

/** Unfolds each `details` element of a row, also nested ones, for a moment: their content is made when they unfold. */
function openAll(row: HTMLElement): void {
  for (const details of row.getElementsByTagName('details')) {
    const wasOpen = details.open
    details.open = true
    details.dispatchEvent(new Event('toggle'))
    details.open = wasOpen
  }
}

/** Returns the CSS rules of the page's style sheets. */
function styles(): string {
  return [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText)).join('\n')
}

function save(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob)
  element('a', { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
