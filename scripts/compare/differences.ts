/**
 * The deliberate differences between the public server and this one, each with its reason; verdict.ts reads them.
 * Theirs stands before ours. `*` stands for any text.
 */
import { inTalks } from './differences-talks.ts'
import { why, type Deliberate } from './verdict.ts'

/** Differences of many responses. */
const everywhere: readonly Deliberate[] = [
  why('*', '+ null *', 'A member without a value is null; the public server leaves some out'),
  why('*', '- null *', 'The same the other way round: unknown members are left out here'),
  why('*', 'value $.message "*', 'Words for people'),
  why('*', 'length $.detail * | 1', 'A request is refused for the first place with a fault: path, query, then body'),
  why('*', 'value $.detail[*].loc[*', 'The same: which fault is named first'),
  why('*', 'value $.detail[*].type *', 'The same, and the words of faults are not all those of pydantic'),
  why('*', '+ $.detail[*].input.kind', 'The input is quoted with the kind that was read'),
  why('*', 'length $.detail[*].loc *', 'A fault in a union names no branch, and one in a list names its member'),
  why('*', '*.openrouter_site_url "https://docs.all-hands.dev/" | ""', 'No name of another product is sent to a model'),
  why('*', '*.openrouter_app_name "OpenHands" | ""', 'The same'),
  why('*', '*.log_completions_folder *', 'Completion logs are events; the folder is taken and not used'),
  why('*', '- $*.is_subscription', 'There is no sign-in with a subscription'),
  why('*', '*.current_datetime string | null', 'The time is told to the model with each message, not stored'),
  why('*', '- $*.system_prompt_kwargs.llm_security_analyzer', 'The prompt is made here and takes no such argument'),
  why('*', 'type $*.llm.api_key null | string', 'A mask tells that there is a key; null that there is none'),
  why('*', 'length $*.include_default_tools 3 | 2', 'finish and think; switching models is no tool here'),
  why('*', '- $*.parent_id', 'Events have the fields of the specification (decisions 1)'),
  why('*', '- $*.usage_to_metrics.condenser', 'A model has figures once it was asked'),
]

const ofServer: readonly Deliberate[] = [
  why('a method that is not there', 'header allow *', 'All methods of the path, as RFC 9110 wants'),
  why('OPTIONS without an origin', 'status 405 | 204', 'OPTIONS names the methods of the path in Allow'),
  why('HEAD', 'status 405 | 200', 'HEAD is GET without a body (RFC 9110)'),
  why('a preflight of *', 'header *', 'Only the methods of the path, and nothing for a stranger'),
  why('a preflight of loopback', 'value $ "OK" | ""', 'A preflight has no body'),
  why('a preflight of a stranger', 'type $ string | object', 'Errors are JSON'),
  why('*', '- $.tools_version', 'One program has one version: server_version'),
  why('*', '- $.workspace_version', 'The same'),
  why('*', '- $.build_git_*', 'The same'),
  why('*', '- $.python_version', 'There is no Python'),
  why('*', '+ $.server_*', 'Name and version of this product (decisions 34)'),
  why('*', '+ $.parts', 'The parts of this server'),
  why('*', '+ $.limits', 'The limits of this server by name; none is set here'),
  why('POST /api/init: *', 'status 401 | 404', 'A server that waits for no init has no such route, whatever the key'),
  why('POST /api/init: broken JSON', 'status 422 | 404', 'The same, whatever the body'),
  why('cookie', 'header set-cookie *', 'The cookie is a random token of 12 hours, not the session key for ten years'),
  why('models: models/verified', '? $.models.*', 'A list of its own, with fewer providers'),
]

const ofSettings: readonly Deliberate[] = [
  why('settings *', 'value $.agent_settings.agent_kind "openhands" | "acp"', 'The demonstration agent (decisions 21)'),
  why('settings *', '- $.agent_settings.*', 'The same: members of the built-in agent alone'),
  why('settings *', 'type $.agent_settings.agent_context object | null', 'The same'),
  why(
    'settings *', '+ $.agent_settings.acp_*',
    'The same: members of external agents, some of them of this server alone',
  ),
  why('settings: an external agent', '+ $.agent_settings.acp_*', 'Members of this server alone'),
  why('schema of *', '- $.sections[].fields[].description', 'The first field says all in its label'),
  why(
    '*', 'length $*.acp_file_secrets[*].warn_if_unset 2 | 0',
    'No warning: doctor tells which values an agent misses',
  ),
  why(
    'agent profiles: made', 'value $.resolved_settings.llm.stream false | true',
    'What starts: agents of profiles stream',
  ),
  why('agent profiles: made', 'type $.resolved_settings.tools null | list', 'What starts: the tools by name'),
  why('agent profiles: made', '*.load_user_skills false | true', 'What starts: skills of the user are loaded'),
  why('agent profiles: made, dangling', 'value $.errors[*', 'Words for people'),
]

