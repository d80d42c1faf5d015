/**
 * Bodies of the conversation endpoints (contract/conversations.md, sections 1, 2, 4 and 6).
 *
 * These types drop unknown members. The agent settings and the hooks in a request are checked later, by settings/ and
 * conversation/agent/hook-config.
 */
import {
  alias, arrayOf, boolean, constant, defaultTo, either, integer, integerOf, mapOf, nullable,
  nullDefaultTo, nullMeans, number, numberOf, oneOf, openLike, openObject, optional, orNull, ref, required, response,
  secret, stated, string, stringOf, tolerant, union, unread, uuid, type Definitions,
} from './define.ts'
import { judgement } from './judgement.ts'
import { acpRules, condensing, fileSecretLimit, serverLimit, usualFileSecrets, wordLimit } from './settings.ts'
import { contentLimit } from './values.ts'

const iterations = integerOf({ minimum: 1 })
const tags = mapOf(stringOf({ maxLength: 256 }), { keys: '^[a-z0-9]+$', maxProperties: 100 })
const toolLimit = { maxItems: 1000 }
const secretLimit = { maxProperties: 1000 }

const agents: Definitions = {
  Agent: tolerant('The built-in agent.', {
    kind: defaultTo('Agent', constant('Agent')),
    llm: required(ref('LLM')),
    tools: defaultTo([], arrayOf(ref('ToolSpec'), toolLimit)),
    mcp_config: defaultTo({}, mapOf(ref('McpServer'), serverLimit)),
    filter_tools_regex: orNull(string),
    include_default_tools: defaultTo(['FinishTool', 'ThinkTool'], arrayOf(string, toolLimit)),
    agent_context: orNull(ref('AgentContext')),
    system_prompt: orNull(string, 'Replaces the system prompt of this server. It is used word for word.'),
    system_prompt_filename: unread(defaultTo('system_prompt.j2', string, 'Kept and shown; no file is read.')),
    security_policy_filename: nullMeans('', 'security_policy.j2', string, 'Empty or null: no security section.'),
    system_prompt_kwargs: defaultTo({}, openObject, 'Kept and shown; the prompt of this server is no template.'),
    condenser: defaultTo({}, nullable(ref('AgentCondenser')), 'Null: the history is not condensed.'),
    critic: orNull(ref('Critic')),
    tool_concurrency_limit: defaultTo(1, iterations),
  }),
  ACPAgent: tolerant('An external agent.', {
    kind: required(constant('ACPAgent')),
    acp_command: required(arrayOf(string, wordLimit)),
    acp_server: orNull(string),
    acp_args: defaultTo([], arrayOf(string, wordLimit)),
    acp_session_mode: orNull(string),
    acp_prompt_timeout: defaultTo(1800, numberOf({ exclusiveMinimum: 0 }), 'Seconds without an update.'),
    acp_startup_timeout: defaultTo(90, numberOf({ exclusiveMinimum: 0 }), 'Seconds.'),
    acp_model: orNull(string),
    acp_resume_session_id: unread(secret(orNull(string))),
    acp_file_secrets: defaultTo(usualFileSecrets, arrayOf(ref('AcpFileSecret'), fileSecretLimit)),
    acp_isolate_data_dir: defaultTo(false, boolean),
    ...acpRules,
    mcp_config: defaultTo({}, mapOf(ref('McpServer'), serverLimit)),
    llm: defaultTo({ model: 'acp-managed', usage_id: 'acp-managed' }, ref('LLM'), 'A placeholder.'),
    tools: defaultTo([], arrayOf(ref('ToolSpec'), toolLimit)),
    include_default_tools: defaultTo([], arrayOf(string, toolLimit)),
    agent_context: orNull(ref('AgentContext')),
  }),
  LLMSummarizingCondenser: tolerant('Summarizes the older part of a long history.', {
    kind: defaultTo('LLMSummarizingCondenser', constant('LLMSummarizingCondenser')),
    llm: orNull(ref('LLM'), 'Null: the model of the agent.'),
    max_size: defaultTo(240, integerOf({ exclusiveMinimum: 0 }), 'Events; at least 2 * `keep_first` + 4.'),
    ...condensing,
  }),
  NoOpCondenser: tolerant('Leaves the history as it is.', { kind: required(constant('NoOpCondenser')) }),
  PlainCondenser: union('One of the condensers of a pipeline.', 'kind', ['LLMSummarizingCondenser', 'NoOpCondenser'],
    [{ variant: 'LLMSummarizingCondenser' }]),
  PipelineCondenser: tolerant('Tries condensers in order, until one condenses.', {
    kind: required(constant('PipelineCondenser')),
    condensers: required(arrayOf(ref('PlainCondenser'), { maxItems: 10 })),
  }),
  AgentCondenser: union('The treatment of a long history.', 'kind',
    ['LLMSummarizingCondenser', 'NoOpCondenser', 'PipelineCondenser'], [{ variant: 'LLMSummarizingCondenser' }]),
  ConversationAgent: union('The agent that drives a conversation.', 'kind', ['Agent', 'ACPAgent'],
    [{ has: 'llm', variant: 'Agent' }]),
}

