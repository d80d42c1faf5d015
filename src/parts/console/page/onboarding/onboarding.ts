/**
 * The first steps: choose an agent, check the server's machine, give credentials, begin a conversation.
 *
 * `localStorage` keeps the name of the last opened step, so a person can leave the steps and continue later.
 */
import type { ServerApi } from '../api.ts'
import { element, fill } from '../dom.ts'
import { navigate, type View } from '../router.ts'
import { showAgents } from './agent-step.ts'
import { showBackend } from './backend-step.ts'
import { showCredentials } from './credentials-step.ts'
import { showFirst } from './first-step.ts'
import { doneKey, stepKey } from './step.ts'

const steps = [
  { name: 'agent', title: 'Choose agent', show: showAgents },
  { name: 'machine', title: 'Check backend', show: showBackend },
  { name: 'credentials', title: 'Credentials', show: showCredentials },
  { name: 'start', title: 'First conversation', show: showFirst },
] as const

export function openOnboarding(root: HTMLElement, api: ServerApi, asked: string): View {
  const wanted = asked === '' ? localStorage.getItem(stepKey) ?? '' : asked
  const index = Math.max(0, steps.findIndex(({ name }) => name === wanted))
  const step = steps[index] ?? steps[0]
  localStorage.setItem(stepKey, step.name)
  const ended = new AbortController()
  const body = element('div', { class: 'step' })
  const leave = (): void => {
    localStorage.setItem(doneKey, 'left')
    navigate('/')
  }
  let save = (): Promise<boolean> => Promise.resolve(true)
  /** Returns a listener that saves the input and goes to `path`. With `isFree`, it goes there also if saving fails. */
  const go = (path: string, isFree: boolean) => (event: Event): void => {
    // With one of these keys, the browser opens another tab or window.
    if (event instanceof MouseEvent && (event.ctrlKey || event.metaKey || event.shiftKey)) return
    event.preventDefault()
    void save().then((isSaved) => {
      if ((isSaved || isFree) && !ended.signal.aborted) navigate(path)
    })
  }
  const before = steps[index - 1]
  const after = steps[index + 1]
  fill(root, element('div', { class: 'page onboarding' },
    element('ol', { class: 'steps', 'aria-label': 'Steps' }, steps.map(({ name, title }, at) => {
      const current = at === index ? 'step' : undefined
      const path = `/welcome/${name}`
      const link = element('a', { href: `#${path}`, 'aria-current': current, onclick: go(path, true) }, title)
      return element('li', { class: at < index ? 'past' : '' }, link)
    })),
    element('h1', {}, step.title), body,
    element('div', { class: 'actions' },
      before !== undefined && stepLink('Back', '', before.name, true, go),
      after !== undefined && stepLink('Continue', 'primary', after.name, false, go),
      element('button', { type: 'button', class: 'quiet', onclick: leave }, 'Do this later'))))
  step.show(body, { api, signal: ended.signal, saveWith: (wanted) => (save = wanted) })
  return { close: () => ended.abort() }
}

function stepLink(
  words: string, kind: string, name: string, isFree: boolean,
  go: (path: string, isFree: boolean) => (event: Event) => void,
): HTMLElement {
  const path = `/welcome/${name}`
  return element('a', { class: `button ${kind}`, href: `#${path}`, onclick: go(path, isFree) }, words)
}
