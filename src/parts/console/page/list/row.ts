/**
 * One conversation in the list: a link with its status, and a menu. A change of the conversation keeps the elements, so
 * an open menu stays open.
 */
import type { AgentQueue } from '../agent-queue.ts'
import type { Api } from '../api.ts'
import { element, fill, icon, setAttributes } from '../dom.ts'
import { button, field, form, since, Status } from '../widgets.ts'
import { statusWord, tagsOf, tagText, type Summary } from './summary.ts'
import type { Placed } from './tree.ts'

export interface RowContext {
  readonly api: Api
  readonly queue: AgentQueue
  readonly remove: (summary: Summary) => void
}

const kinds = { own: '', copy: 'Copy · ', 'sub-agent': 'Sub-agent · ' } as const
const deepest = 3

export class Row {
  readonly element: HTMLLIElement
  readonly #context: RowContext
  readonly #title = element('span', { class: 'row-title', dir: 'auto' })
  readonly #meta = element('span', { class: 'row-meta' })
  readonly #link: HTMLAnchorElement
  readonly #toggle: HTMLButtonElement
  readonly #menu = element('div', { class: 'row-menu', hidden: true })
  #summary: Summary
  #shown = ''

  constructor({ summary, depth }: Placed, context: RowContext) {
    this.#summary = summary
    this.#context = context
    this.#link = element('a', { href: `#/c/${summary.id}` }, this.#title, this.#meta)
    this.#toggle = element('button', {
      type: 'button', class: 'quiet', 'aria-expanded': 'false',
      onclick: () => this.#setMenu(this.#menu.hidden === true),
    }, icon('M3 8h.01M8 8h.01M13 8h.01'))
    this.element = element('li', { class: 'row', 'data-id': summary.id }, this.#link, this.#toggle, this.#menu)
    this.show({ summary, depth })
  }

  show({ summary, depth }: Placed): void {
    this.#summary = summary
    const { id, title, status, updated, tags, kind } = summary
    const isOpen = location.hash.split('?')[0] === `#/c/${id}`
    const place = this.#context.queue.placeOf(id)
    const word = place === undefined ? statusWord(status) : `In the queue, ${place}`
    const meta = `${kinds[kind]}${word} · ${since(updated)}`
    const tagged = Object.keys(tags).length === 0 ? '' : ` · ${tagText(tags)}`
    const shown = JSON.stringify([isOpen, depth, title, status, meta, tagged])
    if (shown === this.#shown) return
    this.#shown = shown
    this.element.className = `row depth-${Math.min(depth, deepest)}${isOpen ? ' open' : ''}`
    setAttributes(this.#link, { 'aria-current': isOpen ? 'page' : undefined })
    setAttributes(this.#toggle, { 'aria-label': `Actions for ${title || 'conversation'}` })
    fill(this.#title, title || 'Untitled')
    fill(this.#meta, element('span', { class: `dot ${place === undefined ? status : 'queued'}` }), meta,
      tagged !== '' && element('span', { class: 'tags', dir: 'auto' }, tagged))
  }

  /** Closes the menu. If the menu had the focus, the menu's button gets it. Returns whether the menu was open. */
  closeMenu(): boolean {
    const wasOpen = !this.#menu.hidden
    if (wasOpen) this.#setMenu(false)
    return wasOpen
  }

  focus(): void {
    this.#link.focus()
  }

  #setMenu(isOpen: boolean): void {
    const hadFocus = this.#menu.contains(document.activeElement)
    this.#menu.hidden = !isOpen
    this.#toggle.setAttribute('aria-expanded', String(isOpen))
    if (isOpen) this.#fillMenu()
    else if (hadFocus) this.#toggle.focus()
  }

  #fillMenu(): void {
    const { id, title, tags } = this.#summary
    const { api, remove } = this.#context
    const status = new Status()
    const name = element('input', { value: title, maxlength: 200, dir: 'auto', autocomplete: 'off' })
    const tagged = element('input', {
      value: tagText(tags), spellcheck: 'false', autocomplete: 'off', placeholder: 'project:website urgent',
    })
    const save = async (): Promise<void> => {
      const changes = { ...(name.value === '' ? {} : { title: name.value }), tags: tagsOf(tagged.value) }
      const answer = await api.patch(`/api/conversations/${id}`, changes)
      if (status.settle(answer, 'Saved', { title: name, tags: tagged })) this.#setMenu(false)
    }
    fill(this.#menu, form(save,
      field('Name', name), field('Tags', tagged, 'Lower-case names, each with a value behind a colon.'),
      status.element,
      element('div', { class: 'actions' }, element('button', {}, 'Save'),
        button('Delete', () => remove(this.#summary), 'danger'))))
    name.focus()
    name.select()
  }
}
