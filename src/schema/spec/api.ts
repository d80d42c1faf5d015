/**
 * The operations of the core's REST interface, and bodies that belong to no other file of this folder.
 *
 * Sources: the specification's section "Endpoints"; contract/conversations.md, sections 4 and 5; contract/settings.md,
 * sections 1, 2, 6 and 7; contract/others.md, sections 0.2, 4 and 10; contract/websocket.md, section 1.
 */
import {
  arrayOf, boolean, closed, constant, dateTime, defaultTo, either, integer, integerOf, json, mapOf, nullable, oneOf,
  openObject, optional, orNull, ref, required, response, secret, stated, string, stringOf, tolerant, uuid,
  type Definitions, type Endpoint,
} from './define.ts'
import { responseOf, conflict, get, inGroup, post, success } from './operation.ts'
import { profileEndpoints } from './profiles.ts'

const limit = defaultTo(100, integerOf({ minimum: 1, maximum: 100 }))
const filters = {
  kind: optional(stringOf({ maxLength: 256 }), 'A kind of event, bare or qualified by dots.'),
  source: optional(stringOf({ maxLength: 256 }), 'An unknown word selects nothing.'),
  body: optional(stringOf({ maxLength: 1024 }), 'Text that a message contains.'),
  timestamp__gte: optional(dateTime),
  timestamp__lt: optional(dateTime),
}
const resend = {
  resend_mode: optional(oneOf('all', 'since')),
  resend_all: optional(boolean, 'True means the mode `all`, if `resend_mode` is missing.'),
  after_timestamp: optional(dateTime),
  after: optional(stringOf({ maxLength: 64 }), 'The last event that the client has.'),
}

/** Members of `POST /api/init` that must be null or absent, because this server takes such values only at its start. */
const atStart = [
  'secret_key', 'conversations_path', 'bash_events_dir', 'conversation_worktree_root', 'webhooks', 'web_url',
  'allow_cors_origins', 'max_concurrent_runs', 'env', 'telemetry',
]

export const api: Definitions = {
  ErrorDetail: response('The body of an error.', { detail: required(either(string, openObject)) }),
  ServerError: response('The body of an error of the server.', {
    detail: required(string),
    exception: required(string),
    error_id: optional(string, 'The id of the error in the log.'),
  }),

  ConversationQuery: tolerant('The query of a request that returns conversations.', {
    include_skills: defaultTo(false, boolean),
  }),
  ConversationSearchQuery: tolerant('Selects the conversations of a page.', {
    page_id: optional(stringOf({ maxLength: 64 })),
    limit,
    status: optional(ref('ExecutionStatus')),
    sort_order: defaultTo('CREATED_AT_DESC',
      oneOf('CREATED_AT', 'UPDATED_AT', 'CREATED_AT_DESC', 'UPDATED_AT_DESC')),
    include_skills: defaultTo(false, boolean),
  }),
  ConversationCountQuery: tolerant('Selects the conversations to count.', { status: optional(ref('ExecutionStatus')) }),
  ConversationBatchQuery: tolerant('Selects conversations by their ids.', {
    ids: stated({ items: uuid }, required(arrayOf(string, { minItems: 1, maxItems: 99 }))),
    include_skills: defaultTo(false, boolean),
  }),
  EventSearchQuery: tolerant('Selects the events of a page.', {
    page_id: optional(stringOf({ maxLength: 64 })),
    limit,
    ...filters,
    sort_order: defaultTo('TIMESTAMP', oneOf('TIMESTAMP', 'TIMESTAMP_DESC')),
  }),
  EventCountQuery: tolerant('Selects the events to count.', filters),

  AuthFrame: closed('The first frame of a client whose upgrade request had no key.', {
    type: required(constant('auth')),
    session_api_key: secret(required(string)),
  }),
  EventSocketQuery: tolerant('Selects the stored events that a socket sends first.', {
    session_api_key: secret(optional(string)),
    ...resend,
  }),
  EventStreamQuery: tolerant('Selects stored events to send first. The header Last-Event-ID overrides it.', resend),

  Health: response('The server answers.', { status: required(string), message: optional(string) }),
  ServerInfo: response('Describes this server.', {
    uptime: required(integer, 'Seconds.'),
    idle_time: required(integer, 'Seconds.'),
    title: required(string),
    version: required(string, 'The level of the interface.'),
    sdk_version: required(string, 'The same as `version`, for clients that read this member.'),
    server_name: required(string),
    server_version: required(string),
    usable_tools: required(arrayOf(string)),
    parts: required(arrayOf(string), 'The names of the parts that this server may load (option --parts).'),
    capabilities: required(arrayOf(string)),
    limits: optional(mapOf(integer), 'Limits: conversations, runs, disk_bytes.'),
    runtime_idle_timeout_seconds: optional(integer),
    max_foreground_terminal_timeout_seconds: optional(integer),
    docs: optional(string),
    redoc: optional(string),
  }),
  InitState: response('Tells whether the server waits for its init.', { state: required(oneOf('dormant', 'ready')) }),
  InitRequest: closed('Values for a server that waits for its init. Other options keep the values of the start.', {
    session_api_keys: secret(orNull(
      arrayOf(stringOf({ pattern: '^(?! )[\\x20-\\x7e]{1,256}(?<! )$' }), { minItems: 1, maxItems: 100 }),
      'The new session keys. Null keeps the present keys.',
    )),
    ...Object.fromEntries(atStart.map((name) => [name, optional(json, 'Refused unless null: it is an option.')])),
  }),
}

