/**
 * Agent profiles: named choices of an agent with which clients start conversations (contract/settings.md, section 8).
 *
 * The server sets the id, name and revision of a stored profile, and ignores these members in a request.
 */
import {
  address, arrayOf, boolean, closed, constant, defaultTo, integerOf, numberOf, nullable, oneOf, openObject, optional,
  orNull, ref, required, response, string, stringOf, tolerant, union, uuid, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { responseOf, conflict, get, inGroup, post } from '../../schema/spec/operation.ts'
import { serverLimit, wordLimit } from '../../schema/spec/settings.ts'

const moreThan0 = numberOf({ exclusiveMinimum: 0 })
const names = arrayOf(string, { maxItems: 1000 })

const common = {
  id: optional(uuid, 'Stays the same when the profile is renamed or replaced.'),
  name: optional(string),
  revision: optional(integerOf({ minimum: 0 }), 'The number of times that the profile was replaced.'),
  schema_version: defaultTo(2, integerOf({ minimum: 1, maximum: 2 })),
  mcp_server_refs: orNull(arrayOf(string, { maxItems: serverLimit.maxProperties }),
    'Names of MCP servers in the settings. Null gives all of them. An empty list gives none.'),
}

export const definitions: Definitions = {
  OpenHandsAgentProfile: closed('The built-in agent with the model of an LLM profile.', {
    ...common,
    agent_kind: defaultTo('openhands', constant('openhands')),
    llm_profile_ref: required(stringOf({ minLength: 1, maxLength: 64 }), 'The name of an LLM profile.'),
    agent: defaultTo('CodeActAgent', string),
    tools: orNull(arrayOf(ref('ToolSpec'), wordLimit), 'Null gives the usual tools. An empty list gives no tool.'),
    system_message_suffix: orNull(string),
    disabled_skills: defaultTo([], names, 'Names of skills in files that the agent does not get.'),
    condenser: defaultTo({}, ref('Condenser')),
    verification: defaultTo({}, ref('ProfileVerification')),
    enable_sub_agents: defaultTo(false, boolean),
    enable_switch_llm_tool: defaultTo(true, boolean),
    tool_concurrency_limit: defaultTo(1, integerOf({ minimum: 1 })),
  }),
  AcpAgentProfile: closed('An external agent.', {
    ...common,
    agent_kind: required(constant('acp')),
    acp_server: defaultTo('claude-code', ref('AcpServer')),
    acp_model: orNull(string),
    acp_session_mode: orNull(string),
    acp_prompt_timeout: defaultTo(1800, moreThan0, 'Seconds without an update.'),
    acp_startup_timeout: defaultTo(90, moreThan0, 'The time limit of a start, in seconds.'),
    acp_command: orNull(string, 'One line, with the quoting of sh. Null stands for the command of the preset.'),
    acp_args: orNull(arrayOf(string, wordLimit), 'Appended to the command.'),
  }),
  AgentProfile: union('A named choice of an agent.', 'agent_kind', ['OpenHandsAgentProfile', 'AcpAgentProfile'],
    [{ variant: 'OpenHandsAgentProfile' }]),
  ProfileVerification: tolerant('The critic that judges the work. It uses the key of the model.', {
    critic_enabled: defaultTo(false, boolean),
    critic_mode: defaultTo('finish_and_message', oneOf('finish_and_message', 'all_actions')),
    enable_iterative_refinement: defaultTo(false, boolean),
    critic_threshold: defaultTo(0.6, numberOf({ minimum: 0, maximum: 1 })),
    max_refinement_iterations: defaultTo(3, integerOf({ minimum: 1 })),
    critic_server_url: address(orNull(string)),
    critic_model_name: orNull(string),
  }),

  AgentProfileSummary: response('An agent profile, in the list.', {
    id: required(uuid),
    name: required(string),
    agent_kind: required(oneOf('openhands', 'acp')),
    revision: required(integerOf({ minimum: 0 })),
    llm_profile_ref: required(nullable(string)),
    mcp_server_refs: required(nullable(arrayOf(string))),
  }),
  AgentProfileList: response('All agent profiles that can be read, by name.', {
    profiles: required(arrayOf(ref('AgentProfileSummary'))),
    active_agent_profile_id: required(nullable(uuid)),
  }),
  AgentProfileDetail: response('An agent profile.', {
    name: required(string),
    profile: required(ref('AgentProfile')),
  }),
  AgentProfileActivation: response('Clients offer the profile first.', {
    id: required(uuid),
    message: required(string),
    agent_settings_applied: required(boolean, 'Always false: the settings keep their agent.'),
  }),
  AgentProfileDiagnosis: response('Whether the profile can be used, and the settings that it stands for.', {
    agent_kind: required(oneOf('openhands', 'acp')),
    valid: required(boolean),
    errors: required(arrayOf(string)),
    llm_profile_ref: required(nullable(string)),
    llm_profile_resolved: required(boolean),
    llm_api_key_set: required(boolean),
    mcp_server_refs: required(nullable(arrayOf(string))),
    resolved_mcp_config_keys: required(arrayOf(string)),
    dangling_mcp_server_refs: required(arrayOf(string), 'Names that the settings do not have.'),
    disabled_skills: required(arrayOf(string)),
    resolved_skills: required(arrayOf(string), 'Skills of the user. Those of a project depend on the workspace.'),
    acp_api_key_secret_name: required(nullable(string)),
    acp_base_url_secret_name: required(nullable(string)),
    acp_file_secret_names: required(arrayOf(string)),
    resolved_settings: required(nullable(openObject), 'AgentSettings without secret values; null when not valid.'),
  }),
}

const path = '/api/agent-profiles'
export const pathParameters = { [`${path}/{name}`]: ref('ProfileName') }

const unreadable = responseOf('The stored profile cannot be read', ref('ErrorDetail'))

export const endpoints: readonly Endpoint[] = inGroup('Agent Profiles', [
  get(path, 'List agent profiles; the first call makes a profile from the settings', ref('AgentProfileList')),
  { ...get(`${path}/{name}`, 'Get an agent profile', ref('AgentProfileDetail')), responses: {
    200: responseOf('The profile', ref('AgentProfileDetail')),
    400: unreadable,
  } },
  {
    ...post(`${path}/{name}`, 'Store an agent profile', 'AgentProfile'),
    responses: { 201: responseOf('Stored', ref('ProfileChange')), 409: conflict('There are too many agent profiles') },
  },
  {
    ...post(`${path}/{name}`, 'Remove an agent profile'),
    method: 'DELETE',
    responses: { 200: responseOf('The profile does not exist now', ref('ProfileChange')) },
  },
  {
    ...post(`${path}/{name}/rename`, 'Rename an agent profile', 'RenameProfileRequest'),
    responses: { 200: responseOf('Renamed', ref('ProfileChange')), 409: conflict('The name is taken') },
  },
  {
    ...post(`${path}/{profile_id}/activate`, 'Make an agent profile the active one'),
    responses: { 200: responseOf('The settings name the profile as active', ref('AgentProfileActivation')) },
  },
  {
    ...post(`${path}/{name}/materialize`, 'Check whether an agent profile can be used'),
    responses: { 200: responseOf('Whether it can be used', ref('AgentProfileDiagnosis')), 400: unreadable },
  },
])
