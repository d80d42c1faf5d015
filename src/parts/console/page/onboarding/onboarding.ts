/**
 * The first steps: choose an agent, check this machine, give credentials, begin a conversation.
 *
 * Each step saves by itself and has an address, so a person can leave the steps and continue later.
 */
import type { ServerApi } from '../api.ts'
import { element, fill } from '../dom.ts'
import { navigate, type View } from '../router.ts'
import { showAgents } from './agent-step.ts'
import { showBackend } from './backend-step.ts'
import { showCredentials } from './credentials-step.ts'
import { showFirst } from './first-step.ts'
import { doneKey } from './step.ts'

const steps = [
  { name: 'agent', title: 'Choose agent', show: showAgents },
  { name: 'machine', title: 'Check backend', show: showBackend },
  { name: 'credentials', title: 'Credentials', show: showCredentials },
  { name: 'start', title: 'First conversation', show: showFirst },
] as const

const stepKey = 'agent-server-step'

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
  const before = steps[index - 1]
  const after = steps[index + 1]
  fill(root, element('div', { class: 'page onboarding' },
    element('ol', { class: 'steps', 'aria-label': 'Steps' }, steps.map(({ name, title }, at) => {
      const current = at === index ? 'step' : undefined
      const link = element('a', { href: `#/welcome/${name}`, 'aria-current': current }, title)
      return element('li', { class: at < index ? 'past' : '' }, link)
    })),
    element('h1', {}, step.title), body,
    element('div', { class: 'actions' },
      before !== undefined && element('a', { class: 'button', href: `#/welcome/${before.name}` }, 'Back'),
      after !== undefined && element('a', { class: 'button primary', href: `#/welcome/${after.name}` }, 'Continue'),
      element('button', { type: 'button', class: 'quiet', onclick: leave }, 'Do this later'))))
  step.show(body, { api, signal: ended.signal })
  return { close: () => ended.abort() }
}
