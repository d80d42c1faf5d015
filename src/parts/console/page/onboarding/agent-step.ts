/**
 * The step that chooses an agent. The choice is saved at once. Some agents whose program is missing can be installed.
 */
import { chooseAgent, chosenAgent, loadAgents, type AgentChoice } from '../agents.ts'
import { problemOf } from '../api.ts'
import { begin, tellBegun } from '../begin.ts'
import { element, fill } from '../dom.ts'
import { navigate } from '../router.ts'
import { listAt, numberAt, textAt } from '../values.ts'
import { button, hasFailed, loadFault, Status } from '../widgets.ts'
import type { StepContext } from './step.ts'

const pollMs = 700

export function showAgents(root: HTMLElement, context: StepContext): void {
  const cards = element('div', { class: 'cards', role: 'radiogroup', 'aria-label': 'Agent' })
  const fault = element('div')
  const status = new Status()
  const show = async (): Promise<void> => {
    const { api } = context
    const [{ choices, failed }, settings, installations] = await Promise.all([
      loadAgents(api), api.get('/api/settings'), api.get('/api/agents/installations'),
    ])
    if (context.signal.aborted) return
    const wrong = failed ?? (hasFailed(settings) ? settings : undefined)
    fill(fault, wrong !== undefined && loadFault('The agents', wrong, show))
    // After a failed read, the cards of an earlier read stay.
    if (wrong !== undefined) return
    const chosen = chosenAgent(settings)
    const running = listAt(installations.json, 'items').filter((item) => textAt(item, 'state') === 'running')
    const focused = document.activeElement?.id ?? ''
    fill(cards, choices.map((choice) => {
      const isRunning = running.some((item) => textAt(item, 'name') === choice.name)
      return card(choice, { ...context, status, isChosen: choice.name === chosen, isRunning, show })
    }))
    if (focused.startsWith('agent-')) document.getElementById(focused)?.focus()
  }
  fill(root,
    element('p', {}, 'New conversations use this agent, unless you choose another one for a conversation.'),
    cards, fault, status.element)
  void show()
}

interface CardContext extends StepContext {
  readonly status: Status
  readonly isChosen: boolean
  /** True when an installation of the card's agent was running at the last read. */
  readonly isRunning: boolean
  readonly show: () => Promise<void>
}

function card(choice: AgentChoice, context: CardContext): HTMLElement {
  const { api, status, isChosen, isRunning, show } = context
  const { name, title, about, state, login, keys, canInstall, advice } = choice
  const choose = async (): Promise<void> => {
    if (status.settle(await chooseAgent(api, choice), `${title} is saved as your agent.`)) await show()
  }
  const progress = element('p', { class: 'progress', role: 'status' })
  const radio = element('input', {
    type: 'radio', name: 'agent', value: name, checked: isChosen, id: `agent-${name}`, onchange: () => void choose(),
  })
  const install = state === 'missing' && canInstall &&
    button('Install', () => runInstallation(name, progress, context), 'small')
  if (isRunning) void followInstallation(name, progress, context)
  return element('div', { class: isChosen ? 'card chosen' : 'card' }, radio,
    element('div', {},
      element('label', { for: `agent-${name}` }, title),
      element('p', { class: 'hint' }, about),
      (login === 'yes' || keys.length > 0) && element('p', { class: 'good' },
        login === 'yes' ? 'A login was found' : `Key: ${keys.join(', ')}`),
      state === 'problem' && element('p', { class: 'fault' }, advice),
      state === 'missing' && !canInstall && element('p', { class: 'hint' }, element('code', {}, advice)),
      progress),
    name === 'demo' && button('Try it now', () => tryNow(choice, context), 'small'), install)
}

/** Begins a conversation with the demonstration agent, without changing the chosen agent. */
async function tryNow({ settings }: AgentChoice, { api, signal, status }: CardContext): Promise<void> {
  const begun = await begin(api, { text: 'Show me what you can do', request: { agent_settings: settings } })
  if (signal.aborted) return tellBegun(begun)
  if ('id' in begun) navigate(`/c/${begun.id}`)
  else status.fail(begun.problem)
}

async function runInstallation(name: string, progress: HTMLElement, context: CardContext): Promise<void> {
  const answer = await context.api.post(`/api/agents/${encodeURIComponent(name)}/install`)
  if (answer.status === 200) await followInstallation(name, progress, context)
  else fill(progress, problemOf(answer))
}

/** Shows the progress of an installation until it ends, a read fails or the step is left. */
async function followInstallation(name: string, progress: HTMLElement, context: CardContext): Promise<void> {
  while (!context.signal.aborted) {
    const { json } = await context.api.get('/api/agents/installations')
    const job = listAt(json, 'items').find((item) => textAt(item, 'name') === name)
    const state = textAt(job, 'state')
    const seconds = numberAt(job, 'seconds') ?? 0
    fill(progress, state === 'running' ? `${textAt(job, 'text')} (${seconds} s)` : textAt(job, 'text'))
    progress.classList.toggle('fault', state === 'failed')
    if (state === 'done') return context.show()
    if (state !== 'running') return
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
