/** The list of conversations at the side. */
import type { ServerApi } from '../api.ts'
import { element, fill, icon } from '../dom.ts'
import type { View } from '../router.ts'
import { listAt, textAt } from '../values.ts'

export function openList(root: HTMLElement, api: ServerApi): View {
  const items = element('ul', { class: 'conversations' })
  const show = async (): Promise<void> => {
    const { json } = await api.get('/api/conversations/search?limit=50')
    fill(items, listAt(json, 'items').map((item) => {
      const id = textAt(item, 'id')
      return element('li', {}, element('a', { href: `#/c/${id}` }, textAt(item, 'title') || id))
    }))
  }
  fill(root, element('a', { class: 'button primary', href: '#/' }, icon('M8 3v10M3 8h10'), 'New conversation'), items)
  void show()
  addEventListener('hashchange', show)
  return { close: () => removeEventListener('hashchange', show) }
}
