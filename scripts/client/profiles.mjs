/**
 * What a client asks of stored models, and of the lists of sub-agents, tools and hooks. Nothing here reaches a network:
 * the profiles name the demonstration's model.
 */
import { client, clients, fails, options, workspace } from './connection.mjs'
import { equal, step } from './steps.mjs'

const profiles = new clients.ProfilesClient(options)
const settings = new clients.SettingsClient(options)
const manager = new client.ConversationManager(options)

const llm = { model: 'demo/scripted', api_key: 'key-of-the-profile-0123' }

export async function keepProfiles() {
  await step('ProfilesClient.listProfiles: none', async () => {
    equal(await profiles.listProfiles(), { profiles: [], active_profile: null })
  })
  await step('ProfilesClient.validateProfile', async () => {
    equal(await profiles.validateProfile('fast', { llm }), { valid: true })
    const { valid, error } = await profiles.validateProfile('fast', { llm: { model: 'nobody-knows-it' } })
    equal([valid, typeof error.type, typeof error.message], [false, 'string', 'string'])
  })
  await step('ProfilesClient.saveProfile', async () => {
    equal((await profiles.saveProfile('fast', { llm, include_secrets: true })).name, 'fast')
  })
  await step('ProfilesClient.getProfile', async () => {
    const { config, api_key_set: isSet } = await profiles.getProfile('fast')
    equal([config.model, config.api_key, isSet], [llm.model, null, true])
  })
  await step('ProfilesClient.getProfile encrypted, and saved again', async () => {
    const { config } = await profiles.getProfile('fast', { exposeSecrets: 'encrypted' })
    await profiles.saveProfile('copy', { llm: config })
    equal((await profiles.getProfile('copy', { exposeSecrets: 'plaintext' })).config.api_key, llm.api_key)
  })
  await step('ProfilesClient.activateProfile', async () => {
    equal((await profiles.activateProfile('fast')).llm_applied, true)
    equal((await settings.getSettings()).active_profile, 'fast')
  })
  await step('ProfilesClient.renameProfile', async () => {
    equal((await profiles.renameProfile('fast', 'faster')).name, 'faster')
    equal((await profiles.listProfiles()).active_profile, 'faster')
    await fails(() => profiles.getProfile('fast'), 404)
  })
  await step('ProfilesClient.saveProfile: a bad name', () => fails(() => profiles.saveProfile('a b', { llm }), 422))
}

export async function switchProfiles() {
  const agent = { kind: 'Agent', llm: { model: 'demo/scripted' }, tools: [] }
  const http = new client.HttpClient({ baseUrl: options.host, apiKey: options.apiKey })
  const { data } = await http.post('/api/conversations', { agent, workspace: { working_dir: workspace('profiles') } })
  await step('ConversationManager.switchProfile', async () => {
    await manager.switchProfile(data.id, 'copy')
    const { data: info } = await http.get(`/api/conversations/${data.id}`)
    equal(info.agent.llm.usage_id, 'profile:copy')
  })
  await step('ConversationManager.switchProfile: an unknown one', () => {
    return fails(() => manager.switchProfile(data.id, 'none'), 404)
  })
}

export async function removeProfiles() {
  await step('ProfilesClient.deleteProfile', async () => {
    for (const name of ['copy', 'faster', 'faster']) equal((await profiles.deleteProfile(name)).name, name)
    equal(await profiles.listProfiles(), { profiles: [], active_profile: null })
  })
}

export async function listWhatThereIsNot() {
  const skills = new clients.SkillsClient(options)
  await step('SkillsClient.listInstalledSkills', async () => equal(await skills.listInstalledSkills(), { skills: [] }))
  await step('SkillsClient.installSkill', () => fails(() => skills.installSkill({ source: 'github:a/b' }), 400))
  await step('SkillsClient.refreshSkill: a missing one', () => fails(() => skills.refreshSkill('none'), 404))
  await step('SkillsClient.getSkills', async () => {
    const found = await skills.getSkills({ load_public: false, load_user: false, load_project: false, load_org: false })
    equal(found.skills, [])
  })
  await step('SubAgentsClient.getSubAgents', async () => {
    const { agents } = await new clients.SubAgentsClient(options).getSubAgents()
    const names = ['general-purpose', 'code-explorer', 'bash-runner', 'web-researcher']
    equal(agents.map(({ name, is_builtin: isBuiltIn }) => [name, isBuiltIn]), names.map((name) => [name, true]))
  })
}
