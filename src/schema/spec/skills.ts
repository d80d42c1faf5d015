/**
 * Requests and responses about skills, hooks, plugins and sub-agents (contract/others.md, section 4).
 *
 * Fields that ask for skills from the network (public skills, or skills of an organisation or a marketplace) are
 * accepted without effect.
 */
import {
  arrayOf, boolean, defaultTo, integer, integerOf, mapOf, nullable, number, numberOf, oneOf, openObject, optional,
  orNull, ref, required, response, string, stringOf, tolerant, unread, type Definitions, type Endpoint,
} from './define.ts'
import { conflict, responseOf, get, inGroup, post, type Operation } from './operation.ts'

const record = {
  name: required(string),
  version: required(string),
  description: required(string),
  enabled: required(boolean),
  source: required(string, 'As it was given.'),
  resolved_ref: required(nullable(string), 'The id of the commit, for a git repository.'),
  repo_path: required(nullable(string)),
  installed_at: required(string, 'ISO 8601, UTC.'),
}

/** The names that an installed skill or plugin may have. */
export const extensionName = stringOf({ pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$', maxLength: 64 })

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
  InstallRequest: tolerant('What to install, and from where.', {
    source: required(
      stringOf({ minLength: 1, maxLength: 4096 }),
      'The absolute path of a folder or an archive (zip, tar, tar.gz), the https address of a git repository, or ' +
        '`github:owner/repository`, optionally with a path in it.',
    ),
    ref: optional(stringOf({ minLength: 1, maxLength: 256 }), 'A branch, a tag or a whole commit id, for git.'),
    repo_path: optional(stringOf({ maxLength: 1024 }), 'The folder inside the source.'),
    force: defaultTo(false, boolean, 'Whether an installed one of the same name is replaced.'),
  }),
  UpdateExtensionRequest: tolerant('A change of something installed.', { enabled: required(boolean) }),
  UpdatedExtension: response('The state after a change.', { name: required(string), enabled: required(boolean) }),
  RemovedExtension: response('What was removed.', { message: required(string) }),
  ExtensionRecord: tolerant('The stored record of an installed skill or plugin.', {
    ...record,
    ref: orNull(string),
  }),
  InstalledSkill: response('An installed skill.', { ...record, install_path: required(string) }),
  PluginSkill: response('A skill of a plugin.', { name: required(string), description: required(nullable(string)) }),
  InstalledPlugin: response('An installed plugin.', {
    ...record,
    install_path: required(string),
    skills: required(nullable(arrayOf(ref('PluginSkill'))), 'Null when its files cannot be used.'),
    files: required(nullable(arrayOf(string)), 'Null when its files cannot be used.'),
  }),
  InstalledSkills: response('The installed skills.', { skills: required(arrayOf(ref('InstalledSkill'))) }),
  LoadPluginRequest: tolerant('A plugin for a conversation that exists.', {
    plugin_ref: required(stringOf({ minLength: 1, maxLength: 4096 }), 'Its name, perhaps with `@` and a marketplace.'),
  }),
  InstalledPlugins: response('The installed plugins.', { plugins: required(arrayOf(ref('InstalledPlugin'))) }),
  RefreshedSkill: response('A skill that was installed again.', {
    message: required(string),
    skill: required(ref('InstalledSkill')),
  }),
  RefreshedPlugin: response('A plugin that was installed again.', {
    message: required(string),
    plugin: required(ref('InstalledPlugin')),
  }),
  SkillMarketplace: response('Skills to install: none, since this server knows no marketplace.', {
    skills: required(arrayOf(openObject)),
  }),
  PluginMarketplace: response('Plugins to install: none, since this server knows no marketplace.', {
    plugins: required(arrayOf(openObject)),
  }),
  PluginsRequest: tolerant('Which plugins are asked for.', {
    load_user: defaultTo(true, boolean),
    load_project: defaultTo(true, boolean),
    project_dir: optional(string, 'A folder; a relative one begins at the workspace folder.'),
  }),
  PluginInfo: response('A plugin on this machine.', {
    name: required(string),
    version: required(string),
    description: required(string),
    path: required(string),
    skills: required(arrayOf(ref('PluginSkill'))),
    files: required(arrayOf(string), 'Relative to its path.'),
  }),
  PluginsResponse: response('Plugins, one of each name.', { plugins: required(arrayOf(ref('PluginInfo'))) }),
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
  AgentDefinition: tolerant('The definition of a sub-agent, in a request.', {
    name: required(stringOf({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$' })),
    description: defaultTo('', stringOf({ maxLength: 20_000 })),
    model: unread(defaultTo('inherit', string, 'A sub-agent has the model of the agent that gives the task.')),
    color: orNull(stringOf({ maxLength: 64 })),
    tools: defaultTo(
      [], arrayOf(stringOf({ maxLength: 64 }), { maxItems: 1000 }),
      'Those that the agent has too. Empty: all tools of the agent that gives the task.',
    ),
    skills: unread(defaultTo([], arrayOf(string))),
    system_prompt: defaultTo('', stringOf({ maxLength: 100_000 }), 'Added to the system prompt.'),
    when_to_use_examples: defaultTo([], arrayOf(stringOf({ maxLength: 20_000 }), { maxItems: 100 })),
    permission_mode: orNull(
      oneOf('always_confirm', 'confirm_risky', 'never_confirm'),
      'Effective where it is stricter than the policy of the conversation.',
    ),
    max_iteration_per_run: orNull(integerOf({ exclusiveMinimum: 0 })),
    max_budget_per_run: orNull(numberOf({ exclusiveMinimum: 0 }), 'In US dollars.'),
    mcp_config: unread(orNull(openObject, 'A sub-agent without `tools` has the MCP servers of the conversation.')),
    hooks: orNull(openObject, 'Refused unless empty: hooks of a sub-agent are those of the conversation.'),
    condenser: unread(orNull(openObject, 'A sub-agent has the condenser of the conversation.')),
    profile_store_dir: unread(orNull(string)),
    level: unread(orNull(string)),
    source: unread(orNull(string)),
    metadata: unread(defaultTo({}, openObject)),
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
  ...installedOperations('skill'),
  get('/api/skills/marketplace', 'List skills to install: none', ref('SkillMarketplace')),
  {
    ...post('/api/plugins', 'Find plugins', 'PluginsRequest'),
    isBodyOptional: true,
    responses: { 200: responseOf('The plugins found', ref('PluginsResponse')) },
  },
  ...installedOperations('plugin'),
  get('/api/plugins/marketplace', 'List plugins to install: none', ref('PluginMarketplace')),
  {
    ...post('/api/conversations/{conversation_id}/load_plugin', 'Load a plugin: always refused', 'LoadPluginRequest'),
    responses: { 400: conflict('No marketplaces are registered'), 404: conflict('No such conversation') },
  },
  {
    ...post('/api/sub-agents', 'Find sub-agents', 'SubAgentsRequest'),
    isBodyOptional: true,
    responses: { 200: responseOf('The sub-agents found', ref('SubAgentsResponse')) },
  },
  get('/api/tools/', 'List the tools of the built-in agent', arrayOf(string)),
])

/** Returns the operations on installed skills or plugins. Both have the same operations. */
function installedOperations(what: 'skill' | 'plugin'): readonly Operation[] {
  const title = what === 'skill' ? 'Skill' : 'Plugin'
  const [one, all, refreshed] = [`Installed${title}`, `Installed${title}s`, `Refreshed${title}`]
  const path = `/api/${what}s/installed/{${what}_name}`
  const missing = conflict('Nothing of this name is installed')
  const failed = conflict('The source cannot be fetched')
  return [
    get(`/api/${what}s/installed`, `List installed ${what}s`, ref(all)),
    {
      ...post(`/api/${what}s/install`, `Install a ${what}`, 'InstallRequest'),
      responses: {
        200: responseOf('Installed', ref(one)),
        400: failed,
        403: conflict('The source may not be read'),
        404: conflict('Nothing is at the path'),
        409: conflict('One of this name is installed'),
      },
    },
    {
      ...get(path, `Get an installed ${what}`, ref(one)),
      responses: { 200: responseOf('Installed', ref(one)), 404: missing },
    },
    {
      ...post(path, `Enable or disable an installed ${what}`, 'UpdateExtensionRequest'),
      method: 'PATCH',
      responses: { 200: responseOf('Changed', ref('UpdatedExtension')), 404: missing },
    },
    {
      ...post(path, `Remove an installed ${what}`),
      method: 'DELETE',
      responses: { 200: responseOf('Removed', ref('RemovedExtension')), 404: missing },
    },
    {
      ...post(`${path}/refresh`, `Install a ${what} again from its source`),
      responses: { 200: responseOf('Installed', ref(refreshed)), 400: failed, 404: missing },
    },
  ]
}
