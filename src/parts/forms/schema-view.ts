/**
 * Describes the settings form for clients: the responses of `agent-schema` and `conversation-schema`
 * (contract/settings.md, section 3.4).
 *
 * Types, secrets, most choices and most defaults come from the schema. This file adds the rest, such as the layout.
 */
import type { Member, Schema } from '../../schema/spec/define.ts'
import { condenserKinds, type AgentSettingsKind } from '../../schema/generated/settings.ts'
import { storedModel } from '../../schema/spec/llm.ts'
import { registry } from '../../schema/registry.ts'
import { builtInProviders } from '../../settings/providers-table.ts'

export interface SettingsSchema {
  readonly model_name: string
  readonly sections: readonly SettingsSection[]
}

export interface SettingsSection {
  readonly key: string
  readonly label: string
  readonly fields: readonly SettingsField[]
  readonly variant: AgentSettingsKind | null
}

export interface SettingsField {
  readonly key: string
  readonly label: string
  readonly description?: string
  readonly section: string
  readonly section_label: string
  readonly value_type: ValueType
  readonly default: unknown
  readonly prominence: Prominence
  /** Keys of the fields whose values decide whether this field has an effect. */
  readonly depends_on: readonly string[]
  readonly secret: boolean
  readonly choices: readonly { readonly value: string; readonly label: string }[]
  /** The agent kind that has the field; null in the conversation settings. */
  readonly variant: AgentSettingsKind | null
}

type ValueType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object'
type Prominence = 'critical' | 'major' | 'minor'

export function agentSchema(): SettingsSchema {
  return {
    model_name: 'AgentSettings',
    sections: [
      // Only the built-in agent has these fields, but the section is for both agent kinds (`variant: null`).
      { ...section({ key: 'general', type: builtIn, names: general, variant: 'openhands' }), variant: null },
      section({ key: 'llm', type: 'LLM', prefix: 'llm.', variant: 'openhands' }),
      section({
        key: 'agent_context',
        type: 'AgentContext',
        names: ['load_memory'],
        prefix: 'agent_context.',
        variant: 'openhands',
      }),
      section({
        key: 'condenser',
        type: condenser,
        names: ['condenser_kind', ...membersOf(condenser)],
        prefix: 'condenser.',
        variant: 'openhands',
      }),
      section({ key: 'verification', type: 'Verification', prefix: 'verification.', variant: 'openhands' }),
      section({ key: 'acp', type: 'AcpAgentSettings', names: acp, variant: 'acp' }),
      section({ key: 'llm', type: 'LLM', prefix: 'llm.', variant: 'acp' }),
    ],
  }
}

const builtIn = 'OpenHandsAgentSettings'
const condenser = 'SummarizingCondenser'
const general = [
  'agent', 'tools', 'enable_sub_agents', 'enable_switch_llm_tool', 'tool_concurrency_limit', 'mcp_config',
]
const acp = [
  'acp_server', 'acp_command', 'acp_args', 'acp_model', 'acp_session_mode', 'acp_prompt_timeout', 'acp_startup_timeout',
]

export function conversationSchema(): SettingsSchema {
  const type = 'ConversationSettings'
  return {
    model_name: type,
    sections: [
      section({ key: 'general', type, names: ['max_iterations'] }),
      section({ key: 'verification', type, names: ['confirmation_mode', 'security_analyzer'] }),
    ],
  }
}

const prominences: Readonly<Record<string, Prominence>> = {
  'llm.model': 'critical',
  'llm.api_key': 'critical',
  'llm.auth_type': 'critical',
  'llm.subscription_vendor': 'critical',
  'llm.base_url': 'major',
  'llm.provider_connection_id': 'major',
  'condenser.enabled': 'critical',
  'verification.critic_enabled': 'critical',
  'verification.enable_iterative_refinement': 'critical',
  'verification.critic_api_key': 'critical',
  'agent_context.load_memory': 'major',
  acp_server: 'critical',
  acp_model: 'critical',
  agent: 'major',
  tools: 'major',
  enable_sub_agents: 'major',
  tool_concurrency_limit: 'major',
  max_iterations: 'major',
  confirmation_mode: 'critical',
  security_analyzer: 'major',
}

/** Defaults, by field key, that the schema does not have. */
const defaults: Readonly<Record<string, unknown>> = { 'llm.model': storedModel }

