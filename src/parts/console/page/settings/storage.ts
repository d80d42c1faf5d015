/** The section for the data folder: its state, and a check of all stored events. */
import { problemOf } from '../api.ts'
import { element, fill } from '../dom.ts'
import { listAt, numberAt, textAt } from '../values.ts'
import { button, hasFailed, loadFault, Status } from '../widgets.ts'
import type { SectionContext } from './section.ts'

const subjects = ['data folder', 'stored secrets', 'keys', 'masking']

export async function showStorage(root: HTMLElement, { api, signal }: SectionContext): Promise<void> {
  const status = new Status()
  const facts = element('dl', { class: 'pairs' })
  const fault = element('div')
  const problems = element('ul', { class: 'entries' })
  const verify = async (): Promise<void> => {
    status.tell('Reading every event …')
    const answer = await api.post('/api/console/verify')
    if (answer.status !== 200) return status.fail(problemOf(answer))
    const found = listAt(answer.json, 'problems')
    const count = numberAt(answer.json, 'conversations') ?? 0
    if (found.length === 0) status.tell(`All ${count} conversations are whole.`)
    else status.fail(`${found.length} of ${count} conversations have problems.`)
    fill(problems, found.map((problem) => element('li', { class: 'fault' }, String(problem))))
  }
  const read = async (): Promise<void> => {
    const [machine, about, count, ready] = await Promise.all([
      api.get('/api/doctor', signal), api.get('/server_info', signal), api.get('/api/conversations/count', signal),
      api.get('/ready', signal),
    ])
    if (signal.aborted) return
    const failed = [machine, about, count].find(hasFailed)
    fill(fault, failed !== undefined && loadFault('The state of the storage', failed, read))
    const rows = listAt(machine.json, 'items').filter((item) => subjects.includes(textAt(item, 'subject')))
    fill(facts,
      about.status === 200
        && fact('Server', `${textAt(about.json, 'server_name')} ${textAt(about.json, 'server_version')}`),
      ready.status !== 0 && fact('State', ready.status === 200 ? 'Serves requests' : problemOf(ready)),
      typeof count.json === 'number' && fact('Conversations', String(count.json)),
      rows.map((item) => fact(textAt(item, 'subject'), textAt(item, 'text'))))
  }
  fill(root, fault, facts, button('Verify all conversations', verify), status.element, problems)
  await read()
}

function fact(name: string, value: string): HTMLElement {
  return element('div', {}, element('dt', {}, name), element('dd', {}, value))
}
