/**
 * The list of conversations at the side. A stream of changes keeps each row current. The whole list is read again each
 * time the stream opens.
 */
import type { AgentQueue } from '../agent-queue.ts'
import { problemOf, type ServerApi } from '../api.ts'
import { element, fill, icon } from '../dom.ts'
import { bindKeys, showKeys } from '../keys.ts'
import type { Outage } from '../outage.ts'
import { navigate, type View } from '../router.ts'
import { listAt, memberAt, textAt } from '../values.ts'
import { button, loadFault, notice } from '../widgets.ts'
import { followChanges } from './changes.ts'
import { Notifications } from './notifications.ts'
import { Row } from './row.ts'
import { ageOf, summaryOf, type Summary } from './summary.ts'
import { arrange, type Placed } from './tree.ts'

const pageSize = 100
/** The most rows that are shown at first. A button shows up to the same number of further rows. */
const shownRows = 1000
/** The interval at which the ages of all rows are drawn again. */
const ageMs = 30_000

export interface ListContext {
  readonly api: ServerApi
  readonly queue: AgentQueue
  readonly outage: Outage
}

export function openList(root: HTMLElement, context: ListContext): View {
  const list = new ConversationList(root, context)
  return { close: () => list.close() }
}

class ConversationList {
  readonly #api: ServerApi
  readonly #queue: AgentQueue
  readonly #summaries = new Map<string, Summary>()
  readonly #hidden = new Set<string>()
  readonly #rows = new Map<string, Row>()
  readonly #headings = new Map<string, HTMLElement>()
  readonly #list = element('ul', { class: 'conversations' })
  readonly #search = element('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search conversations' })
  readonly #new = element('a', { class: 'button primary', href: '#/' }, icon('M8 3v10M3 8h10'), 'New')
  readonly #notifications = new Notifications()
  readonly #unfollow: readonly (() => void)[]
  readonly #unbind: () => void
  readonly #clock: number
  readonly #render = (): void => this.#show()
  /** The row that shows why the last read of the list failed. */
  #fault: HTMLElement | undefined
  /** True once the whole list was read. */
  #isRead = false
  /** The conversations that changed since the last call of `#load`: their pages may be older than the change. */
  #changed = new Set<string>()
  readonly #moved = (): void => {
    this.#closeMenus()
    this.#show()
  }
  readonly #escape = (event: KeyboardEvent): void => {
    const isDialog = document.querySelector('dialog[open], [popover]:popover-open') !== null
    if (event.key === 'Escape' && !event.isComposing && !isDialog && this.#closeMenus()) event.preventDefault()
  }
  #limit = shownRows
  #frame = 0
  /** For each deletion whose notice is shown, the function that undoes it. The newest deletion is last. */
  readonly #undos: (() => void)[] = []

  constructor(root: HTMLElement, { api, queue, outage }: ListContext) {
    this.#api = api
    this.#queue = queue
    this.#search.addEventListener('input', this.#render)
    addEventListener('hashchange', this.#moved)
    // This listener runs before the listener for the views' keys, so that Esc closes an open menu and stops no agent.
    addEventListener('keydown', this.#escape, { capture: true })
    this.#clock = setInterval(this.#render, ageMs)
    fill(root,
      element('div', { class: 'side-head' },
        element('a', { class: 'brand', href: '#/' }, 'Agent Server'),
        this.#new),
      this.#search, this.#list, this.#notifications.offer, footer(api))
    this.#unfollow = [queue.follow(() => this.#plan()), followChanges(api, {
      changed: (change) => this.#take(change), queued: (told) => queue.take(told),
      answered: () => outage.serverAnswers(), opened: () => void this.#load(),
      ended: () => outage.serverUnknown(), failed: (wait, awayMs) => outage.serverAway(wait, awayMs),
    })]
    this.#unbind = bindKeys('Conversations', [
      { key: 'n', about: 'New conversation', run: () => navigate('/') },
      { key: 's', about: 'Search the conversations', run: () => this.#search.focus() },
      { key: 'J', about: 'Next conversation', run: () => this.#step(1) },
      { key: 'K', about: 'Previous conversation', run: () => this.#step(-1) },
      { key: 'u', about: 'Undo the deletion of a conversation', run: () => this.#undos.at(-1)?.() },
      { key: ',', about: 'Settings', run: () => navigate('/settings') },
      { key: '?', about: 'This list of keys', run: showKeys },
    ])
  }

  close(): void {
    for (const unfollow of this.#unfollow) unfollow()
    this.#unbind()
    clearInterval(this.#clock)
    cancelAnimationFrame(this.#frame)
    removeEventListener('hashchange', this.#moved)
    removeEventListener('keydown', this.#escape, { capture: true })
  }

  /** Reads the whole list, and shows each page as it arrives. */
  async #load(): Promise<void> {
    let page = ''
    const found = new Set<string>()
    const changed = this.#changed = new Set<string>()
    do {
      const answer = await this.#api.get(`/api/conversations/search?limit=${pageSize}${page}`)
      if (answer.status !== 200) {
        this.#fault = element('li', {}, loadFault('The list', answer, () => this.#load()))
        return this.#show()
      }
      const { json } = answer
      for (const summary of listAt(json, 'items').map(summaryOf)) {
        found.add(summary.id)
        if (!changed.has(summary.id)) this.#summaries.set(summary.id, summary)
      }
      const next = textAt(json, 'next_page_id')
      page = next === '' ? '' : `&page_id=${encodeURIComponent(next)}`
      this.#show()
    } while (page !== '')
    for (const id of this.#summaries.keys()) if (!found.has(id) && !changed.has(id)) this.#summaries.delete(id)
    this.#fault = undefined
    this.#isRead = true
    this.#show()
    if (found.size === 0 && location.hash === '' && !isSetUp()) location.hash = '#/welcome'
  }

  #take(change: unknown): void {
    const summary = summaryOf(change)
    this.#changed.add(summary.id)
    if (memberAt(change, 'removed') === true) this.#summaries.delete(summary.id)
    else {
      this.#notifications.take(this.#summaries.get(summary.id), summary)
      this.#summaries.set(summary.id, summary)
    }
    this.#plan()
  }

  /** Closes the menus of all rows. Returns whether a menu was open. */
  #closeMenus(): boolean {
    return [...this.#rows.values()].filter((row) => row.closeMenu()).length > 0
  }

  /** Draws the list in the next animation frame, once for all changes until then. */
  #plan(): void {
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
    this.#put([...this.#withAges(shown, rows), ...this.#notes(rows.length, rest)])
  }

  /**
   * Returns the elements of the rows, below headings such as `Yesterday`. The rows of today at the top have no heading.
   */
  #withAges(shown: readonly Placed[], rows: readonly Row[]): HTMLElement[] {
    const now = new Date()
    let last = 'Today'
    return shown.flatMap(({ summary, depth }, index) => {
      const row = rows[index]?.element ?? []
      // A row below its origin (`Summary.origin`) stays under the origin's heading, whatever its own age.
      const age = depth === 0 ? ageOf(summary.updated, now) : last
      if (age === last) return row
      last = age
      const heading = this.#headings.get(age) ?? element('li', { class: 'age' }, age)
      this.#headings.set(age, heading)
      return [heading, row].flat()
    })
  }

  #makeRow(placed: { readonly summary: Summary, readonly depth: number }): Row {
    const made = new Row(placed, {
      api: this.#api, queue: this.#queue, remove: (summary) => this.#remove(summary),
    })
    this.#rows.set(placed.summary.id, made)
    return made
  }

  #notes(count: number, rest: number): HTMLElement[] {
    const fault = this.#fault === undefined ? [] : [this.#fault]
    if (count === 0 && !this.#isRead) {
      return fault.length > 0 ? fault : [element('li', { class: 'hint' }, 'Reading the list …')]
    }
    if (count === 0) {
      const steps = element('a', { href: '#/welcome' }, 'first steps')
      const none = ['No conversations yet. Begin one, or go through the ', steps, '.']
      return [element('li', { class: 'hint' }, this.#search.value === '' ? none : 'Nothing found'), ...fault]
    }
    if (rest === 0) return fault
    return [...fault, element('li', {}, button(`Show ${Math.min(rest, shownRows)} more`, () => {
      this.#limit += shownRows
      this.#show()
    }))]
  }

  /** Makes `wanted` the elements of the list, in order. A focused element that stays keeps the focus. */
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
    const ids = this.#shownIds()
    const at = ids.indexOf(id)
    this.#hidden.add(id)
    this.#show()
    const next = this.#rows.get(ids[at + 1] ?? ids[at - 1] ?? '')
    if (next === undefined) this.#new.focus()
    else next.focus()
    if (location.hash.startsWith(`#/c/${id}`)) navigate('/')
    const end = (): void => void this.#undos.splice(this.#undos.indexOf(undo), 1)
    const restore = (): void => {
      end()
      this.#hidden.delete(id)
      this.#show()
      this.#rows.get(id)?.focus()
    }
    const undo = notice(`Deleted “${title || 'Untitled'}”`, 'Undo', restore, () => {
      end()
      void this.#delete(summary)
    })
    this.#undos.push(undo)
  }

  /** Deletes a hidden conversation on the server. If that fails, shows the conversation again. */
  async #delete({ id, title }: Summary): Promise<void> {
    const answer = await this.#api.delete(`/api/conversations/${id}`)
    if (answer.status === 200 || answer.status === 404) return
    this.#hidden.delete(id)
    this.#show()
    const problem = `“${title || 'Untitled'}” was not deleted: ${problemOf(answer)}`
    notice(problem, 'Show', () => navigate(`/c/${id}`), () => undefined)
  }

  /** Returns the ids of the shown conversations from top to bottom. Headings and notes in the list have no id. */
  #shownIds(): readonly string[] {
    return [...this.#list.children].flatMap((row) => row.getAttribute('data-id') ?? [])
  }

  /** Opens the next (1) or previous (-1) conversation; the first when none is open. Returns false if there is none. */
  #step(by: number): boolean {
    const ids = this.#shownIds()
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
