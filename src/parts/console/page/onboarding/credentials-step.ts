/**
 * The step for the credentials of the chosen agent: a key and a base URL, both optional. The built-in agent has a model
 * too. A blank key keeps the stored key.
 */
import { chosenAgent, loadAgents, type AgentChoice } from '../agents.ts'
import { element, fill } from '../dom.ts'
import { memberAt, textAt } from '../values.ts'
import { field, form, Status } from '../widgets.ts'
import type { StepContext } from './step.ts'

export function showCredentials(root: HTMLElement, context: StepContext): void {
  void load(root, context)
}

async function load(root: HTMLElement, { api, signal }: StepContext): Promise<void> {
  const [choices, settings] = await Promise.all([loadAgents(api), api.get('/api/settings')])
  if (signal.aborted) return
  const name = chosenAgent(settings.json)
  const choice = choices.find((one) => one.name === name)
  if (name === 'built-in') return showModel(root, { api, signal }, settings.json)
  if (choice === undefined || (choice.keyVariable === '' && choice.urlVariable === '')) {
    return fill(root, element('p', {}, choice?.name === 'demo'
      ? 'The demonstration agent needs no key and no login. Continue.'
      : 'This agent takes no key here.'), loginHint(choice))
  }
  showKey(root, { api, signal }, choice)
}

function loginHint(choice: AgentChoice | undefined): HTMLElement | false {
  if (choice === undefined || choice.loginCommand === '') return false
  const found = choice.login === 'yes'
  return element('p', { class: found ? 'good' : 'hint' },
    found ? `A login of ${choice.title} was found on this machine. You need no key.` : 'Or sign in on this machine: ',
    !found && element('code', {}, choice.loginCommand))
}

function showKey(root: HTMLElement, { api }: StepContext, choice: AgentChoice): void {
  const status = new Status()
  const key = element('input', { type: 'password', autocomplete: 'off', placeholder: placeholderOf(choice) })
  const url = element('input', { type: 'url', spellcheck: 'false', placeholder: 'Usual address' })
  const save = async (): Promise<void> => {
    status.tell('Nothing has changed.')
    for (const [name, input] of [[choice.keyVariable, key], [choice.urlVariable, url]] as const) {
      if (name === '' || input.value.trim() === '') continue
      const answer = await api.put('/api/settings/secrets', { name, value: input.value.trim() })
      if (!status.settle(answer, 'Saved, sealed on the server.')) return
      input.value = ''
      input.placeholder = 'Set'
    }
  }
  fill(root, loginHint(choice), form(save,
    choice.keyVariable !== '' && field(`Key (${choice.keyVariable})`, key, 'Blank keeps what is set.'),
    choice.urlVariable !== '' && field(`Base URL (${choice.urlVariable})`, url, 'For a proxy or a gateway. Optional.'),
    element('button', {}, 'Save'), status.element))
}

function placeholderOf({ keys }: AgentChoice): string {
  return keys.length > 0 ? `Set: ${keys.join(', ')}` : 'Not set'
}

function showModel(root: HTMLElement, { api }: StepContext, settings: unknown): void {
  const status = new Status()
  const isSet = memberAt(settings, 'llm_api_key_is_set') === true
  const model = element('input', { value: textAt(settings, 'agent_settings', 'llm', 'model'), spellcheck: 'false' })
  const key = element('input', { type: 'password', autocomplete: 'off', placeholder: isSet ? 'Set' : 'Not set' })
  const url = element('input', {
    type: 'url', spellcheck: 'false', value: textAt(settings, 'agent_settings', 'llm', 'base_url'),
  })
  const save = async (): Promise<void> => {
    const llm = {
      model: model.value.trim(), base_url: url.value.trim() === '' ? null : url.value.trim(),
      ...(key.value.trim() === '' ? {} : { api_key: key.value.trim() }),
    }
    if (status.settle(await api.patch('/api/settings', { agent_settings_diff: { llm } }), 'Saved.')) key.value = ''
  }
  fill(root, form(save,
    field('Model', model, 'As the provider names it, for instance anthropic/claude-sonnet-4-5.'),
    field('Key', key, 'Blank keeps what is set.'), field('Base URL', url, 'Optional.'),
    element('button', {}, 'Save'), status.element))
}