const ofMachine: readonly Deliberate[] = [
  why('bash: an empty command', 'status 200 | 422', 'Nothing to run is a mistake'),
  why('bash: a time limit', 'type $.stderr null | string', 'The end says that the time was over'),
  why('bash: a folder that is not there', 'value $.stderr *', 'Words for people'),
  why('files: downloaded', 'header content-disposition *', 'With filename*, for names that are not ASCII'),
  why('git: *', 'value $.modified "*', 'Whole files: the newline at the end belongs to the file'),
  why('git: a file', 'value $.original "*', 'The same'),
  why('git: a new file', 'type $.original string | null', 'A file that was not there has no text, not an empty one'),
  why('conversation: trajectory', 'header content-*', 'It is a zip archive and says so'),
]

const ofConversations: readonly Deliberate[] = [
  why('conversation: by an agent', 'type $.agent.condenser null | object', 'The condenser that is in force is shown'),
  why('conversation: an external agent', 'value $.agent.llm.*', 'The model of an external agent is its own matter'),
  why('conversation: an external agent', '- $.agent.*', 'Members of the built-in agent alone'),
  why('conversation: an external agent', '+ $.agent.acp_*', 'Members of this server alone'),
  why('conversations: listed', '- $.items[].agent.*', 'The same: the newest has an external agent'),
  why('conversations: listed', '+ $.items[].agent.acp_*', 'The same'),
  why('conversation: no workspace', 'status 500 | 201', 'A folder of its own (decisions 20)'),
  why('conversation: no agent', 'status 422 | 201', 'The stored settings (decisions 20)'),
  why('conversations: limit 101', 'status 500 | 422', 'A limit out of range is 422 (decisions 17)'),
  why('message: of the agent', 'status 500 | 422', 'Clients speak as the user'),
  why('events: searched', '* $.items 0 | 1', 'Bare names of kinds are taken too'),
  why('events: searched', 'type $.next_page_id null | string', 'The same'),
  why('events: one', 'status 500 | 200', 'The same: theirs found no event to read'),
  why('events: batch', 'status 500 | 200', 'The same'),
  why('*', 'type $.secret_registry.secret_sources.*.value null | string', 'A mask tells that there is a value'),
  why('conversation: fork', 'value $.confirmation_policy.kind *', 'A copy asks as its source does'),
  why('conversation: fork', 'type $.security_analyzer *', 'The same'),
  why('conversation: fork', '+ $.secret_registry.*', 'A copy has the secrets of its source'),
  why('conversation: removed twice', 'status 400 | 404', 'An unknown conversation is 404 (decisions 17)'),
]

/** Requests that follow from the descriptions. */
const ofRequests: readonly Deliberate[] = [
  why(
    '* /api/conversations/{conversation_id}*', 'status 404 | 422',
    'A request is read before its conversation is looked up',
  ),
  why(
    '* /api/conversations/{conversation_id}*: unknown id', 'status 400 | 404',
    'An unknown conversation is 404 (decisions 17)',
  ),
  why('PATCH /api/conversations/{conversation_id}: unknown id', 'status 200 | 404', 'The same'),
  why('*: include_skills is wrong', 'status 422 | 404', 'Ignored where no member of the response depends on it'),
  why('GET /api/git/*: path is wrong', 'status 500 | 400', 'A path with NUL is a mistake of the client'),
  why('POST /api/file/upload: path is wrong', 'status 422 | 400', 'The path is checked before the body is read'),
  why('POST /api/*: no body', 'status 422 | 200', 'Every member is optional, so the body is'),
  why('POST /api/settings/mcp/{settings_key}: *', 'status 201 | 422', 'A server without command and url is refused'),
  why('* /api/settings/mcp/{settings_key}: *', 'status 200 | 404', 'The same: so nothing is there'),
  why('* /v1/*', '+ $.error', "Errors have OpenAI's form, which its clients read"),
  why('POST /v1/chat/completions: *', 'status 422 | 400', "OpenAI's API answers 400 for a request that is not valid"),
]

export const deliberate: readonly Deliberate[] = [
  ...everywhere, ...ofServer, ...ofSettings, ...ofMachine, ...ofConversations, ...ofRequests, ...inTalks,
]

/** Operations of the public server that this one does not have, so that nothing compares them. */
export const notCompared: Readonly<Record<string, string>> = {
  'POST /api/llm/subscription/openai/device/poll': 'there is no sign-in with a subscription',
  'GET /api/conversations/{}/workspace': 'it is one path with /workspace/{path} here',
}