const requests: Definitions = {
  Workspace: tolerant('The folder in which the agent works.', {
    working_dir: required(string),
    kind: defaultTo('LocalWorkspace', constant('LocalWorkspace')),
  }),

  SendMessageRequest: tolerant('A message of the user.', {
    role: defaultTo('user', constant('user')),
    content: nullDefaultTo([], arrayOf(ref('Content'), { bareText: 'TextContent', maxItems: contentLimit })),
    run: defaultTo(false, boolean, 'True to start a run that serves the message.'),
  }),

  StartConversationRequest: tolerant('A new conversation.', {
    workspace: optional(ref('Workspace')),
    agent: optional(ref('ConversationAgent')),
    agent_settings: optional(openLike('AgentSettings'), 'As in the settings; used if `agent` is missing.'),
    agent_profile_id: optional(uuid, 'An agent profile. Excludes `agent` and `agent_settings`.'),
    conversation_id: optional(uuid),
    initial_message: optional(ref('SendMessageRequest'), 'Sent as if `run` were true.'),
    confirmation_policy: defaultTo({ kind: 'NeverConfirm' }, ref('ConfirmationPolicy')),
    security_analyzer: optional(ref('SecurityAnalyzer')),
    max_iterations: defaultTo(500, iterations),
    stuck_detection: defaultTo(true, boolean),
    secrets: secret(defaultTo({}, mapOf(ref('SecretSource'), secretLimit))),
    secrets_encrypted: defaultTo(false, boolean),
    tags: nullDefaultTo({}, tags),
    hook_config: optional(openObject,
      'A HookConfig; its names may be in PascalCase, and it may be the member `hooks` of another object.'),
    plugins: optional(
      arrayOf(ref('PluginSource'), { maxItems: 20 }),
      'Installed plugins, or folders of this machine. For the built-in agent only.',
    ),
    autotitle: defaultTo(true, boolean),
    title_llm_profile: optional(
      string,
      'The profile whose model makes the title; without such a profile, the agent\'s model does.',
    ),
    worktree: defaultTo(false, boolean, 'Make a git worktree of the workspace, and work there.'),
    parent_conversation_id: optional(uuid),
    client_tools: defaultTo([], arrayOf(ref('ClientTool'), toolLimit)),
    agent_definitions: defaultTo(
      [], arrayOf(ref('AgentDefinition'), { maxItems: 100 }),
      'Sub-agents; they replace sub-agents of plugins and files with the same name. For the built-in agent only.',
    ),
    agent_launch_additions: optional(ref('AgentLaunchAdditions')),
    max_budget_per_task: optional(
      numberOf({ exclusiveMinimum: 0 }),
      'In US dollars: no turn, and no step of the built-in agent, begins once it is spent.',
    ),
  }),

  PluginSource: tolerant('Names a plugin.', {
    source: required(string, 'The name, source or folder of an installed plugin, or the path of a folder.'),
    ref: optional(string),
    repo_path: optional(string),
  }),
  ClientTool: tolerant('A tool that the client runs.', {
    name: required(stringOf({ pattern: '^[A-Za-z0-9_-]{1,64}$' }), 'In the form that providers of models accept.'),
    description: required(string),
    parameters: defaultTo({ type: 'object', properties: {} }, openObject, 'A JSON schema.'),
    annotations: optional(ref('ToolAnnotations')),
  }),
  AgentLaunchAdditions: tolerant('Additions for this conversation alone.', {
    system_message_suffix_append: optional(stringOf({ maxLength: 32_768 })),
  }),

  UpdateConversationRequest: tolerant('Changes of a conversation.', {
    title: optional(stringOf({ minLength: 1, maxLength: 200 })),
    tags: optional(tags, 'The new tags. They replace all existing tags.'),
    max_budget_per_task: optional(numberOf({ exclusiveMinimum: 0 }), 'In US dollars.'),
    workspace: optional(ref('Workspace'), 'The present workspace: a conversation does not move to another folder.'),
  }),
  ConfirmationResponseRequest: tolerant('An answer to pending actions.', {
    accept: required(boolean),
    reason: defaultTo('User rejected the action.', string),
    id: optional(string, 'The id of a confirmation. Default: all pending confirmations.'),
  }),
  UpdateSecretsRequest: tolerant('Adds or replaces secrets of a conversation.', {
    secrets: secret(required(mapOf(either(string, ref('SecretSource')), secretLimit))),
  }),
  SetConfirmationPolicyRequest: tolerant('The new confirmation policy.', {
    policy: required(ref('ConfirmationPolicy')),
  }),
  SetSecurityAnalyzerRequest: tolerant('The new security analyzer; null for none.', {
    security_analyzer: required(nullable(ref('SecurityAnalyzer'))),
  }),
  AgentResponse: response('The text of the agent.', { response: required(string) }),
  ForkConversationRequest: tolerant('A copy of a conversation.', {
    id: optional(uuid),
    title: optional(stringOf({ maxLength: 200 })),
    tags: optional(tags),
    reset_metrics: defaultTo(true, boolean),
    from_event_id: optional(string, 'The last event of the copy.'),
  }),
  NavigateRequest: tolerant('The event after which the history continues.', {
    event_id: optional(string, 'Null: before the first event.'),
  }),
  SwitchAcpModeRequest: tolerant('Another session mode of the external agent.', { mode: required(string) }),
  AskAgentRequest: tolerant('A question to the agent outside its turns.', {
    question: required(stringOf({ minLength: 1 })),
  }),
  SwitchLlmRequest: tolerant('Another model of the built-in agent.', { llm: required(ref('LLM')) }),
  SwitchProfileRequest: tolerant('The model of a profile.', { profile_name: required(ref('ProfileName')) }),
  GoalRequest: tolerant('A goal to pursue over many runs.', {
    objective: stated({ pattern: '\\S' }, required(stringOf({ maxLength: 32_768 }))),
    max_iterations: defaultTo(10, iterations, 'Number of rounds. A round is a run and a judgement.'),
  }),
  GoalVerdict: tolerant('The verdict of a judge on a goal.', {
    score: required(numberOf({ minimum: 0, maximum: 1 })),
    complete: required(boolean),
    missing: required(string),
  }),
  Goal: tolerant('The value of the state update `goal`.', {
    active: required(boolean),
    status: required(oneOf('running', 'complete', 'capped', 'interrupted')),
    iteration: required(integer, 'The number of judged rounds.'),
    max_iterations: required(integer),
    objective: required(string),
    verdict: required(nullable(ref('GoalVerdict'))),
  }),
  SwitchAcpOptionRequest: tolerant('Another value of an option of the external agent, beside mode and model.', {
    option_id: required(string, 'One of `agent_state.acp_config_options`.'),
    value: required(string),
  }),
  SwitchAcpModelRequest: tolerant('Another model of the external agent.', { model: required(string) }),
}

