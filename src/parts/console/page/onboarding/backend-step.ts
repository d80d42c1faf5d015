/** The step that checks the server's machine and the chosen external agent, and shows the findings with advice. */
import { chosenAgent } from '../agents.ts'
import { problemOf } from '../api.ts'
import { element, fill } from '../dom.ts'
import { listAt, textAt } from '../values.ts'
import { button } from '../widgets.ts'
import type { StepContext } from './step.ts'

export function showBackend(root: HTMLElement, { api, signal }: StepContext): void {
  const list = element('ul', { class: 'findings' })
  const agent = element('ul', { class: 'findings' })
  const show = async (): Promise<void> => {
    fill(list, element('li', { class: 'hint' }, 'Looking at this machine …'))
    fill(agent)
    const [machine, settings] = await Promise.all([api.get('/api/doctor'), api.get('/api/settings')])
    if (signal.aborted) return
    if (machine.status === 200) fill(list, worstFirst(listAt(machine.json, 'items')).map(row))
    else fill(list, element('li', { class: 'fault' }, problemOf(machine)))
    const name = chosenAgent(settings)
    if (['', 'demo', 'built-in'].includes(name)) return
    fill(agent, element('li', { class: 'hint' }, `Starting ${name} …`))
    const answer = await api.post(`/api/doctor/agents/${encodeURIComponent(name)}`)
    const unknown = { state: 'problem', subject: name, text: problemOf(answer) }
    if (!signal.aborted) fill(agent, row(answer.status === 200 ? answer.json : unknown))
  }
  fill(root, list, agent, button('Check again', show))
  void show()
}

function worstFirst(items: readonly unknown[]): unknown[] {
  const states = ['problem', 'note', 'ok']
  return [...items].sort((a, b) => states.indexOf(textAt(a, 'state')) - states.indexOf(textAt(b, 'state')))
}

const marks: Readonly<Record<string, string>> = { ok: 'Fine', note: 'Note', problem: 'Problem' }

function row(finding: unknown): HTMLElement {
  const state = textAt(finding, 'state')
  const advice = textAt(finding, 'advice')
  return element('li', { class: `finding is-${state}` },
    element('span', { class: 'verdict' }, marks[state] ?? state),
    element('div', {},
      element('strong', {}, textAt(finding, 'subject')), ' ', textAt(finding, 'text'),
      advice !== '' && element('p', { class: 'advice' }, advice)))
}
