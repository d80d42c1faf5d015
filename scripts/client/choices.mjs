/**
 * What a client offers its user to choose from: agent profiles, models, MCP servers of the settings, and the lists of
 * what this server does not have.
 */
import { client, clients, fails, options, workspace } from './connection.mjs'
import { equal, step, until } from './steps.mjs'

const agents = new clients.AgentProfilesClient(options)
const settings = new clients.SettingsClient(options)
const http = new client.HttpClient({ baseUrl: options.host, apiKey: options.apiKey })
const demo = { agent_kind: 'acp', acp_server: 'custom', acp_command: 'agent-server-demo-agent' }
const unknownId = '00000000-0000-4000-8000-000000000000'

export async function keepAgentProfiles() {
  await step('AgentProfilesClient.listAgentProfiles: the first one is made', async () => {
    const { profiles, active_agent_profile_id: active } = await agents.listAgentProfiles()
    equal([profiles.map(({ name }) => name), profiles[0].id === active], [['default'], true])
  })
  await step('AgentProfilesClient.saveAgentProfile', async () => {
    equal((await agents.saveAgentProfile('mine', demo)).name, 'mine')
    equal((await agents.saveAgentProfile('mine', demo)).name, 'mine')
  })
  await step('AgentProfilesClient.getAgentProfile', async () => {
    const { name, profile } = await agents.getAgentProfile('mine')
    equal([name, profile.agent_kind, profile.revision], ['mine', 'acp', 1])
  })
  await step('AgentProfilesClient.activateAgentProfile', async () => {
    const { profile: { id } } = await agents.getAgentProfile('mine')
    equal((await agents.activateAgentProfile(id)).agent_settings_applied, false)
    equal((await settings.getSettings()).active_agent_profile_id, id)
  })
  await step('AgentProfilesClient.materializeAgentProfile', async () => {
    const { valid, resolved_settings: resolved } = await agents.materializeAgentProfile('mine')
    equal([valid, resolved.acp_command], [true, ['agent-server-demo-agent']])
  })
  await step('AgentProfilesClient.renameAgentProfile', async () => {
    equal((await agents.renameAgentProfile('mine', 'ours')).name, 'ours')
    await fails(() => agents.renameAgentProfile('ours', 'default'), 409)
  })
  await step('AgentProfilesClient: what is not there', async () => {
    await fails(() => agents.getAgentProfile('none'), 404)
    await fails(() => agents.activateAgentProfile(unknownId), 404)
    await fails(() => agents.saveAgentProfile('ours', { ...demo, foreign: 1 }), 422)
  })
}

export async function startWithProfile() {
  await step('a conversation starts with an agent profile', async () => {
    const { profile: { id, revision } } = await agents.getAgentProfile('ours')
    const initial_message = { role: 'user', content: [{ type: 'text', text: 'run: echo hello' }] }
    const body = { agent_profile_id: id, workspace: { working_dir: workspace('agent-profile') }, initial_message }
    const { data } = await http.post('/api/conversations', body)
    equal(data.launched_agent_profile, { agent_profile_id: id, revision })
    const status = async () => (await http.get(`/api/conversations/${data.id}`)).data.execution_status
    await until(async () => (await status()) === 'finished', 'the end of the run')
    await http.delete(`/api/conversations/${data.id}`)
  })
  await step('AgentProfilesClient.deleteAgentProfile', async () => {
    for (const name of ['ours', 'ours', 'default']) equal((await agents.deleteAgentProfile(name)).name, name)
    equal((await settings.getSettings()).active_agent_profile_id, null)
  })
}

export async function chooseModels() {
  const models = new clients.LLMMetadataClient(options)
  await step('LLMMetadataClient.getProviders', async () => {
    equal((await models.getProviders()).includes('openai'), true)
  })
  await step('LLMMetadataClient.getModels', async () => {
    const all = await models.getModels()
    equal((await models.getModels('anthropic')).every((name) => all.includes(name)), true)
    equal(await models.getModels('nobody'), [])
  })
  await step('LLMMetadataClient.getVerifiedModels', async () => {
    equal(Array.isArray((await models.getVerifiedModels()).openai), true)
  })
  await step('LLMMetadataClient: subscriptions', async () => {
    equal(await models.getOpenAISubscriptionModels(), [])
    equal((await models.getOpenAISubscriptionStatus()).connected, false)
    equal((await models.logoutOpenAISubscription()).connected, false)
    await fails(() => models.startOpenAISubscriptionDeviceLogin(), 400)
    await fails(() => models.pollOpenAISubscriptionDeviceLogin('none'), 404)
  })
}

export async function keepMcpServers() {
  await step('SettingsClient.createMcpServer', async () => {
    const server = { url: 'https://mcp.example/', headers: { 'X-Key': 'a-key-0123' } }
    const made = await settings.createMcpServer('tracker', server)
    equal(made.agent_settings.mcp_config.tracker.headers, { 'X-Key': '**********' })
    await fails(() => settings.createMcpServer('tracker', { command: 'true' }), 409)
  })
  await step('SettingsClient.patchMcpServer', async () => {
    const changed = await settings.patchMcpServer('tracker', { enabled: false })
    equal(changed.agent_settings.mcp_config.tracker.enabled, false)
    await fails(() => settings.patchMcpServer('none', { enabled: false }), 404)
  })
  await step('SettingsClient.deleteMcpServer', async () => {
    equal((await settings.deleteMcpServer('tracker')).agent_settings.mcp_config, {})
  })
}

export async function listWhatIsAbsent() {
  const plugins = new clients.PluginsClient(options)
  const skills = new clients.SkillsClient(options)
  const editor = new clients.VSCodeClient(options)
  await step('SkillsClient: a marketplace, and a skill that is not installed', async () => {
    equal(await skills.getMarketplace(), { skills: [] })
    await fails(() => skills.getInstalledSkill('none'), 404)
    await fails(() => skills.toggleSkill('none', true), 404)
    await fails(() => skills.uninstallSkill('none'), 404)
  })
  await step('PluginsClient', async () => {
    equal(await plugins.getPlugins(), { plugins: [] })
    equal(await plugins.getPluginsMarketplace(), { plugins: [] })
    equal(await plugins.listInstalledPlugins(), { plugins: [] })
    await fails(() => plugins.installPlugin({ source: 'github:a/b' }), 400)
    const one = ['getInstalledPlugin', 'setPluginEnabled', 'uninstallPlugin', 'refreshPlugin']
    for (const name of one) await fails(() => plugins[name]('none', true), 404)
  })
  await step('VSCodeClient', async () => {
    equal((await editor.getStatus()).enabled, false)
    await fails(() => editor.getUrl(), 503)
  })
  await step('DesktopClient', () => fails(() => new clients.DesktopClient(options).getUrl(), 503))
}