const critic = 'verification.critic_enabled'
const refinement = 'verification.enable_iterative_refinement'
const dependencies: Readonly<Record<string, readonly string[]>> = {
  'llm.subscription_vendor': ['llm.auth_type'],
  'condenser.max_size': ['condenser.enabled'],
  'condenser.max_tokens': ['condenser.enabled'],
  'condenser.keep_first': ['condenser.enabled'],
  'condenser.minimum_progress': ['condenser.enabled'],
  'condenser.hard_context_reset_max_retries': ['condenser.enabled'],
  'condenser.hard_context_reset_context_scaling': ['condenser.enabled'],
  'verification.critic_mode': [critic],
  'verification.enable_iterative_refinement': [critic],
  'verification.critic_threshold': [critic, refinement],
  'verification.max_refinement_iterations': [critic, refinement],
  'verification.critic_server_url': [critic],
  'verification.critic_model_name': [critic],
  'verification.critic_api_key': [critic],
  security_analyzer: ['confirmation_mode'],
}

interface SectionPlan {
  readonly key: string
  /** The object type in the schema whose members are the fields of this section. */
  readonly type: string
  /** The members of `type` that the section shows. Default: all members except constants. */
  readonly names?: readonly string[]
  readonly prefix?: string
  readonly variant?: AgentSettingsKind
}

function section({ key, type, names = membersOf(type), prefix = '', variant }: SectionPlan): SettingsSection {
  const label = key === 'agent_context' ? 'Memory' : labelOf(key)
  const fields = names.map((name): SettingsField => {
    const fieldKey = `${prefix}${name}`
    const member = memberOf(type, name)
    return {
      key: fieldKey,
      label: labelOf(name),
      ...(member.doc === '' ? {} : { description: member.doc }),
      section: key,
      section_label: label,
      value_type: valueType(member.schema),
      default: defaults[fieldKey] ?? defaultOf(member),
      prominence: prominences[fieldKey] ?? 'minor',
      depends_on: dependencies[fieldKey] ?? [],
      secret: member.secret === true,
      choices: choicesOf(fieldKey, member.schema),
      variant: variant ?? null,
    }
  })
  return { key, label, fields, variant: variant ?? null }
}

function membersOf(type: string): string[] {
  const schema = registry[type]
  if (schema?.type !== 'object') return []
  return Object.keys(schema.members).filter((name) => schema.members[name]?.schema.type !== 'constant')
}

function memberOf(type: string, name: string): Member {
  const schema = registry[type]
  const member = schema?.type === 'object' ? schema.members[name] : undefined
  if (member === undefined) throw new RangeError(`"${type}" has no member "${name}"`)
  return member
}

function defaultOf(member: Member): unknown {
  return member.presence === 'default' && member.secret !== true ? member.default : null
}

function valueType(schema: Schema): ValueType {
  const inner = innermost(schema)
  switch (inner.type) {
    case 'integer':
    case 'number':
    case 'boolean':
    case 'array':
      return inner.type
    case 'string':
    case 'constant':
    case 'enumeration':
      return 'string'
    default:
      return 'object'
  }
}

function choicesOf(key: string, schema: Schema): SettingsField['choices'] {
  if (key === 'condenser.condenser_kind') return condenserKinds.map((value) => ({ value, label: labelOf(value) }))
  const inner = innermost(schema)
  if (inner.type !== 'enumeration') return []
  return inner.values.map((value) => ({ value, label: key === 'acp_server' ? serverLabel(value) : value }))
}

function serverLabel(server: string): string {
  return builtInProviders.find(({ name }) => name === server)?.displayName ?? labelOf(server)
}

/** Unwraps nullable schemas and aliases, and returns the first schema that is neither. */
function innermost(schema: Schema): Schema {
  if (schema.type === 'nullable') return innermost(schema.of)
  const named = schema.type === 'reference' ? registry[schema.name] : undefined
  return named?.type === 'alias' ? innermost(named.of) : schema
}

const acronyms: ReadonlySet<string> = new Set(['acp', 'api', 'aws', 'id', 'llm', 'mcp', 'url'])

function labelOf(name: string): string {
  return name
    .split('_')
    .map((word) => (acronyms.has(word) ? word.toUpperCase() : word.slice(0, 1).toUpperCase() + word.slice(1)))
    .join(' ')
}
