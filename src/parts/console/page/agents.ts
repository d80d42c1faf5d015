/** The agents that a person can choose: the demonstration agent, the built-in agent, and external agents. */
import type { Answer, Api } from './api.ts'
import { listAt, memberAt, objectAt, textAt, type Members } from './values.ts'
import { hasFailed } from './widgets.ts'

export interface AgentChoice {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly state: 'ready' | 'missing' | 'problem'
  readonly advice: string
  readonly login: string
  readonly keys: readonly unknown[]
  readonly keyVariable: string
  readonly urlVariable: string
  readonly loginCommand: string
  readonly canInstall: boolean
  /** The members of `agent_settings` that choose this agent. */
  readonly settings: Members
}

const demoCommand = 'agent-server-demo-agent'
const presets = ['claude-code', 'codex', 'gemini-cli']

const own = { advice: '', login: 'no', keys: [], keyVariable: '', urlVariable: '', loginCommand: '', canInstall: false }

const demo: AgentChoice = {
  ...own, name: 'demo', title: 'Demonstration agent', state: 'ready',
  about: 'Needs no model and no login: follows a script, so that you see everything at once.',
  settings: { agent_kind: 'acp', acp_server: 'custom', acp_command: [demoCommand] },
}

const builtIn: AgentChoice = {
  ...own, name: 'built-in', title: 'Built-in agent', state: 'ready',
  about: 'Part of this server: calls a model that you choose, with your key.',
  settings: { agent_kind: 'openhands' },
}

export interface FoundAgents {
  readonly choices: readonly AgentChoice[]
  /** The first response that failed (`hasFailed`); undefined when none has. */
  readonly failed: Answer | undefined
}

/** Returns the agents in this order: demonstration, built-in, ready external agents, other external agents. */
export async function loadAgents(api: Api): Promise<FoundAgents> {
  const [found, about] = await Promise.all([api.get('/api/doctor/agents'), api.get('/server_info')])
  const parts = listAt(about.json, 'parts')
  const listed = listAt(found.json, 'items').map(choiceOf)
  const choices = [
    ...(parts.includes('demo') ? [demo] : []),
    ...(parts.includes('builtin') ? [builtIn] : []),
    ...listed.filter(({ state }) => state === 'ready'),
    ...listed.filter(({ state }) => state !== 'ready'),
  ]
  return { choices, failed: [found, about].find(hasFailed) }
}

function choiceOf(item: unknown): AgentChoice {
  const name = textAt(item, 'name')
  const state = textAt(item, 'state')
  return {
    name,
    title: textAt(item, 'title'),
    about: textAt(item, 'text'),
    state: state === 'ready' || state === 'missing' ? state : 'problem',
    advice: textAt(item, 'advice'),
    login: textAt(item, 'login'),
    keys: listAt(item, 'keys'),
    keyVariable: textAt(item, 'api_key_variable'),
    urlVariable: textAt(item, 'base_url_variable'),
    loginCommand: textAt(item, 'login_command'),
    canInstall: memberAt(item, 'can_install') === true,
    settings: presets.includes(name)
      ? { agent_kind: 'acp', acp_server: name, acp_command: [] }
      : { agent_kind: 'acp', acp_server: 'custom', acp_command: [name] },
  }
}

/** Returns `AgentChoice.name` of the chosen agent; empty when the settings could not be read. */
export function chosenAgent({ status, json: settings }: Answer): string {
  if (status !== 200) return ''
  const agent = objectAt(settings, 'agent_settings')
  if (agent['agent_kind'] !== 'acp') return builtIn.name
  const server = textAt(agent, 'acp_server')
  if (presets.includes(server)) return server
  const [word] = listAt(agent, 'acp_command')
  if (word === demoCommand) return demo.name
  return typeof word === 'string' ? word : server
}

/**
 * Saves an agent for new conversations. When `agent_kind` changes, the server drops the old agent settings, so the page
 * sends the model and the MCP servers again, if it could read them.
 */
export async function chooseAgent(api: Api, { settings }: AgentChoice): Promise<Answer> {
  const before = await api.getSealed('/api/settings')
  const isOther = textAt(before.json, 'agent_settings', 'agent_kind') !== settings['agent_kind']
  const { llm, mcp_config } = objectAt(before.json, 'agent_settings')
  const kept = isOther && before.status === 200 ? { llm, mcp_config } : {}
  return api.patch('/api/settings', { agent_settings_diff: { ...kept, ...settings } })
}
