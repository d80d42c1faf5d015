/**
 * Skills and plugins that a client installs from folders of this machine, what projects bring, and the requests for
 * what this server does not have. Nothing here reaches a network.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clients, fails, options, workspace } from './connection.mjs'
import { equal, step } from './steps.mjs'

const skills = new clients.SkillsClient(options)
const plugins = new clients.PluginsClient(options)
const skillText = (name) => `---\nname: ${name}\ndescription: About ${name}.\n---\nText of ${name}.\n`

function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

export async function installSkills() {
  const source = write(workspace('sources/a-skill'), { 'SKILL.md': skillText('a-skill') })
  await step('SkillsClient.installSkill', async () => {
    const { name, enabled } = await skills.installSkill({ source })
    equal([name, enabled], ['a-skill', true])
    await fails(() => skills.installSkill({ source }), 409)
    equal((await skills.installSkill({ source, force: true })).name, 'a-skill')
  })
  await step('SkillsClient.listInstalledSkills, getInstalledSkill', async () => {
    const one = await skills.getInstalledSkill('a-skill')
    equal([one.description, (await skills.listInstalledSkills()).skills], ['About a-skill.', [one]])
  })
  await step('SkillsClient.toggleSkill', async () => {
    equal(await skills.toggleSkill('a-skill', false), { name: 'a-skill', enabled: false })
    equal((await skills.getInstalledSkill('a-skill')).enabled, false)
    await skills.toggleSkill('a-skill', true)
  })
  await step('SkillsClient.refreshSkill', async () => {
    write(source, { 'SKILL.md': skillText('a-skill').replace('About', 'More about') })
    equal((await skills.refreshSkill('a-skill')).skill.description, 'More about a-skill.')
  })
  await step('SkillsClient.getSkills: an installed one', async () => {
    const chosen = { load_public: false, load_user: true, load_project: false, load_org: false }
    equal((await skills.getSkills(chosen)).skills.map(({ name }) => name).includes('a-skill'), true)
  })
  await step('SkillsClient.uninstallSkill', async () => {
    await skills.uninstallSkill('a-skill')
    await fails(() => skills.uninstallSkill('a-skill'), 404)
  })
  await step('SkillsClient.syncSkills', async () => equal((await skills.syncSkills()).status, 'success'))
}

export async function installPlugins() {
  const hooks = { pre_tool_use: [{ matcher: '*', hooks: [{ command: 'true' }] }] }
  const source = write(workspace('sources/a-plugin'), {
    '.plugin/plugin.json': JSON.stringify({ name: 'a-plugin', version: '1.0.0', description: 'A plugin.' }),
    'skills/inside/SKILL.md': skillText('inside'),
    'hooks/hooks.json': JSON.stringify(hooks),
  })
  await step('PluginsClient.installPlugin: with hooks, so it is disabled', async () => {
    const { name, version, enabled } = await plugins.installPlugin({ source })
    equal([name, version, enabled], ['a-plugin', '1.0.0', false])
  })
  await step('PluginsClient.setPluginEnabled, getInstalledPlugin, listInstalledPlugins', async () => {
    equal(await plugins.setPluginEnabled('a-plugin', true), { name: 'a-plugin', enabled: true })
    const one = await plugins.getInstalledPlugin('a-plugin')
    equal([one.enabled, (await plugins.listInstalledPlugins()).plugins], [true, [one]])
  })
  await step('PluginsClient.refreshPlugin', async () => {
    equal((await plugins.refreshPlugin('a-plugin')).plugin.name, 'a-plugin')
  })
  await step('PluginsClient.uninstallPlugin', async () => {
    await plugins.uninstallPlugin('a-plugin')
    equal(await plugins.listInstalledPlugins(), { plugins: [] })
  })
}

export async function readProject() {
  const hooks = { pre_tool_use: [{ matcher: 'terminal', hooks: [{ command: 'true' }] }] }
  const project = write(workspace('project'), {
    '.openhands/hooks.json': JSON.stringify(hooks),
    '.agents/agents/reviewer.md': '---\nname: reviewer\ndescription: Reviews.\n---\nReview it.\n',
  })
  await step('HooksClient.loadHooks', async () => {
    const loader = new clients.HooksClient(options)
    equal((await loader.loadHooks({ project_dir: project })).hook_config.pre_tool_use[0].matcher, 'terminal')
    equal(await loader.loadHooks({ project_dir: workspace('nothing') }), { hook_config: null })
  })
  await step('SubAgentsClient.getSubAgents: of a project', async () => {
    const { agents } = await new clients.SubAgentsClient(options).getSubAgents({ project_dir: project })
    equal(agents.find(({ name }) => name === 'reviewer')?.level, 'project')
  })
  await step('ToolClient.listTools', async () => {
    equal((await new clients.ToolClient(options).listTools()).includes('terminal'), true)
  })
}

/** What belongs to other services, or to servers of a later level. */
export async function askOtherServices() {
  const meta = new clients.MetaProfilesClient(options)
  const shared = new clients.SharedClient(options)
  await step('MetaProfilesClient: not of this level', async () => {
    await fails(() => meta.listMetaProfiles(), 404)
    for (const ask of ['getMetaProfile', 'deleteMetaProfile', 'activateMetaProfile']) {
      await fails(() => meta[ask]('a'), 404)
    }
    await fails(() => meta.saveMetaProfile('a', {}), 404)
  })
  await step('SharedClient: not of an agent server', async () => {
    await fails(() => shared.getSharedConversations(['a']), 404)
    await fails(() => shared.searchSharedEvents({ conversationId: 'a' }), 404)
  })
  await step('AgentServerClient.get, post, patch, put, delete: requests of the caller', async () => {
    const server = new clients.AgentServerClient(options)
    equal(await server.get('/alive'), { status: 'ok' })
    equal((await server.server.getServerInfo()).version, (await server.get('/server_info')).version)
    equal(await server.put('/api/settings/secrets', { name: 'A_NAME', value: 'a-value-0123' }), {
      name: 'A_NAME', description: null,
    })
    equal(await server.delete('/api/settings/secrets/A_NAME'), { deleted: true })
    await fails(() => server.patch('/api/settings', {}), 400)
    equal((await server.post('/api/hooks', {})).hook_config, null)
  })
}