const figures: Definitions = {
  TokenUsage: response('Tokens of one call or of many.', {
    model: defaultTo('', string),
    prompt_tokens: defaultTo(0, integer),
    completion_tokens: defaultTo(0, integer),
    cache_read_tokens: defaultTo(0, integer),
    cache_write_tokens: defaultTo(0, integer),
    reasoning_tokens: defaultTo(0, integer),
    context_window: defaultTo(0, integer),
    per_turn_token: defaultTo(0, integer),
    response_id: defaultTo('', string),
  }),
  MetricsSnapshot: response('The tokens and the cost of one usage id.', {
    model_name: defaultTo('default', string),
    accumulated_cost: defaultTo(0, number),
    max_budget_per_task: orNull(number),
    accumulated_token_usage: orNull(ref('TokenUsage')),
  }),
  Metrics: response('Like MetricsSnapshot, with three lists that are always empty (decisions 18).', {
    model_name: defaultTo('default', string),
    accumulated_cost: defaultTo(0, number),
    max_budget_per_task: orNull(number),
    accumulated_token_usage: orNull(ref('TokenUsage')),
    costs: defaultTo([], arrayOf(openObject)),
    response_latencies: defaultTo([], arrayOf(openObject)),
    token_usages: defaultTo([], arrayOf(ref('TokenUsage'))),
  }),
  ConversationStats: response('Figures by usage id.', { usage_to_metrics: defaultTo({}, mapOf(ref('Metrics'))) }),
}

