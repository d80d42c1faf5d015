/** The form that begins a conversation. */
import { problemOf, type ServerApi } from '../api.ts'
import { element, fill } from '../dom.ts'
import { navigate, type View } from '../router.ts'
import { textAt } from '../values.ts'

export function openNew(root: HTMLElement, api: ServerApi): View {
  const status = element('p', { class: 'problem', role: 'alert' })
  const begin = async (event: Event): Promise<void> => {
    event.preventDefault()
    const answer = await api.post('/api/conversations', {})
    if (answer.status < 300) navigate(`/c/${textAt(answer.json, 'id')}`)
    else fill(status, problemOf(answer))
  }
  fill(root, element('form', { onsubmit: (event) => void begin(event) },
    element('h1', {}, 'New conversation'), status, element('button', { class: 'primary' }, 'Begin')))
  return { close: () => undefined }
}
