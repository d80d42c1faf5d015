/** The section for sessions of the console: the signed-in browsers, each with a button that ends its session. */
import { element, fill } from '../dom.ts'
import { listAt, memberAt, textAt } from '../values.ts'
import { button, since, Status } from '../widgets.ts'
import type { SectionContext } from './section.ts'

export async function showSessions(root: HTMLElement, { api, signal }: SectionContext): Promise<void> {
  const status = new Status()
  const list = element('ul', { class: 'entries' })
  const address = element('p', { class: 'hint' })
  const load = async (): Promise<void> => {
    const { json } = await api.get('/api/console/sessions', signal)
    if (!signal.aborted) fill(list, listAt(json, 'items').map(item))
  }
  const item = (session: unknown): HTMLElement => {
    const isCurrent = memberAt(session, 'is_current') === true
    const end = async (): Promise<void> => {
      if (isCurrent) return api.signOut()
      const answer = await api.delete(`/api/console/sessions/${textAt(session, 'id')}`)
      if (status.settle(answer, 'The session has ended.')) await load()
    }
    return element('li', { class: 'entry' },
      element('div', {},
        element('strong', {}, browserOf(textAt(session, 'label'))), isCurrent && ' (this page)',
        element('p', { class: 'hint' }, `${textAt(session, 'host')}, last used ${since(textAt(session, 'used_at'))}`)),
      button(isCurrent ? 'Sign out' : 'End', end, 'small danger'))
  }
  const invite = async (): Promise<void> => {
    const answer = await api.post('/api/console/codes')
    if (!status.settle(answer, '')) return
    const url = `${location.origin}${location.pathname}#code=${textAt(answer.json, 'code')}`
    fill(address, 'Open once within 10 minutes, where this server is reached at the same address: ',
      element('code', { class: 'select-all' }, url))
  }
  fill(root, element('p', {}, 'Each browser that is signed in. Session keys are options of the server.'), list,
    button('Sign in another browser', invite), address, status.element)
  await load()
}

/** Returns the browser and the operating system that a `User-Agent` names; `Browser` for an unknown browser. */
function browserOf(label: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\/[\d.]+/.exec(label)?.[1]?.replace('Edg', 'Edge') ?? 'Browser'
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(label)?.[1]
  return system === undefined ? browser : `${browser} on ${system}`
}
