/** What a client asks of the server itself: whether it is there, its settings, its global secrets. */
import { client, clients, demoAgent, fails, options } from './connection.mjs'
import { equal, step } from './steps.mjs'

const server = new clients.ServerClient(options)
const settings = new clients.SettingsClient(options)

export async function describeServer() {
  await step('ServerClient.getAlive', async () => equal(await server.getAlive(), { status: 'ok' }))
  await step('ServerClient.getHealth', async () => equal(await server.getHealth(), { status: 'ok' }))
  await step('ServerClient.getReady', async () => equal(await server.getReady(), { status: 'ready' }))
  await step('ServerClient.getServerInfo', async () => {
    const info = await server.getServerInfo()
    equal([info.version, info.sdk_version, Array.isArray(info.usable_tools)], ['1.43.1', '1.43.1', true])
    equal([typeof info.uptime, typeof info.idle_time], ['number', 'number'])
  })
  await step('ServerClient.getRoot', async () => equal((await server.getRoot()).version, '1.43.1'))
  const http = new client.HttpClient({ baseUrl: options.host, apiKey: options.apiKey })
  for (const [name, requirement] of Object.entries(clients.AgentServerFeatureRequirements)) {
    await step(`assertAgentServerSupports ${name}`, async () => {
      await clients.assertAgentServerSupports(http, requirement)
    })
  }
  await step('a wrong key is refused', async () => {
    const stranger = new clients.SettingsClient({ ...options, apiKey: 'wrong' })
    await fails(() => stranger.getSettings(), 401, { detail: 'Unauthorized' })
  })
}

export async function changeSettings() {
  await step('SettingsClient.getSettings', async () => {
    const found = await settings.getSettings()
    equal([found.agent_settings.agent_kind, found.llm_api_key_is_set], ['acp', false])
    equal([found.active_profile, found.active_agent_profile_id, typeof found.misc_settings], [null, null, 'object'])
    equal(found.conversation_settings.max_iterations, 500)
  })
  await step('SettingsClient.getSettings encrypted', () => settings.getSettings({ exposeSecrets: 'encrypted' }))
  await step('SettingsClient.getSettings plaintext', () => settings.getSettings({ exposeSecrets: 'plaintext' }))
  await step('SettingsClient.updateSettings: a preset', async () => {
    const diff = { agent_kind: 'acp', acp_server: 'codex' }
    const { agent_settings: found } = await settings.updateSettings({ agent_settings_diff: diff })
    equal([found.agent_kind, found.acp_server], ['acp', 'codex'])
    equal([found.acp_command.length > 0, found.acp_model !== null], [true, true])
  })
  await step('SettingsClient.updateSettings: a custom server', async () => {
    const diff = { agent_kind: 'acp', acp_server: 'custom', acp_command: demoAgent.acp_command, acp_model: null }
    const { agent_settings: found } = await settings.updateSettings({ agent_settings_diff: diff })
    equal([found.acp_server, found.acp_command, found.acp_model], ['custom', demoAgent.acp_command, null])
  })
  await step('SettingsClient.updateSettings: preferences', async () => {
    const diff = { app_preferences: { user_consents_to_analytics: false } }
    equal((await settings.updateSettings({ misc_settings_diff: diff })).misc_settings, diff)
  })
  await step('SettingsClient.updateSettings: nothing', () => fails(() => settings.updateSettings({}), 400))
  await step('SettingsClient.updateSettings: an unknown kind', () => {
    return fails(() => settings.updateSettings({ agent_settings_diff: { agent_kind: 'other' } }), 422)
  })
  await step('SettingsClient.getAgentSchema', async () => {
    equal((await settings.getAgentSchema()).model_name, 'AgentSettings')
  })
  await step('SettingsClient.getConversationSchema', async () => {
    equal((await settings.getConversationSchema()).model_name, 'ConversationSettings')
  })
}

export async function keepSecrets() {
  const name = 'VENDORA_API_KEY'
  await step('SettingsClient.upsertSecret', async () => {
    const described = { name, description: 'A key' }
    equal(await settings.upsertSecret({ ...described, value: 'first-value-0123' }), described)
    equal(await settings.upsertSecret({ name, value: 'second-value-0123' }), { name, description: null })
  })
  await step('SettingsClient.listSecrets', async () => {
    equal((await settings.listSecrets()).secrets.map((secret) => secret.name), [name])
  })
  await step('SettingsClient.getSecret', async () => equal(await settings.getSecret(name), 'second-value-0123'))
  await step('SettingsClient.deleteSecret', async () => equal(await settings.deleteSecret(name), { deleted: true }))
  await step('SettingsClient.getSecret: an unknown one', () => fails(() => settings.getSecret(name), 404))
  await step('SettingsClient.upsertSecret: a bad name', () => {
    return fails(() => settings.upsertSecret({ name: '1 A', value: 'x' }), 422)
  })
}
