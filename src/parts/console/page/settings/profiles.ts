/** The section for LLM profiles and agent profiles. At most one profile of each kind is active. */
import { problemOf } from '../api.ts'
import { element, fill } from '../dom.ts'
import { listAt, textAt } from '../values.ts'
import { button, field, form, Status } from '../widgets.ts'
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
    const { json } = await api.get('/api/profiles', signal)
    if (signal.aborted) return
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
    if (!status.settle(await api.post(at, { llm, include_secrets: true }), 'Saved.')) return
    key.value = ''
    await load()
  }
  fill(root, element('h2', {}, 'Models'), list, form(save, element('h3', {}, 'Add or replace'),
    field('Name', name), field('Model', model), field('Key', key), field('Base URL', url), status.element,
    element('button', {}, 'Save')))
  await load()
}

async function showAgentProfiles(root: HTMLElement, { api, signal }: SectionContext): Promise<void> {
  const status = new Status()
  const list = element('ul', { class: 'entries' })
  const load = async (): Promise<void> => {
    const answer = await api.get('/api/agent-profiles', signal)
    if (signal.aborted) return
    if (answer.status !== 200) return status.fail(problemOf(answer))
    const active = textAt(answer.json, 'active_agent_profile_id')
    fill(list, listAt(answer.json, 'profiles').map((profile) => {
      const [id, name] = [textAt(profile, 'id'), textAt(profile, 'name')]
      const isExternal = textAt(profile, 'agent_kind') === 'acp'
      return element('li', { class: 'entry' },
        element('div', {}, element('strong', {}, name), id === active && ' (active)',
          element('p', { class: 'hint' }, isExternal ? 'External agent' : 'Built-in agent')),
        id !== active && button('Use', async () => {
          if (status.settle(await api.post(`/api/agent-profiles/${id}/activate`), `${name} is used now.`)) await load()
        }, 'small'),
        button('Delete', async () => {
          const removed = await api.delete(`/api/agent-profiles/${encodeURIComponent(name)}`)
          if (status.settle(removed, `${name} is deleted.`)) await load()
        }, 'small danger'))
    }))
  }
  fill(root, element('h2', {}, 'Agents'), list, status.element)
  await load()
}
