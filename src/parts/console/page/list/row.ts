/** One conversation in the list: a link with its status, and a menu to rename, tag and delete it. */
import type { Api } from '../api.ts'
import { element, fill, icon } from '../dom.ts'
import { navigate } from '../router.ts'
import { button, field, form, notice, since, Status } from '../widgets.ts'
import { statusWord, tagsOf, tagText, type Summary } from './summary.ts'

export interface RowContext {
  readonly api: Api
  /** Hides a conversation in the list, or shows it again. */
  readonly hide: (id: string, isHidden: boolean) => void
}

export function rowOf(summary: Summary, context: RowContext): HTMLLIElement {
  const { id, title, status, updated, tags } = summary
  const isOpen = location.hash === `#/c/${id}`
  const label = statusWord(status)
  const more = element('div', { class: 'row-menu', hidden: true })
  const toggle = element('button', {
    type: 'button', class: 'quiet', 'aria-label': `Actions for ${title || 'conversation'}`, 'aria-expanded': 'false',
    onclick: () => {
      more.hidden = !more.hidden
      toggle.setAttribute('aria-expanded', String(!more.hidden))
      if (!more.hidden) showMenu(more, summary, context)
    },
  }, icon('M3 8h.01M8 8h.01M13 8h.01'))
  const link = element('a', { href: `#/c/${id}`, 'aria-current': isOpen ? 'page' : undefined },
    element('span', { class: 'row-title', dir: 'auto' }, title || 'Untitled'),
    element('span', { class: 'row-meta' },
      element('span', { class: `dot ${status}` }), label, ' · ', since(updated),
      Object.keys(tags).length > 0 && element('span', { class: 'tags', dir: 'auto' }, ` · ${tagText(tags)}`)))
  return element('li', { class: isOpen ? 'row open' : 'row', 'data-id': id }, link, toggle, more)
}

function showMenu(menu: HTMLElement, { id, title, tags }: Summary, { api, hide }: RowContext): void {
  const status = new Status()
  const name = element('input', { value: title, maxlength: 200, dir: 'auto' })
  const tagged = element('input', { value: tagText(tags), spellcheck: 'false', placeholder: 'project:website urgent' })
  const save = async (): Promise<void> => {
    const changes = { ...(name.value === '' ? {} : { title: name.value }), tags: tagsOf(tagged.value) }
    if (status.settle(await api.patch(`/api/conversations/${id}`, changes), 'Saved')) menu.hidden = true
  }
  const remove = (): void => {
    hide(id, true)
    if (location.hash === `#/c/${id}`) navigate('/')
    notice(`Deleted “${title || 'Untitled'}”`, 'Undo', () => hide(id, false), () => {
      void api.delete(`/api/conversations/${id}`)
    })
  }
  fill(menu, form(save,
    field('Name', name), field('Tags', tagged, 'Lower-case names, each with a value behind a colon.'), status.element,
    element('div', { class: 'actions' }, element('button', {}, 'Save'), button('Delete', remove, 'danger'))))
  name.focus()
}
