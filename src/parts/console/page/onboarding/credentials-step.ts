/** The step for the chosen agent's key and base URL, and the built-in agent's model. A blank key changes nothing. */
import { chosenAgent, loadAgents, type AgentChoice } from '../agents.ts'
import { element, fill } from '../dom.ts'
import { memberAt, textAt } from '../values.ts'
import { field, form, loadFault, Status, tellAt } from '../widgets.ts'
import type { StepContext } from './step.ts'

export function showCredentials(root: HTMLElement, context: StepContext): void {
  void load(root, context)
}

async function load(root: HTMLElement, context: StepContext): Promise<void> {
  const { api, signal } = context
  const [{ choices, failed }, settings] = await Promise.all([loadAgents(api), api.get('/api/settings')])
  if (signal.aborted) return
  const fault = failed ?? (settings.status === 200 ? undefined : settings)
  if (fault !== undefined) return fill(root, loadFault('The settings', fault, () => load(root, context)))
  const name = chosenAgent(settings)
  const choice = choices.find((one) => one.name === name)
  if (name === 'built-in') return showModel(root, context, settings.json)
  if (choice === undefined || (choice.keyVariable === '' && choice.urlVariable === '')) {
    return fill(root, element('p', {}, choice?.name === 'demo'
      ? 'The demonstration agent needs no key and no login. Continue.'
      : 'This agent takes no key here.'), loginHint(choice))
  }
  showKey(root, context, choice)
}

function loginHint(choice: AgentChoice | undefined): HTMLElement | false {
  if (choice === undefined || choice.loginCommand === '') return false
  const found = choice.login === 'yes'
  return element('p', { class: found ? 'good' : 'hint' },
    found ? `A login of ${choice.title} was found on this machine. You need no key.` : 'Or sign in on this machine: ',
    !found && element('code', {}, choice.loginCommand))
}

function showKey(root: HTMLElement, { api, saveWith }: StepContext, choice: AgentChoice): void {
  const status = new Status()
  const key = element('input', { type: 'password', autocomplete: 'off', placeholder: placeholderOf(choice) })
  const url = element('input', { type: 'url', spellcheck: 'false', placeholder: 'Usual address' })
  const save = async (): Promise<boolean> => {
    status.tell('Nothing has changed.')
    for (const [name, input] of [[choice.keyVariable, key], [choice.urlVariable, url]] as const) {
      if (name === '' || input.value.trim() === '') continue
      const answer = await api.put('/api/settings/secrets', { name, value: input.value.trim() })
      if (!status.settle(answer, 'Saved, sealed on the server.')) return false
      input.value = ''
      input.placeholder = 'Set'
    }
    return true
  }
  saveWith(save)
  fill(root, choice.login === 'yes' && loginHint(choice), form(async () => void await save(),
    choice.keyVariable !== '' && field(`Key (${choice.keyVariable})`, key, 'Blank keeps what is set.'),
    choice.urlVariable !== '' && field(`Base URL (${choice.urlVariable})`, url, 'For a proxy or a gateway. Optional.'),
    element('button', {}, 'Save'), status.element), choice.login !== 'yes' && loginHint(choice))
}

function placeholderOf({ keys }: AgentChoice): string {
  return keys.length > 0 ? `Set: ${keys.join(', ')}` : 'Not set'
}

function showModel(root: HTMLElement, { api, saveWith }: StepContext, settings: unknown): void {
  const status = new Status()
  const isSet = memberAt(settings, 'llm_api_key_is_set') === true
  const model = element('input', { value: textAt(settings, 'agent_settings', 'llm', 'model'), spellcheck: 'false' })
  const key = element('input', { type: 'password', autocomplete: 'off', placeholder: isSet ? 'Set' : 'Not set' })
  const url = element('input', {
    type: 'url', spellcheck: 'false', value: textAt(settings, 'agent_settings', 'llm', 'base_url'),
  })
  const typed = (): string => [model.value, url.value].join('\n')
  let saved = typed()
  const save = async (): Promise<boolean> => {
    if (model.value.trim() === '') {
      tellAt(model, 'Name a model. Without a model the built-in agent cannot work.')
      model.focus()
      return false
    }
    const sent = typed()
    const llm = {
      model: model.value.trim(), base_url: url.value.trim() === '' ? null : url.value.trim(),
      ...(key.value.trim() === '' ? {} : { api_key: key.value.trim() }),
    }
    const answer = await api.patch('/api/settings', { agent_settings_diff: { llm } })
    if (!status.settle(answer, 'Saved.', { model, api_key: key, base_url: url })) return false
    saved = sent
    if (key.value.trim() !== '') key.placeholder = 'Set'
    key.value = ''
    return true
  }
  saveWith(async () => (key.value.trim() === '' && typed() === saved) || await save())
  fill(root, form(async () => void await save(),
    field('Model', model, 'As the provider names it, for instance anthropic/claude-sonnet-4-5.'),
    field('Key', key, 'Blank keeps what is set.'), field('Base URL', url, 'Optional.'),
    element('button', {}, 'Save'), status.element))
}