export const conversations: Definitions = {
  ExecutionStatus: alias('The status of a conversation.',
    oneOf('idle', 'running', 'paused', 'waiting_for_confirmation', 'finished', 'error', 'stuck', 'deleting')),
  ...judgement,
  ...agents,
  ...requests,
  ...figures,

  ConversationInfo: response('A conversation.', {
    id: required(uuid),
    agent: required(ref('ConversationAgent')),
    workspace: required(ref('Workspace')),
    persistence_dir: orNull(string),
    max_iterations: required(integer),
    stuck_detection: required(boolean),
    execution_status: required(ref('ExecutionStatus')),
    confirmation_policy: required(ref('ConfirmationPolicy')),
    security_analyzer: orNull(ref('SecurityAnalyzer')),
    activated_knowledge_skills: defaultTo([], arrayOf(string)),
    invoked_skills: defaultTo([], arrayOf(string)),
    blocked_actions: defaultTo({}, mapOf(string)),
    blocked_messages: defaultTo({}, mapOf(string)),
    last_user_message_id: orNull(string),
    leaf_event_id: orNull(string),
    stats: required(ref('ConversationStats')),
    secret_registry: defaultTo({}, openObject),
    agent_state: defaultTo({}, openObject),
    hook_config: orNull(ref('HookConfig')),
    title: orNull(string),
    metrics: orNull(ref('MetricsSnapshot'), 'The budget and the cost so far.'),
    created_at: required(string),
    updated_at: required(string),
    forked_from_conversation_id: orNull(uuid),
    forked_from_event_id: orNull(string),
    parent_conversation_id: orNull(uuid),
    sub_conversation_ids: defaultTo([], arrayOf(uuid)),
    tags: defaultTo({}, mapOf(string)),
    current_model_id: orNull(string),
    available_models: defaultTo([], arrayOf(ref('AcpModel'))),
    supports_runtime_model_switch: defaultTo(false, boolean),
    launched_agent_profile: orNull(ref('LaunchedAgentProfile')),
    client_tools: defaultTo([], arrayOf(openObject)),
  }),
  AcpModel: response('A model that an external agent offers.', {
    model_id: required(string),
    name: orNull(string),
    description: orNull(string),
  }),
  LaunchedAgentProfile: response('The profile that a conversation was started with.', {
    agent_profile_id: required(uuid),
    revision: required(integer),
  }),
  ConversationPage: response('Part of the list of conversations.', {
    items: required(arrayOf(ref('ConversationInfo'))),
    next_page_id: required(nullable(string)),
  }),
  EventPage: response('Part of the history of a conversation.', {
    items: required(arrayOf(ref('Event'))),
    next_page_id: required(nullable(string)),
  }),
  ConfirmationOption: response('An option of a permission request.', {
    id: required(string),
    name: required(string),
    kind: required(string),
  }),
  ConfirmationDiff: response('The change of a file. Long texts are cut; the action has the whole texts.', {
    path: required(string),
    old_text: required(nullable(string), 'Null for a new file.'),
    new_text: required(nullable(string), 'Null for a file that is deleted or moved away.'),
    more: required(integer, 'The number of further changes.'),
  }),
  ConfirmationLocation: response('A file, and perhaps a line, that the call is about.', {
    path: required(string),
    line: required(nullable(integer)),
  }),
  PendingConfirmation: response('A pending confirmation.', {
    id: required(string),
    tool_call_id: required(string),
    action_id: required(nullable(string), 'The ActionEvent that describes the action in full.'),
    title: required(string),
    command: required(nullable(string), 'The command that would run; null when none is known.'),
    diff: required(nullable(ref('ConfirmationDiff'))),
    locations: required(arrayOf(ref('ConfirmationLocation'))),
    options: required(arrayOf(ref('ConfirmationOption'))),
    deadline: required(nullable(string), 'The time at which the confirmation is denied.'),
  }),
  PendingConfirmations: response('The pending confirmations. An external agent has at most one at a time.', {
    items: required(arrayOf(ref('PendingConfirmation'))),
  }),
  Success: response('The request has succeeded.', { success: required(boolean) }),
}
