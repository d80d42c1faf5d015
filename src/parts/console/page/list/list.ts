/**
 * The list of conversations at the side. A stream of changes keeps each status current. The whole list is read again
 * each time the stream opens, so that an interruption loses no change.
 */
import type { ServerApi } from '../api.ts'
import { element, fill, icon } from '../dom.ts'
import { bindKeys, showKeys } from '../keys.ts'
import { navigate, type View } from '../router.ts'
import { listAt, memberAt, textAt } from '../values.ts'
import { button, notice } from '../widgets.ts'
import { followChanges } from './changes.ts'
import { Notifications } from './notifications.ts'
import { Row } from './row.ts'
import { summaryOf, type Summary } from './summary.ts'
import { arrange } from './tree.ts'

const pageSize = 100
/** The most rows that are shown at first. A button shows as many more. */
const shownRows = 1000
/** The time after which the ages of all rows are drawn again. */
const ageMs = 30_000

export function openList(root: HTMLElement, api: ServerApi): View {
  const list = new ConversationList(root, api)
  return { close: () => list.close() }
}

class ConversationList {
  readonly #api: ServerApi
  readonly #summaries = new Map<string, Summary>()
  readonly #hidden = new Set<string>()
  readonly #rows = new Map<string, Row>()
  readonly #list = element('ul', { class: 'conversations' })
  readonly #search = element('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search conversations' })
  readonly #new = element('a', { class: 'button primary', href: '#/' }, icon('M8 3v10M3 8h10'), 'New')
  readonly #notifications = new Notifications()
  readonly #unfollow: () => void
  readonly #unbind: () => void
  readonly #clock: number
  readonly #render = (): void => this.#show()
  #limit = shownRows
  #frame = 0
  #undo: (() => void) | undefined

