/** The panel that searches the whole history on the server. A click on a result shows its event. */
import type { Api } from '../api.ts'
import { element, fill } from '../dom.ts'
import { listAt, numberAt, textAt } from '../values.ts'
import { loadFault } from '../widgets.ts'
import { button, soft } from './controls.ts'
import type { Panel } from './frames-panel.ts'
import { textNodes } from './text-nodes.ts'
import { timeText } from './words.ts'

export interface SearchOptions {
  readonly api: Api
  readonly id: string
  /** Shows an event in the history, and selects `words` in it. */
  readonly show: (eventId: string, words: string) => void
}

const pauseMs = 250
/** The search pauses after a response with which it has found this many results or more. */
const pageSize = 50

export function searchPanel(options: SearchOptions): Panel {
  const panel = new SearchPanel(options)
  return { root: panel.root, close: () => panel.close() }
}

class SearchPanel {
  readonly root: HTMLElement
  readonly #options: SearchOptions
  readonly #results = element('ul', { class: 'found-events' })
  readonly #status = element('div', { class: 'search-status soft', role: 'status' })
  /** The reason of a failed request. If it were inside of `#status`, screen readers would read it twice. */
  readonly #fault = element('div')
  readonly #input: HTMLInputElement
  #timer: number | undefined
  #running = new AbortController()

  constructor(options: SearchOptions) {
    this.#options = options
    const words = 'Search messages, commands, outputs'
    this.#input = element('input', { type: 'search', placeholder: words, 'aria-label': words })
    this.#input.addEventListener('input', () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => this.#begin(), pauseMs)
    })
    this.root = element('div', { class: 'panel-body' }, this.#input, this.#status, this.#fault, this.#results)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#running.abort()
  }

  #begin(): void {
    fill(this.#results)
    fill(this.#status)
    fill(this.#fault)
    this.#running.abort()
    const wanted = this.#input.value.trim()
    if (wanted !== '') void this.#search(wanted, undefined)
  }

  /** Searches back from the position `from`, or from the newest event. Pauses after `pageSize` results or more. */
  async #search(wanted: string, from: number | undefined): Promise<void> {
    this.#running.abort()
    const running = this.#running = new AbortController()
    fill(this.#fault)
    let next = from
    for (let found = 0; found < pageSize && !running.signal.aborted;) {
      const answer = await this.#part(wanted, next, running.signal)
      if (running.signal.aborted) return
      if (answer.status !== 200) {
        const [counted, older] = [this.#results.childElementCount, next]
        const what = counted === 0 ? 'The history' : `The history before these ${counted} events`
        fill(this.#status)
        return fill(this.#fault, loadFault(what, answer, () => void this.#search(wanted, older)))
      }
      const hits = listAt(answer.json, 'items')
      for (const hit of hits) this.#results.append(hitView(hit, wanted, this.#options.show))
      found += hits.length
      next = numberAt(answer.json, 'next')
      if (next === undefined) return this.#tellEnd()
      this.#tellProgress((numberAt(answer.json, 'total') ?? 0) - next, () => {
        running.abort()
        this.#tellPause(wanted, next)
      })
    }
    this.#tellPause(wanted, next)
  }

  #part(wanted: string, before: number | undefined, signal: AbortSignal): ReturnType<Api['get']> {
    const { api, id } = this.#options
    const place = before === undefined ? '' : `&before=${before}`
    const query = `text=${encodeURIComponent(wanted)}${place}`
    return api.get(`/api/console/conversations/${encodeURIComponent(id)}/search?${query}`, signal)
  }

  #tellProgress(examined: number, stop: () => void): void {
    fill(this.#status, `${examined.toLocaleString()} events searched … `, button('small', 'Stop', stop))
  }

  #tellPause(wanted: string, next: number | undefined): void {
    const goOn = (): void => void this.#search(wanted, next)
    fill(this.#status, `${this.#counted()}. `, button('small', 'Search older events', goOn))
  }

  #tellEnd(): void {
    fill(this.#status, this.#counted())
  }

  #counted(): string {
    const count = this.#results.childElementCount
    return count === 0 ? 'Nothing was found' : count === 1 ? '1 event' : `${count} events`
  }
}

function hitView(hit: unknown, wanted: string, show: SearchOptions['show']): HTMLElement {
  const excerpt = textAt(hit, 'excerpt')
  const at = excerpt.toLowerCase().indexOf(wanted.toLowerCase())
  const end = at + wanted.length
  const words = at < 0
    ? textNodes(excerpt)
    : [textNodes(excerpt.slice(0, at)), element('mark', {}, textNodes(excerpt.slice(at, end))),
      textNodes(excerpt.slice(end))]
  const head = soft(`${nameOf(hit)}, ${timeText(textAt(hit, 'timestamp'))}`)
  const line = element('span', { class: 'excerpt', dir: 'auto' }, words)
  return element('li', {}, button('found-event', [head, line], () => show(textAt(hit, 'id'), wanted)))
}

const senders: Readonly<Record<string, string>> = { user: 'You', agent: 'Agent', environment: 'Server' }

function nameOf(hit: unknown): string {
  const [kind, source, tool] = [textAt(hit, 'kind'), textAt(hit, 'source'), textAt(hit, 'tool')]
  if (kind.includes('Error')) return 'Error'
  if (kind === 'ActionEvent') return `Call of ${tool}`
  if (kind === 'ObservationEvent') return `Result of ${tool}`
  if (kind === 'UserRejectObservation') return 'Rejection'
  return kind === 'MessageEvent' ? senders[source] ?? source : kind
}
