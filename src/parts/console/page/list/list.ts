/**
 * The list of conversations at the side. A stream of changes keeps each status current. The whole list is read again
 * each time the stream opens, so that an interruption loses no change.
 */
import type { ServerApi } from '../api.ts'
import { element, fill, icon } from '../dom.ts'
import type { View } from '../router.ts'
import { listAt, memberAt, textAt } from '../values.ts'
import { button } from '../widgets.ts'
import { followChanges } from './changes.ts'
import { rowOf } from './row.ts'
import { matches, summaryOf, type Summary } from './summary.ts'

const pageSize = 100
/** The most rows that are shown at first. A button shows as many more. */
const shownRows = 200

export function openList(root: HTMLElement, api: ServerApi): View {
  const list = new ConversationList(root, api)
  return { close: () => list.close() }
}

class ConversationList {
  readonly #api: ServerApi
  readonly #summaries = new Map<string, Summary>()
  readonly #hidden = new Set<string>()
  readonly #rows = element('ul', { class: 'conversations' })
  readonly #search = element('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search conversations' })
  readonly #unfollow: () => void
  readonly #render = (): void => this.#show()
  #limit = shownRows
  #frame = 0

  constructor(root: HTMLElement, api: ServerApi) {
    this.#api = api
    this.#search.addEventListener('input', this.#render)
    addEventListener('hashchange', this.#render)
    fill(root,
      element('div', { class: 'side-head' },
        element('a', { class: 'brand', href: '#/' }, 'Agent Server'),
        element('a', { class: 'button primary', href: '#/' }, icon('M8 3v10M3 8h10'), 'New')),
      this.#search, this.#rows, footer(api))
    this.#unfollow = followChanges(api, (change) => this.#take(change), () => void this.#load())
  }

  close(): void {
    this.#unfollow()
    removeEventListener('hashchange', this.#render)
  }

  async #load(): Promise<void> {
    let page = ''
    const found: Summary[] = []
    do {
      const { json } = await this.#api.get(`/api/conversations/search?limit=${pageSize}${page}`)
      found.push(...listAt(json, 'items').map(summaryOf))
      const next = textAt(json, 'next_page_id')
      page = next === '' ? '' : `&page_id=${encodeURIComponent(next)}`
    } while (page !== '')
    this.#summaries.clear()
    for (const summary of found) this.#summaries.set(summary.id, summary)
    this.#show()
    if (found.length === 0 && location.hash === '' && !isSetUp()) location.hash = '#/welcome'
  }

  #take(change: unknown): void {
    const summary = summaryOf(change)
    if (memberAt(change, 'removed') === true) this.#summaries.delete(summary.id)
    else if (textAt(change, 'parent_conversation_id') === '') this.#summaries.set(summary.id, summary)
    // Changes that come within one animation frame are drawn together.
    this.#frame ||= requestAnimationFrame(this.#render)
  }

  #show(): void {
    this.#frame = 0
    // The list is not drawn while a menu is open, because drawing would close the menu.
    if (this.#rows.querySelector('.row-menu:not([hidden])') !== null) return
    const focused = document.activeElement?.closest('[data-id]')?.getAttribute('data-id')
    const shown = [...this.#summaries.values()]
      .filter((one) => !this.#hidden.has(one.id) && matches(one, this.#search.value))
      .sort((a, b) => (a.updated < b.updated ? 1 : -1))
    const hide = (id: string, isHidden: boolean): void => {
      if (isHidden) this.#hidden.add(id)
      else this.#hidden.delete(id)
      this.#rows.querySelector('.row-menu:not([hidden])')?.setAttribute('hidden', '')
      this.#show()
    }
    const rows = shown.slice(0, this.#limit).map((one) => rowOf(one, { api: this.#api, hide }))
    const rest = shown.length - rows.length
    const more = rest > 0 && element('li', {}, button(`Show ${rest} more`, () => {
      this.#limit += shownRows
      this.#show()
    }))
    const empty = rows.length === 0 && element('li', { class: 'hint' }, this.#search.value === '' ?
      'No conversations yet' : 'Nothing found')
    fill(this.#rows, ...rows, more, empty)
    if (focused !== undefined && focused !== null) {
      this.#rows.querySelector<HTMLElement>(`[data-id="${CSS.escape(focused)}"] a`)?.focus({ preventScroll: true })
    }
  }
}

function isSetUp(): boolean {
  return localStorage.getItem('agent-server-set-up') !== null
}

function footer(api: ServerApi): HTMLElement {
  return element('div', { class: 'side-foot' },
    element('a', { href: '#/welcome' }, 'Set up'),
    element('a', { href: '#/settings' }, 'Settings'),
    button('Sign out', () => api.signOut(), 'quiet'))
}