  constructor(root: HTMLElement, api: ServerApi) {
    this.#api = api
    this.#search.addEventListener('input', this.#render)
    addEventListener('hashchange', this.#render)
    this.#clock = setInterval(this.#render, ageMs)
    fill(root,
      element('div', { class: 'side-head' },
        element('a', { class: 'brand', href: '#/' }, 'Agent Server'),
        this.#new),
      this.#search, this.#list, this.#notifications.offer, footer(api))
    this.#unfollow = followChanges(api, (change) => this.#take(change), () => void this.#load())
    this.#unbind = bindKeys('Conversations', [
      { key: 'n', about: 'New conversation', run: () => navigate('/') },
      { key: 's', about: 'Search the conversations', run: () => this.#search.focus() },
      { key: 'J', about: 'Next conversation', run: () => this.#step(1) },
      { key: 'K', about: 'Previous conversation', run: () => this.#step(-1) },
      { key: 'u', about: 'Undo the deletion of a conversation', run: () => this.#undo?.() },
      { key: ',', about: 'Settings', run: () => navigate('/settings') },
      { key: '?', about: 'This list of keys', run: showKeys },
    ])
  }

  close(): void {
    this.#unfollow()
    this.#unbind()
    clearInterval(this.#clock)
    cancelAnimationFrame(this.#frame)
    removeEventListener('hashchange', this.#render)
  }

  /** Reads the list, and shows it from its first page on. */
  async #load(): Promise<void> {
    let page = ''
    const found = new Set<string>()
    do {
      const { json, status } = await this.#api.get(`/api/conversations/search?limit=${pageSize}${page}`)
      if (status !== 200) return
      for (const summary of listAt(json, 'items').map(summaryOf)) {
        found.add(summary.id)
        this.#summaries.set(summary.id, summary)
      }
      const next = textAt(json, 'next_page_id')
      page = next === '' ? '' : `&page_id=${encodeURIComponent(next)}`
      this.#show()
    } while (page !== '')
    for (const id of this.#summaries.keys()) if (!found.has(id)) this.#summaries.delete(id)
    this.#show()
    if (found.size === 0 && location.hash === '' && !isSetUp()) location.hash = '#/welcome'
  }

  #take(change: unknown): void {
    const summary = summaryOf(change)
    if (memberAt(change, 'removed') === true) this.#summaries.delete(summary.id)
    else {
      this.#notifications.take(this.#summaries.get(summary.id), summary)
      this.#summaries.set(summary.id, summary)
    }
    // Changes that come within one animation frame are drawn together.
    this.#frame ||= requestAnimationFrame(this.#render)
  }

  #show(): void {
    this.#frame = 0
    const visible = new Map([...this.#summaries].filter(([id]) => !this.#hidden.has(id)))
    const placed = arrange(visible, this.#search.value)
    const shown = placed.slice(0, this.#limit)
    const rows = shown.map((one) => this.#rows.get(one.summary.id) ?? this.#makeRow(one))
    for (const [index, one] of shown.entries()) rows[index]?.show(one)
    const kept = new Set(rows)
    for (const [id, row] of this.#rows) if (!kept.has(row)) this.#rows.delete(id)
    const rest = placed.length - rows.length
    this.#put([...rows.map((row) => row.element), ...this.#notes(rows.length, rest)])
  }

  #makeRow(placed: { readonly summary: Summary, readonly depth: number }): Row {
    const made = new Row(placed, { api: this.#api, remove: (summary) => this.#remove(summary) })
    this.#rows.set(placed.summary.id, made)
    return made
  }

  #notes(count: number, rest: number): HTMLElement[] {
    if (count === 0) {
      return [element('li', { class: 'hint' }, this.#search.value === '' ? 'No conversations yet' : 'Nothing found')]
    }
    if (rest === 0) return []
    return [element('li', {}, button(`Show ${rest} more`, () => {
      this.#limit += shownRows
      this.#show()
    }))]
  }

  /** Puts the elements into the list. An element at its position is not moved, so it keeps focus and scroll. */
  #put(wanted: readonly HTMLElement[]): void {
    const focused = document.activeElement
    const keep = new Set(wanted)
    for (const old of [...this.#list.children]) if (!(old instanceof HTMLElement) || !keep.has(old)) old.remove()
    let place = this.#list.firstElementChild
    for (const one of wanted) {
      if (place === one) place = place.nextElementSibling
      else this.#list.insertBefore(one, place)
    }
    if (focused instanceof HTMLElement && focused !== document.activeElement && this.#list.contains(focused)) {
      focused.focus({ preventScroll: true })
    }
  }

  #remove(summary: Summary): void {
    const { id, title } = summary
    const row = this.#rows.get(id)?.element
    const next = row?.nextElementSibling ?? row?.previousElementSibling
    this.#hidden.add(id)
    this.#show()
    const link = next?.querySelector('a')
    if (link instanceof HTMLElement) link.focus()
    else this.#new.focus()
    if (location.hash.startsWith(`#/c/${id}`)) navigate('/')
    const restore = (): void => {
      this.#undo = undefined
      this.#hidden.delete(id)
      this.#show()
      this.#rows.get(id)?.focus()
    }
    this.#undo = notice(`Deleted “${title || 'Untitled'}”`, 'Undo', restore, () => {
      this.#undo = undefined
      void this.#api.delete(`/api/conversations/${id}`)
    })
  }

  /** Opens the conversation after or before the open conversation, or the first when none is open. */
  #step(by: number): boolean {
    const ids = [...this.#list.children].flatMap((row) => row.getAttribute('data-id') ?? [])
    const at = ids.findIndex((id) => location.hash.startsWith(`#/c/${id}`))
    const wanted = ids[at === -1 ? 0 : at + by]
    if (wanted === undefined) return false
    navigate(`/c/${wanted}`)
    this.#rows.get(wanted)?.element.scrollIntoView({ block: 'nearest' })
    return true
  }
}

function isSetUp(): boolean {
  return localStorage.getItem('agent-server-set-up') !== null
}

function footer(api: ServerApi): HTMLElement {
  return element('div', { class: 'side-foot' },
    element('a', { href: '#/welcome' }, 'Set up'),
    element('a', { href: '#/settings' }, 'Settings'),
    element('button', { type: 'button', class: 'quiet', 'aria-label': 'Keys', onclick: showKeys }, '?'),
    button('Sign out', () => api.signOut(), 'quiet'))
}
