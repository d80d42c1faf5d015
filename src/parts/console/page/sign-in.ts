/** The form that asks for the session key. */
import type { ServerApi } from './api.ts'
import { element, fill } from './dom.ts'

/** Shows the form with `problem`, if there is one. Calls `done` after the sign-in. */
export function showSignIn(root: HTMLElement, api: ServerApi, problem: string | undefined, done: () => void): void {
  const status = element('p', { class: 'fault', role: 'alert' }, problem)
  const key = element('input', {
    id: 'key', type: 'password', autocomplete: 'current-password', required: true, spellcheck: 'false',
  })
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    fill(status)
    const failure = await api.signInWithKey(key.value)
    key.value = ''
    if (failure === undefined) return done()
    fill(status, failure === 'Unauthorized' ? 'This is not a session key of the server.' : failure)
    key.focus()
  }
  fill(root, element('main', { class: 'sign-in' },
    element('form', { onsubmit: (event) => void submit(event) },
      element('h1', {}, 'Agent Server'),
      element('p', {}, 'Sign in with the session key of this server.'),
      element('label', { for: 'key' }, 'Session key'),
      key,
      status,
      element('button', { class: 'primary' }, 'Sign in'),
      element('p', { class: 'hint' },
        'Without the key at hand, run ', element('code', {}, 'agent-server console'),
        ' on the machine of the server: it prints an address that signs in.'),
    )))
  key.focus()
}
