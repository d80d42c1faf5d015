/**
 * The stored settings: which agent drives new conversations, and how (specification, section "Agent settings";
 * contract/settings.md, sections 1 to 4).
 *
 * Unknown members are ignored, but an MCP server with an unknown member is refused. Code in src/settings/ checks
 * the rules that compare several members.
 */
import {
  address, alias, arrayOf, boolean, closed, constant, defaultTo, either, extensible, integer, integerOf, mapOf,
  nullable, number, numberOf, omittable, oneOf, openLike, openObject, optional, orNull, ref, required, response,
  secret, string, stringOf, tolerant, union, unread, uuid, type Definitions,
} from './define.ts'
import { storedModel } from './llm.ts'

const moreThan0 = numberOf({ exclusiveMinimum: 0 })
const between0And1 = numberOf({ exclusiveMinimum: 0, exclusiveMaximum: 1 })
const atLeast1 = integerOf({ minimum: 1 })

/** Members of both `ACPAgent` and `AcpAgentSettings`, written once. */
export const acpRules = {
  acp_env: defaultTo(
    {},
    mapOf(string, { maxProperties: 100 }),
    'Variables of the program that are not secret: they are shown unmasked.',
  ),
  acp_unasked_calls: defaultTo(
    'stop',
    oneOf('stop', 'allow'),
    'The effect on the turn when a call ran without the question that the policy requires.',
  ),
}

/** Limits of lists and maps, so low that all items can be processed without a pause for other work. */
export const wordLimit = { maxItems: 1000 }
export const serverLimit = { maxProperties: 100 }
export const fileSecretLimit = { maxItems: 100 }
const headerLimit = { maxProperties: 100 }

/** The default of `acp_file_secrets`: logins that agent programs read from a file, and may renew in the file. */
export const usualFileSecrets = [
  {
    secret_name: 'CODEX_AUTH_JSON',
    filename: 'auth.json',
    env_var: 'CODEX_HOME',
    subdir: 'codex',
    env_points_to: 'dir',
  },
  {
    secret_name: 'GOOGLE_APPLICATION_CREDENTIALS_JSON',
    filename: 'gcloud-credentials.json',
    env_var: 'GOOGLE_APPLICATION_CREDENTIALS',
    subdir: 'gemini-cli',
    env_points_to: 'file',
  },
]

