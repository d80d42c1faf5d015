/**
 * The section for keys and sessions: the signed-in browsers and the named keys. Without the scope `admin` a hint
 * replaces both lists.
 */
import type { Answer } from '../api.ts'
import { element, fill, type Child } from '../dom.ts'
import { listAt, memberAt, textAt } from '../values.ts'
import { button, hasFailed, loadFault, since, Status } from '../widgets.ts'
import type { SectionContext } from './section.ts'

export async function showSessions(root: HTMLElement, { api, signal }: SectionContext): Promise<void> {
  const status = new Status()
  const list = element('ul', { class: 'entries' })
  const keys = element('ul', { class: 'entries', 'aria-label': 'Named keys' })
  const address = element('p', { class: 'hint' })
  const load = async (): Promise<void> => {
    const [sessions, named] = await Promise.all([
      api.get('/api/console/sessions', signal), api.get('/api/keys', signal),
    ])
    if (signal.aborted) return
    fill(list, sessions.status === 403 && noRight(), rows('The sessions', sessions, item, load))
    fill(keys, rows('The named keys', named, keyItem, load))
  }
  const keyItem = (key: unknown): HTMLElement => {
    const name = textAt(key, 'name')
    const revoke = async (): Promise<void> => {
      const answer = await api.delete(`/api/keys/${encodeURIComponent(name)}`)
      if (status.settle(answer, `The key ${name} is revoked.`)) await load()
    }
    const expires = textAt(key, 'expires_at')
    const words = memberAt(key, 'is_expired') === true ? 'expired' : expires === '' ? 'no expiry' : `until ${expires}`
    return element('li', { class: 'entry' },
      element('div', {},
        element('strong', {}, name),
        element('p', { class: 'hint' }, `${listAt(key, 'scopes').join(', ')}; ${words}`)),
      button('Revoke', revoke, 'small danger'))
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
        element('p', { class: 'hint' },
          `${keyWords(session)}${textAt(session, 'host')}, last used ${since(textAt(session, 'used_at'))}`)),
      button(isCurrent ? 'Sign out' : 'End', end, 'small danger'))
  }
  const invite = async (): Promise<void> => {
    const answer = await api.post('/api/console/codes')
    if (!status.settle(answer, '')) return
    const url = `${location.origin}${location.pathname}#code=${textAt(answer.json, 'code')}`
    fill(address, 'Open once within 10 minutes, where this server is reached at the same address: ',
      element('code', { class: 'select-all' }, url))
  }
  fill(root, element('p', {}, 'Each browser that is signed in.'), list,
    button('Sign in another browser', invite), address,
    element('h2', {}, 'Named keys'),
    element('p', {}, 'Add one: ', element('code', {}, 'agent-server keys add NAME --scopes LIST'),
      '. Session keys are options of the server.'),
    keys, status.element)
  await load()
}

/** Returns a row for each item of a response; after a failure that may pass (`hasFailed`), a row with the reason. */
function rows(what: string, answer: Answer, row: (one: unknown) => HTMLElement, load: () => Promise<void>): Child {
  if (answer.status === 200) return listAt(answer.json, 'items').map(row)
  return hasFailed(answer) && element('li', {}, loadFault(what, answer, load))
}

function noRight(): HTMLElement {
  return element('p', { class: 'hint' }, 'This session may not see keys and sessions: its key lacks the scope admin.')
}

/** Returns `key NAME, ` for a session of a named key, and an empty text for any other session. */
function keyWords(session: unknown): string {
  const name = textAt(session, 'key_name')
  return name === '' ? '' : `key ${name}, `
}

/** Returns the browser and the operating system that a `User-Agent` names; `Browser` for an unknown browser. */
function browserOf(label: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\/[\d.]+/.exec(label)?.[1]?.replace('Edg', 'Edge') ?? 'Browser'
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(label)?.[1]
  return system === undefined ? browser : `${browser} on ${system}`
}
