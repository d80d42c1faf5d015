/** Requests and responses about installed skills and plugins (contract/others.md, section 4). */
import {
  arrayOf, boolean, defaultTo, nullable, oneOf, openObject, optional, orNull, ref, required, response, string, stringOf,
  tolerant, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { conflict, get, inGroup, post, responseOf, type Operation } from '../../schema/spec/operation.ts'

const record = {
  name: required(string),
  version: required(string),
  description: required(string),
  enabled: required(boolean),
  source: required(string, 'The source, as the request gave it.'),
  resolved_ref: required(nullable(string), 'The id of the commit, for a git repository.'),
  repo_path: required(nullable(string)),
  installed_at: required(string, 'ISO 8601, UTC.'),
}

/** The names that an installed skill or plugin may have. */
const extensionName = stringOf({ pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$', maxLength: 64 })

export const definitions: Definitions = {
  SkillsSyncResponse: response('The result of fetching public skills again.', {
    status: required(oneOf('success', 'error')),
    message: required(string),
  }),
  InstallRequest: tolerant('The source of an installation, and the folder in it.', {
    source: required(
      stringOf({ minLength: 1, maxLength: 4096 }),
      'The absolute path of a folder or an archive (zip, tar, tar.gz), the https address of a git repository, or ' +
        '`github:owner/repository`, optionally with a path in it.',
    ),
    ref: optional(stringOf({ minLength: 1, maxLength: 256 }), 'A branch, a tag or a whole commit id, for git.'),
    repo_path: optional(stringOf({ maxLength: 1024 }), 'The folder inside the source.'),
    force: defaultTo(false, boolean, 'True to replace an installed extension of the same name.'),
  }),
  UpdateExtensionRequest: tolerant('A change of an extension.', { enabled: required(boolean) }),
  UpdatedExtension: response('The state after a change.', { name: required(string), enabled: required(boolean) }),
  RemovedExtension: response('A message about the removal.', { message: required(string) }),
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
    plugin_ref: required(stringOf({ minLength: 1, maxLength: 4096 }), 'The name, perhaps with `@` and a marketplace.'),
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
  PluginsRequest: tolerant('The kinds of plugins to list.', {
    load_user: defaultTo(true, boolean),
    load_project: defaultTo(true, boolean),
    project_dir: optional(string, 'A folder; a relative path begins at the workspace folder.'),
  }),
  PluginInfo: response('A plugin on this machine.', {
    name: required(string),
    version: required(string),
    description: required(string),
    path: required(string),
    skills: required(arrayOf(ref('PluginSkill'))),
    files: required(arrayOf(string), 'Paths relative to `path`.'),
  }),
  PluginsResponse: response('Plugins, one of each name.', { plugins: required(arrayOf(ref('PluginInfo'))) }),
}

export const endpoints: readonly Endpoint[] = inGroup('Skills', [
  {
    ...post('/api/skills/sync', 'Fetch public skills again'),
    responses: { 200: responseOf('The result', ref('SkillsSyncResponse')) },
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
])

export const pathParameters = { skill_name: extensionName, plugin_name: extensionName }

/** Returns the routes for installed skills or for installed plugins. */
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