const conversation = '/api/conversations/{conversation_id}'
const mcpServer = '/api/settings/mcp/{key}'
const newSettings = responseOf('The new settings', ref('SettingsResponse'))

export const endpoints: readonly Endpoint[] = [
  ...inGroup('Events', [
    get(`${conversation}/events/{event_id}`, 'Get one event of a conversation', ref('Event')),
    { ...get(`${conversation}/events/search`, 'Search events', ref('EventPage')), query: 'EventSearchQuery' },
    { ...get(`${conversation}/events/count`, 'Count events', integer), query: 'EventCountQuery' },
    {
      ...get(`${conversation}/events/stream`, 'Follow the events', string),
      query: 'EventStreamQuery',
      responses: {
        200: {
          doc: 'Server-sent events: each `data` is an Event; a stored event has its id as `id`.',
          mediaType: 'text/event-stream',
        },
      },
    },
    {
      ...get(`${conversation}/events`, 'Get events by their ids', arrayOf(nullable(ref('Event')))),
      request: arrayOf(string),
    },
    { ...post(`${conversation}/events`, 'Send a message', 'SendMessageRequest'), takesKey: true },
    {
      ...post(
        `${conversation}/events/respond_to_confirmation`, 'Answer pending actions', 'ConfirmationResponseRequest',
      ),
      takesKey: true,
    },
    get(`${conversation}/confirmations`, 'List pending confirmations', ref('PendingConfirmations')),
  ]),
  ...inGroup('Conversations', [
    {
      ...post('/api/conversations', 'Start a conversation', 'StartConversationRequest'),
      query: 'ConversationQuery',
      takesKey: true,
      responses: {
        200: responseOf('The conversation existed already', ref('ConversationInfo')),
        201: responseOf('Started', ref('ConversationInfo')),
      },
    },
    {
      ...get('/api/conversations/search', 'Search conversations', ref('ConversationPage')),
      query: 'ConversationSearchQuery',
    },
    { ...get('/api/conversations/count', 'Count conversations', integer), query: 'ConversationCountQuery' },
    {
      ...get('/api/conversations', 'Get conversations by their ids', arrayOf(nullable(ref('ConversationInfo')))),
      query: 'ConversationBatchQuery',
    },
    { ...get(conversation, 'Get a conversation', ref('ConversationInfo')), query: 'ConversationQuery' },
    { ...post(conversation, 'Change a conversation', 'UpdateConversationRequest'), method: 'PATCH' },
    { ...post(conversation, 'Delete a conversation'), method: 'DELETE' },
    {
      ...post(`${conversation}/run`, 'Start the agent'),
      takesKey: true,
      responses: { 200: success, 409: conflict('It runs already') },
    },
    post(`${conversation}/pause`, 'Pause the agent'),
    post(`${conversation}/interrupt`, 'Stop the agent at once'),
    post(`${conversation}/secrets`, 'Add or replace secrets', 'UpdateSecretsRequest'),
    post(`${conversation}/confirmation_policy`, 'Set the confirmation policy', 'SetConfirmationPolicyRequest'),
    post(`${conversation}/security_analyzer`, 'Set the security analyzer', 'SetSecurityAnalyzerRequest'),
    get(`${conversation}/agent_final_response`, 'Get the final response of the agent', ref('AgentResponse')),
    {
      ...post(`${conversation}/fork`, 'Copy a conversation', 'ForkConversationRequest'),
      isBodyOptional: true,
      query: 'ConversationQuery',
      responses: { 201: responseOf('Copied', ref('ConversationInfo')), 409: conflict('The id is taken') },
    },
    {
      ...post(`${conversation}/navigate`, 'Continue from another event', 'NavigateRequest'),
      query: 'ConversationQuery',
      responses: { 200: responseOf('Moved', ref('ConversationInfo')) },
    },
    {
      ...post(`${conversation}/switch_llm`, 'Switch the model of the built-in agent', 'SwitchLlmRequest'),
      responses: {
        200: success,
        400: responseOf('The conversation is driven by an external agent', ref('ErrorDetail')),
      },
    },
    {
      ...post(
        `${conversation}/switch_profile`, 'Switch the built-in agent to the model of a profile', 'SwitchProfileRequest',
      ),
      responses: {
        200: success,
        400: responseOf(
          'The conversation is driven by an external agent, or the stored profile cannot be read', ref('ErrorDetail'),
        ),
      },
    },
    {
      ...post(`${conversation}/switch_acp_model`, 'Switch the model of an external agent', 'SwitchAcpModelRequest'),
      responses: { 200: success, 400: responseOf('The agent refuses the value', ref('ErrorDetail')) },
    },
    {
      ...post(
        `${conversation}/switch_acp_mode`, 'Switch the session mode of an external agent', 'SwitchAcpModeRequest',
      ),
      responses: { 200: success, 400: responseOf('The agent refuses the value', ref('ErrorDetail')) },
    },
    {
      ...post(`${conversation}/switch_acp_option`, 'Set an option of an external agent', 'SwitchAcpOptionRequest'),
      responses: { 200: success, 400: responseOf('The agent refuses the value', ref('ErrorDetail')) },
    },
    {
      ...post(`${conversation}/condense`, 'Summarize the older part of the history'),
      responses: {
        200: success,
        400: responseOf('The agent has no condenser', ref('ErrorDetail')),
        409: conflict('A run is under way, there is too little to condense, or the budget is spent'),
      },
    },
    {
      ...post(`${conversation}/ask_agent`, 'Ask the agent a question outside of its turns', 'AskAgentRequest'),
      responses: {
        200: responseOf('The answer of the agent', ref('AgentResponse')),
        400: responseOf('The agent cannot be asked', ref('ErrorDetail')),
        409: conflict('Another question is open, or the budget is spent'),
      },
    },
    {
      ...post(`${conversation}/goal`, 'Pursue a goal over many runs', 'GoalRequest'),
      responses: {
        200: success,
        400: responseOf('The objective is empty, or there is no model to judge it', ref('ErrorDetail')),
        409: conflict('It runs already'),
      },
    },
    post(`${conversation}/goal/stop`, 'Interrupt the goal'),
    {
      ...post(`${conversation}/goal/resume`, 'Resume an interrupted goal'),
      responses: {
        200: success,
        400: responseOf('There is no goal, or no model to judge it', ref('ErrorDetail')),
        409: conflict('It runs already'),
      },
    },
  ]),
  ...inGroup('Settings', [
    get('/api/settings', 'Get the settings', ref('SettingsResponse')),
    {
      ...post('/api/settings', 'Change the settings', 'SettingsPatch'),
      method: 'PATCH',
      responses: {
        200: newSettings,
        400: responseOf('The request has no change', ref('ErrorDetail')),
        409: conflict('The stored settings cannot be read'),
      },
    },
    {
      ...post(mcpServer, 'Add an MCP server to the settings', 'McpServer'),
      responses: { 201: newSettings, 409: conflict('An MCP server of this name exists') },
    },
    {
      ...post(mcpServer, 'Change an MCP server in the settings', 'McpServerChange'),
      method: 'PATCH',
      responses: { 200: newSettings },
    },
    {
      ...post(mcpServer, 'Remove an MCP server from the settings'),
      method: 'DELETE',
      responses: { 200: newSettings },
    },
    get('/api/settings/secrets', 'List global secrets', ref('SecretList')),
    {
      ...post('/api/settings/secrets', 'Store a global secret', 'SecretWrite'),
      method: 'PUT',
      responses: { 200: responseOf('Stored', ref('SecretItem')) },
    },
    {
      ...get('/api/settings/secrets/{name}', 'Get the value of a global secret', string),
      responses: { 200: { doc: 'The value', mediaType: 'text/plain' } },
    },
    {
      ...post('/api/settings/secrets/{name}', 'Remove a global secret'),
      method: 'DELETE',
      responses: { 200: responseOf('Removed', ref('Deleted')) },
    },
  ]),
  ...profileEndpoints,
  ...inGroup('Skills', [get('/api/tools/', 'List the tools of the built-in agent', arrayOf(string))]),
  ...inGroup('Server Details', [
    get('/alive', 'Say that the server answers', ref('Health')),
    get('/health', 'Say that the server answers', ref('Health')),
    { ...get('/ready', 'Say whether requests are served', ref('Health')), responses: {
      200: responseOf('Ready', ref('Health')),
      503: responseOf('Requests are not served yet', ref('Health')),
    } },
    get('/server_info', 'Describe the server', ref('ServerInfo')),
    { ...get('/api/init', 'Say whether the server waits for its init', ref('InitState')), responses: {
      200: responseOf('The state', ref('InitState')),
      404: responseOf('Init is not deferred', ref('ErrorDetail')),
    } },
    { ...post('/api/init', 'Initialize the server', 'InitRequest'), isBodyOptional: true, responses: {
      200: responseOf('Initialized', ref('InitState')),
      400: responseOf('The server is initialized already', ref('ErrorDetail')),
      401: responseOf('X-Init-API-Key is missing or wrong', ref('ErrorDetail')),
      404: responseOf('Init is not deferred', ref('ErrorDetail')),
    } },
    get('/', 'Describe the server', ref('ServerInfo')),
    get('/openapi.json', 'Describe the interface', json),
  ]),
]