/** The name of a file or folder, of at most 100 characters. */
const segment = stringOf({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' })

/** The settings that the summarizing condensers share. A condenser shortens a long history for the model. */
export const condensing = {
  max_tokens: orNull(integerOf({ exclusiveMinimum: 0 })),
  keep_first: defaultTo(2, integerOf({ minimum: 0 }), 'Events.'),
  minimum_progress: defaultTo(0.1, between0And1),
  hard_context_reset_max_retries: defaultTo(5, integerOf({ exclusiveMinimum: 0 })),
  hard_context_reset_context_scaling: defaultTo(0.8, between0And1),
}

const agentSettings: Definitions = {
  AcpServer: alias('An external agent: the name of a preset, or `custom` for any other program.',
    oneOf('claude-code', 'codex', 'gemini-cli', 'custom')),

  OpenHandsAgentSettings: tolerant('The built-in agent, which calls a model itself.', {
    schema_version: defaultTo(5, integer),
    agent_kind: defaultTo('openhands', constant('openhands')),
    agent: defaultTo('CodeActAgent', string),
    llm: defaultTo({ model: storedModel }, ref('LLM')),
    tools: orNull(arrayOf(ref('ToolSpec'), { maxItems: 1000 }), 'Null: the usual tools. An empty list: no tools.'),
    enable_sub_agents: defaultTo(false, boolean, 'Whether the agent may give tasks to sub-agents.'),
    enable_switch_llm_tool: defaultTo(true, boolean, 'Stored without an effect: the agent has no such tool.'),
    tool_concurrency_limit: defaultTo(1, atLeast1),
    mcp_config: defaultTo({}, mapOf(ref('McpServer'), serverLimit)),
    agent_context: defaultTo({}, ref('AgentContext')),
    condenser: defaultTo({}, ref('Condenser')),
    verification: defaultTo({}, ref('Verification')),
  }),

  AcpAgentSettings: tolerant('An external agent, reached over the Agent Client Protocol.', {
    schema_version: defaultTo(5, integer),
    agent_kind: required(constant('acp')),
    acp_server: defaultTo('claude-code', ref('AcpServer')),
    acp_command: defaultTo([], arrayOf(string, wordLimit), 'Empty: the command of the preset.'),
    acp_args: defaultTo([], arrayOf(string, wordLimit), 'Appended to the command.'),
    acp_model: orNull(string, 'Model passed to the agent.'),
    acp_session_mode: orNull(string, 'Null: the mode that the confirmation policy requires.'),
    acp_prompt_timeout: defaultTo(1800, moreThan0, 'Seconds without an update.'),
    acp_startup_timeout: defaultTo(90, moreThan0, 'Seconds.'),
    mcp_config: defaultTo({}, mapOf(ref('McpServer'), serverLimit)),
    acp_isolate_data_dir: defaultTo(false, boolean),
    ...acpRules,
    acp_file_secrets: defaultTo(usualFileSecrets, arrayOf(ref('AcpFileSecret'), fileSecretLimit)),
    llm: defaultTo({ model: storedModel }, ref('LLM'), 'Kept for bookkeeping; its key is not used.'),
    agent_context: orNull(ref('AgentContext')),
  }),

  AgentSettings: union('Which agent drives new conversations, and how.', 'agent_kind',
    ['OpenHandsAgentSettings', 'AcpAgentSettings'], [{ variant: 'OpenHandsAgentSettings' }]),

  AcpFileSecret: tolerant('A secret that an external agent reads from a file.', {
    secret_name: required(stringOf({ pattern: '^[a-zA-Z][a-zA-Z0-9_]{0,63}$' })),
    filename: required(segment),
    env_var: required(string, 'The variable that names the file or its folder.'),
    subdir: required(segment),
    env_points_to: required(oneOf('dir', 'file')),
    warn_if_unset: defaultTo([], arrayOf(string)),
  }),

  ToolSpec: tolerant('A tool by its name.', {
    name: required(string),
    params: defaultTo({}, openObject),
  }),

  AgentContext: tolerant('Additions to the prompt of the built-in agent.', {
    skills: defaultTo([], arrayOf(openObject, { maxItems: 1000 })),
    system_message_suffix: orNull(string),
    user_message_suffix: orNull(string),
    load_user_skills: defaultTo(false, boolean),
    load_public_skills: unread(defaultTo(false, boolean)),
    marketplace_path: unread(defaultTo('marketplaces/default.json', nullable(string))),
    registered_marketplaces: defaultTo([], arrayOf(openObject, { maxItems: 100 })),
    load_project_skills: defaultTo(false, boolean),
    load_memory: defaultTo(false, boolean),
    disabled_skills: defaultTo([], arrayOf(string, { maxItems: 1000 })),
    secrets: secret(orNull(openObject)),
    current_datetime: orNull(string),
  }),

  SummarizingCondenser: tolerant('Summarizes the older part of a long history.', {
    condenser_kind: defaultTo('llm_summarizing', constant('llm_summarizing')),
    enabled: defaultTo(true, boolean),
    max_size: defaultTo(240, integerOf({ minimum: 20 }), 'Events.'),
    ...condensing,
  }),

  NoCondenser: tolerant('Leaves the history as it is.', {
    condenser_kind: required(constant('no_op')),
    enabled: defaultTo(true, boolean),
  }),

  Condenser: union('The treatment of a long history.', 'condenser_kind',
    ['SummarizingCondenser', 'NoCondenser'], [{ variant: 'SummarizingCondenser' }]),

  Verification: tolerant('Settings of the critic, which rates the work of the agent.', {
    critic_enabled: defaultTo(false, boolean),
    critic_mode: defaultTo('finish_and_message', oneOf('finish_and_message', 'all_actions')),
    enable_iterative_refinement: defaultTo(false, boolean),
    critic_threshold: defaultTo(0.6, numberOf({ minimum: 0, maximum: 1 })),
    max_refinement_iterations: defaultTo(3, atLeast1),
    critic_server_url: address(orNull(string)),
    critic_model_name: orNull(string),
    critic_api_key: secret(orNull(string)),
  }),
}

export const settings: Definitions = {
  ...agentSettings,

  ConversationSettings: tolerant('Settings that clients use to start conversations.', {
    schema_version: defaultTo(1, integer),
    max_iterations: defaultTo(500, atLeast1),
    confirmation_mode: defaultTo(false, boolean),
    security_analyzer: defaultTo('llm', nullable(oneOf('llm', 'none'))),
  }),

  SettingsFile: tolerant('The settings as they are stored; secret members are sealed.', {
    version: required(atLeast1),
    agent_settings: required(ref('AgentSettings')),
    conversation_settings: defaultTo({}, ref('ConversationSettings')),
    active_profile: orNull(ref('ProfileName')),
    active_agent_profile_id: orNull(uuid),
    misc_settings: defaultTo({}, openObject),
  }),

  SettingsResponse: response('The settings of this server.', {
    agent_settings: required(ref('AgentSettings')),
    conversation_settings: required(ref('ConversationSettings')),
    llm_api_key_is_set: required(boolean),
    active_profile: required(nullable(string)),
    active_agent_profile_id: required(nullable(string)),
    misc_settings: required(openObject),
  }),

  SettingsPatch: tolerant('Changes of the settings. Each is merged into the stored settings.', {
    agent_settings_diff: omittable(nullable(openLike('AgentSettings')),
      'Members as `agent_kind`, `acp_server`, `acp_command`, `acp_model`; null resets one to its default.'),
    conversation_settings_diff: omittable(nullable(openLike('ConversationSettings'))),
    misc_settings_diff: omittable(nullable(openObject)),
    active_profile: omittable(nullable(ref('ProfileName')), 'Null clears it.'),
    active_agent_profile_id: omittable(nullable(uuid), 'Null clears it.'),
  }),

  McpServer: closed('A server of the Model Context Protocol.', {
    url: address(optional(string)),
    transport: optional(oneOf('stdio', 'http', 'streamable-http', 'sse')),
    command: optional(string),
    args: optional(arrayOf(string, wordLimit)),
    env: secret(optional(mapOf(string, { maxProperties: 1000 }))),
    cwd: optional(string),
    description: optional(string),
    icon: optional(string),
    timeout: optional(number, 'Seconds.'),
    sse_read_timeout: optional(number, 'Seconds.'),
    keep_alive: unread(optional(boolean)),
    headers: secret(optional(mapOf(string, headerLimit))),
    auth: optional(ref('McpAuth')),
    enabled: defaultTo(true, boolean),
  }),

  McpServerChange: extensible('Members of an MCP server, merged as in a patch of the settings; null removes one.', {
    enabled: omittable(nullable(boolean)),
  }),

  McpNoAuth: closed('No credentials.', { strategy: required(constant('none')) }),
  McpApiKeyAuth: closed('A key in a header.', {
    strategy: required(constant('api_key')),
    value: secret(required(string)),
    header_name: optional(string),
  }),
  McpBearerAuth: closed('A bearer token.', {
    strategy: required(constant('bearer')),
    value: secret(required(string)),
  }),
  McpBasicAuth: closed('A name and a password.', {
    strategy: required(constant('basic')),
    username: required(string),
    password: secret(required(string)),
  }),
  McpHeaderAuth: closed('Headers with credentials.', {
    strategy: required(constant('header')),
    headers: secret(required(mapOf(string, headerLimit))),
  }),
  McpOAuth2Auth: closed('OAuth 2.', {
    strategy: required(constant('oauth2')),
    authentication: optional(ref('McpOAuthClient')),
    state: secret(optional(openObject)),
  }),
  McpOAuthClient: closed('How this server introduces itself to an authorization server.', {
    type: required(constant('oauth')),
    client_auth_method: optional(oneOf('none', 'client_secret_post', 'client_secret_basic', 'private_key_jwt')),
    scopes: optional(either(string, arrayOf(string, { maxItems: 100 }))),
    client_name: optional(string),
    client_metadata_url: optional(string),
    client_id: optional(string),
    client_secret: secret(optional(string)),
    issuer: optional(string, 'The authorization server of the client. A sign-in to another server is refused.'),
    additional_client_metadata: optional(openObject),
  }),
  McpAuth: union('The credentials for an MCP server.', 'strategy',
    ['McpNoAuth', 'McpApiKeyAuth', 'McpBearerAuth', 'McpBasicAuth', 'McpHeaderAuth', 'McpOAuth2Auth']),
}
