/**
 * Requests and responses about skills, hooks, plugins and sub-agents (contract/others.md, section 4).
 *
 * Fields that ask for skills of the public, of an organisation or of a marketplace are accepted and find nothing: this
 * server fetches none and installs none.
 */
import {
  arrayOf, boolean, defaultTo, integer, mapOf, nullable, number, oneOf, openObject, optional, orNull, ref, required,
  response, string, tolerant, unread, type Definitions, type Endpoint,
} from './define.ts'
import { responseOf, get, inGroup, post } from './operation.ts'

export const skills: Definitions = {
  ExposedUrl: tolerant('An address under which something in the workspace can be reached.', {
    name: required(string),
    url: required(string),
    port: required(integer),
  }),
  SandboxConfig: tolerant('What is reached in the workspace from outside.', {
    exposed_urls: defaultTo([], arrayOf(ref('ExposedUrl'))),
  }),
  SkillsRequest: tolerant('Which skills are asked for.', {
    load_public: unread(defaultTo(true, boolean)),
    load_user: defaultTo(true, boolean),
    load_project: defaultTo(true, boolean),
    load_org: unread(defaultTo(true, boolean)),
    marketplace_path: unread(optional(string)),
    registered_marketplaces: defaultTo([], arrayOf(openObject)),
    project_dir: optional(string, 'A folder; a relative one begins at the workspace folder.'),
    org_configs: unread(optional(arrayOf(openObject))),
    org_config: unread(optional(openObject)),
    sandbox_config: optional(ref('SandboxConfig')),
  }),
  SkillInfo: response('A skill.', {
    name: required(string),
    type: required(oneOf('repo', 'knowledge', 'agentskills')),
    content: required(string),
    triggers: required(arrayOf(string)),
    source: required(nullable(string), 'Its file.'),
    description: required(nullable(string)),
    is_agentskills_format: required(boolean),
    disable_model_invocation: required(boolean),
  }),
  SkillsResponse: response('Skills, one of each name, and how many each source has.', {
    skills: required(arrayOf(ref('SkillInfo'))),
    sources: required(mapOf(integer)),
  }),
  SkillsSyncResponse: response('What became of the public skills.', {
    status: required(oneOf('success', 'error')),
    message: required(string),
  }),
  InstalledSkills: response('Skills that this server has fetched: none.', { skills: required(arrayOf(openObject)) }),
  InstalledPlugins: response('Plugins that this server has fetched: none.', { plugins: required(arrayOf(openObject)) }),
  SubAgentsRequest: tolerant('Which sub-agents are asked for.', {
    load_user: defaultTo(true, boolean),
    load_project: defaultTo(true, boolean),
    load_builtin: defaultTo(true, boolean),
    project_dir: optional(string),
  }),
  SubAgentInfo: response('A sub-agent.', {
    name: required(string),
    description: required(string),
    model: required(string, 'Always `inherit`: the model of the agent that gives the task.'),
    color: orNull(string),
    tools: required(arrayOf(string), 'Empty: all tools of the agent that gives the task.'),
    skills: required(arrayOf(string)),
    system_prompt: required(string),
    when_to_use_examples: required(arrayOf(string)),
    permission_mode: orNull(string, 'Effective where it is stricter than the policy of the conversation.'),
    max_iteration_per_run: orNull(integer),
    max_budget_per_run: orNull(number, 'In US dollars.'),
    metadata: required(openObject),
    level: required(oneOf('builtin', 'user', 'project')),
    source: orNull(string, 'The path of its file.'),
    is_builtin: required(boolean),
  }),
  SubAgentsResponse: response('Sub-agents that this server can run.', {
    agents: required(arrayOf(ref('SubAgentInfo'))),
  }),
  HooksRequest: tolerant('Whose hooks.', { project_dir: optional(string) }),
  HooksResponse: response('The hooks of a project; null without any.', {
    hook_config: required(nullable(ref('HookConfig'))),
  }),
}

export const skillEndpoints: readonly Endpoint[] = inGroup('Skills', [
  {
    ...post('/api/skills', 'Find skills', 'SkillsRequest'),
    isBodyOptional: true,
    responses: { 200: responseOf('The skills found', ref('SkillsResponse')) },
  },
  {
    ...post('/api/skills/sync', 'Fetch public skills again'),
    responses: { 200: responseOf('The result', ref('SkillsSyncResponse')) },
  },
  {
    ...post('/api/hooks', 'Read the hooks of a project', 'HooksRequest'),
    isBodyOptional: true,
    responses: { 200: responseOf('The hooks', ref('HooksResponse')) },
  },
  get('/api/skills/installed', 'List installed skills', ref('InstalledSkills')),
  {
    ...post('/api/skills/install', 'Install a skill'),
    responses: { 400: responseOf('This server installs none', ref('ErrorDetail')) },
  },
  get('/api/skills/marketplace', 'List skills to install: none', ref('InstalledSkills')),
  {
    ...post('/api/plugins', 'Find plugins'),
    responses: { 200: responseOf('None: this server has no plugins', ref('InstalledPlugins')) },
  },
  {
    ...post('/api/plugins/install', 'Install a plugin'),
    responses: { 400: responseOf('This server installs none', ref('ErrorDetail')) },
  },
  get('/api/plugins/installed', 'List installed plugins', ref('InstalledPlugins')),
  get('/api/plugins/marketplace', 'List plugins to install: none', ref('InstalledPlugins')),
  {
    ...post('/api/sub-agents', 'Find sub-agents', 'SubAgentsRequest'),
    isBodyOptional: true,
    responses: { 200: responseOf('The sub-agents found', ref('SubAgentsResponse')) },
  },
  get('/api/tools/', 'List the tools of the built-in agent', arrayOf(string)),
])
