/** The form that begins a conversation: the task, and optionally agent, folder and confirmation policy. */
import { chosenAgent, loadAgents, type AgentChoice } from '../agents.ts'
import type { ServerApi } from '../api.ts'
import { begin, draftKey, forgetDraft, tellBegun } from '../begin.ts'
import { element, fill } from '../dom.ts'
import { navigate, type View } from '../router.ts'
import { listAt, objectAt, textAt } from '../values.ts'
import { field, form, hasFailed, loadFault, Status } from '../widgets.ts'

const policies = [
  ['', 'As in the settings'], ['NeverConfirm', 'Nothing'], ['AlwaysConfirm', 'Every action'],
  ['ConfirmRisky', 'Risky actions'],
] as const

export function openNew(root: HTMLElement, api: ServerApi): View {
  const status = new Status()
  const text = element('textarea', {
    rows: 4, 'aria-label': 'Task', placeholder: 'What is to be done?', dir: 'auto', class: 'task-box',
  })
  const agent = element('select', {}, element('option', { value: '' }, 'As in the settings'))
  const folder = element('input', { placeholder: 'A new folder', spellcheck: 'false', list: 'folders' })
  const folders = element('datalist', { id: 'folders' })
  const policy = element('select', {}, policies.map(([value, label]) => element('option', { value }, label)))
  let choices: readonly AgentChoice[] = []
  let isClosed = false
  const fault = element('div')
  const load = async (): Promise<void> => {
    choices = await fillChoices(api, { agent, folders, fault, again: load })
  }
  void load()
  text.value = localStorage.getItem(draftKey) ?? ''
  text.addEventListener('input', () => localStorage.setItem(draftKey, text.value))
  const send = async (): Promise<void> => {
    const chosen = choices.find(({ name }) => name === agent.value)
    const sent = text.value
    const begun = await begin(api, { text: sent, request: requestOf(chosen, folder.value, policy.value) })
    if ('id' in begun) forgetDraft(sent)
    if (isClosed) return tellBegun(begun)
    if ('id' in begun) navigate(`/c/${begun.id}`)
    else status.fail(begun.problem)
  }
  const made = form(send,
    element('h1', {}, 'New conversation'),
    text,
    element('div', { class: 'columns' },
      field('Agent', agent), field('Folder', folder), field('Ask me before', policy), folders),
    fault, status.element,
    element('div', { class: 'actions' }, element('button', { class: 'primary' }, 'Start'),
      element('span', { class: 'hint for-keys' }, 'Ctrl+Enter starts')))
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) made.requestSubmit()
  })
  fill(root, element('div', { class: 'page' }, made))
  text.focus()
  return { close: () => void (isClosed = true) }
}

interface ChoiceFields {
  readonly agent: HTMLSelectElement
  readonly folders: HTMLElement
  /** The element in which `fillChoices` shows why a read failed. */
  readonly fault: HTMLElement
  readonly again: () => Promise<void>
}

async function fillChoices(
  api: ServerApi, { agent, folders, fault, again }: ChoiceFields,
): Promise<readonly AgentChoice[]> {
  const [{ choices, failed }, settings, places] = await Promise.all([
    loadAgents(api), api.get('/api/settings'), api.get('/api/workspaces'),
  ])
  const wrong = failed ?? [settings, places].find(hasFailed)
  fill(fault, wrong !== undefined && loadFault('The agents and folders', wrong, again))
  const chosen = chosenAgent(settings)
  const usual = choices.find(({ name }) => name === chosen)
  const others = choices.filter((choice) => choice.state === 'ready' && choice !== usual)
  const { value } = agent
  fill(agent,
    element('option', { value: '' }, usual === undefined ? 'As in the settings' : `${usual.title} (default)`),
    others.map(({ name, title }) => element('option', { value: name }, title)))
  if (others.some(({ name }) => name === value)) agent.value = value
  fill(folders, listAt(places.json, 'workspaces').map((place) => element('option', { value: textAt(place, 'path') })))
  return choices
}

function requestOf(agent: AgentChoice | undefined, folder: string, policy: string): Readonly<Record<string, unknown>> {
  return {
    ...(agent === undefined ? {} : { agent_settings: objectAt(agent, 'settings') }),
    ...(folder.trim() === '' ? {} : { workspace: { kind: 'LocalWorkspace', working_dir: folder.trim() } }),
    ...(policy === '' ? {} : { confirmation_policy: { kind: policy } }),
  }
}
