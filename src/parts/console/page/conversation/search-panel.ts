/** The panel that searches the messages of the whole history on the server. A click on a result shows its event. */
import type { Api } from '../api.ts'
import { element, fill } from '../dom.ts'
import { listAt, memberAt, textAt } from '../values.ts'
import { button, soft } from './controls.ts'
import { contentText } from './fields.ts'
import { textNodes } from './text-nodes.ts'
import { readEvent } from './timeline.ts'
import { timeText } from './words.ts'

export interface SearchOptions {
  readonly api: Api
  readonly id: string
  readonly show: (eventId: string) => void
}

const pauseMs = 250

export function searchPanel({ api, id, show }: SearchOptions): HTMLElement {
  const results = element('ul', { class: 'found-events' })
  const words = 'Search the messages'
  const input = element('input', { type: 'search', placeholder: words, 'aria-label': words })
  const status = element('p', { class: 'soft', role: 'status' })
  let timer: number | undefined
  let count = 0
  const search = async (page: string): Promise<void> => {
    const asked = page === '' ? ++count : count
    if (page === '') fill(results)
    if (input.value.trim() === '') return fill(status)
    const body = encodeURIComponent(input.value.trim())
    const more = page === '' ? '' : `&page_id=${encodeURIComponent(page)}`
    const query = `body=${body}&limit=50&sort_order=TIMESTAMP_DESC${more}`
    const { json } = await api.get(`/api/conversations/${encodeURIComponent(id)}/events/search?${query}`)
    if (asked !== count) return
    results.querySelector('.more-results')?.remove()
    for (const value of listAt(json, 'items')) results.append(resultView(value, input.value.trim(), show))
    const next = textAt(json, 'next_page_id')
    if (next !== '') {
      results.append(element('li', { class: 'more-results' },
        button('small', 'More', () => void search(next))))
    }
    fill(status, results.childElementCount === 0 ? 'Nothing was found' : undefined)
  }
  input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void search(''), pauseMs)
  })
  return element('div', { class: 'panel-body' }, input, status, results)
}

function resultView(value: unknown, word: string, show: (eventId: string) => void): HTMLElement {
  const event = readEvent(value)
  if (event === undefined) return element('li')
  const text = contentText(memberAt(event.body, 'llm_message'), 'content')
  const at = Math.max(0, text.toLowerCase().indexOf(word.toLowerCase()) - 40)
  const part = `${at > 0 ? '… ' : ''}${text.slice(at, at + 160)}`
  const head = soft(`${event.source}, ${timeText(event.timestamp)}`)
  const words = [head, element('span', { dir: 'auto' }, textNodes(part))]
  return element('li', {}, button('found-event', words, () => show(event.id)))
}
