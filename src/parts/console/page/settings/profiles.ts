/** The section for LLM profiles and agent profiles. At most one profile of each kind is active. */
import { loadAgents, type AgentChoice } from '../agents.ts'
import { element, fill } from '../dom.ts'
import { listAt, textAt } from '../values.ts'
import { button, field, form, loadFault, Status } from '../widgets.ts'
import type { SectionContext } from './section.ts'

export async function showProfiles(root: HTMLElement, context: SectionContext): Promise<void> {
  const llm = element('section', {})
  const agents = element('section', {})
  fill(root, llm, agents)
  await Promise.all([showLlmProfiles(llm, context), showAgentProfiles(agents, context)])
}

async function showLlmProfiles(root: HTMLElement, { api, signal }: SectionContext): Promise<void> {
  const status = new Status()
  const list = element('ul', { class: 'entries' })
  const name = element('input', { required: true, spellcheck: 'false' })
  const model = element('input', { required: true, spellcheck: 'false' })
  const key = element('input', { type: 'password', autocomplete: 'off' })
  const url = element('input', { type: 'url', spellcheck: 'false' })
  const load = async (): Promise<void> => {
    const answer = await api.get('/api/profiles', signal)
    if (signal.aborted) return
    if (answer.status !== 200) return fill(list, element('li', {}, loadFault('The model profiles', answer, load)))
    const { json } = answer
    const active = textAt(json, 'active_profile')
    const profiles = listAt(json, 'profiles')
    fill(list, profiles.length === 0 && element('li', { class: 'hint' }, 'No model profiles yet'),
      profiles.map((profile) => {
        const known = textAt(profile, 'name')
        const at = `/api/profiles/${encodeURIComponent(known)}`
        return element('li', { class: 'entry' },
          element('div', {}, element('strong', {}, known), known === active && ' (active)',
            element('p', { class: 'hint' }, textAt(profile, 'model'))),
          known !== active && button('Use', async () => {
            if (status.settle(await api.post(`${at}/activate`), `${known} is used now.`)) await load()
          }, 'small'),
          button('Delete', async () => {
            if (status.settle(await api.delete(at), `${known} is deleted.`)) await load()
          }, 'small danger'))
      }))
  }
  const save = async (): Promise<void> => {
    const llm = {
      model: model.value.trim(),
      ...(key.value === '' ? {} : { api_key: key.value }), ...(url.value === '' ? {} : { base_url: url.value }),
    }
    const at = `/api/profiles/${encodeURIComponent(name.value.trim())}`
    const controls = { name, model, base_url: url, api_key: key }
    if (!status.settle(await api.post(at, { llm, include_secrets: true }), 'Saved.', controls)) return
    for (const input of [name, model, key, url]) input.value = ''
    await load()
  }
  fill(root, element('h2', {}, 'Models'), list, form(save, element('h3', {}, 'Add or replace'),
    field('Name', name), field('Model', model), field('Key', key), field('Base URL', url), status.element,
    element('button', { class: 'primary' }, 'Save')))
  await load()
}

async function showAgentProfiles(root: HTMLElement, context: SectionContext): Promise<void> {
  const { api, signal } = context
  const status = new Status()
  const list = element('ul', { class: 'entries' })
  const load = async (): Promise<void> => {
    const answer = await api.get('/api/agent-profiles', signal)
    if (signal.aborted) return
    if (answer.status !== 200) return fill(list, element('li', {}, loadFault('The agent profiles', answer, load)))
    const active = textAt(answer.json, 'active_agent_profile_id')
    fill(list, listAt(answer.json, 'profiles').map((profile) => {
      const [id, name] = [textAt(profile, 'id'), textAt(profile, 'name')]
      const isExternal = textAt(profile, 'agent_kind') === 'acp'
      return element('li', { class: 'entry' },
        element('div', {}, element('strong', {}, name), id === active && ' (offered first)',
          element('p', { class: 'hint' }, isExternal ? 'External agent' : 'Built-in agent')),
        id !== active && button('Offer first', async () => {
          const chosen = await api.post(`/api/agent-profiles/${id}/activate`)
          if (status.settle(chosen, `Clients offer ${name} first.`)) await load()
        }, 'small'),
        button('Delete', async () => {
          const removed = await api.delete(`/api/agent-profiles/${encodeURIComponent(name)}`)
          if (status.settle(removed, `${name} is deleted.`)) await load()
        }, 'small danger'))
    }))
  }
  const { choices, failed } = await loadAgents(api)
  if (signal.aborted) return
  const again = (): Promise<void> => showAgentProfiles(root, context)
  fill(root, element('h2', {}, 'Agents'), list,
    failed === undefined
      ? agentForm(api, choices, status, load)
      : [loadFault('The agents', failed, again), status.element])
  await load()
}

/** Returns the form that adds or replaces an agent profile. */
function agentForm(
  api: SectionContext['api'], choices: readonly AgentChoice[], status: Status, load: () => Promise<void>,
): HTMLElement {
  const name = element('input', { required: true, spellcheck: 'false' })
  const agent = element('select', {}, choices.map((one) => element('option', { value: one.name }, one.title)))
  const model = element('input', { spellcheck: 'false' })
  const save = async (): Promise<void> => {
    const { settings } = choices.find((one) => one.name === agent.value) ?? { settings: {} }
    const command = listAt(settings, 'acp_command').join(' ')
    const profile = textAt(settings, 'agent_kind') === 'acp'
      ? { ...settings, acp_command: command === '' ? null : command, acp_model: model.value.trim() || null }
      : { agent_kind: 'openhands', llm_profile_ref: model.value.trim() }
    const answer = await api.post(`/api/agent-profiles/${encodeURIComponent(name.value.trim())}`, profile)
    const controls = { name, llm_profile_ref: model, acp_model: model, acp_server: agent }
    if (!status.settle(answer, `${name.value.trim()} is saved.`, controls)) return
    name.value = ''
    await load()
  }
  return form(save, element('h3', {}, 'Add or replace'),
    field('Name of the agent profile', name), field('Agent', agent),
    field('Model', model, 'For the built-in agent the name of a model profile; for others optional.'),
    status.element, element('button', { class: 'primary' }, 'Save'))
}
