/** The pages of settings in the page, and the forms that store something. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, until } from '../client/steps.mjs'
import { ask, home, mcp, page, sees, shot, test } from './page.mjs'

const pages = {
  '/settings/agents': 'Available Profiles',
  '/settings/llm': 'Provider connections',
  '/settings/condenser': 'Enable Memory Condensation',
  '/settings/agent-context': 'Persistent Agent Memory',
  '/settings/verification': 'Confirmation Mode',
  '/settings/app': 'Conversation titles',
  '/settings/secrets': 'Add a new secret',
  '/mcp': 'Add custom server',
  '/skills': 'Add skill',
  '/plugins': 'Add plugin',
  '/apps': 'No apps are installed',
  '/automations': 'Automations Unavailable',
}

export async function openPages() {
  for (const [path, text] of Object.entries(pages)) {
    await shot(`page ${path}`, async () => {
      await page.goto(home + path)
      await sees(text)
    })
  }
}

export async function fillForms() {
  await shot('form: a secret', async () => {
    await page.goto(`${home}/settings/secrets`)
    await page.getByText('Add a new secret').first().click()
    await test('name-input').fill('MY_TOKEN')
    await test('value-input').fill('value-of-my-token')
    await test('submit-button').click()
    await sees('MY_TOKEN')
    equal((await ask('GET', '/api/settings/secrets')).secrets.map(({ name }) => name), ['MY_TOKEN'])
  })
  await shot('form: an MCP server, which is tried first', async () => {
    await page.goto(`${home}/mcp`)
    await test('mcp-add-custom-server').click()
    await test('server-type-dropdown').click()
    await page.getByRole('option', { name: /HTTP/i }).first().click()
    await test('server-name-input').fill('tracker')
    await test('url-input').fill(mcp)
    await test('submit-button').last().click()
    const servers = async () => Object.keys((await ask('GET', '/api/settings')).agent_settings.mcp_config)
    await until(async () => (await servers()).includes('tracker'), 'the server in the settings')
  })
  await shot('form: a provider connection', async () => {
    await page.goto(`${home}/settings/llm`)
    await test('add-provider-connection').click()
    await test('provider-connection-name-input').fill('Team key')
    await test('provider-connection-provider-input').fill('OpenAI')
    await page.getByRole('option').first().click()
    await test('provider-connection-api-key-input').fill('key-of-the-team-1234')
    await test('provider-connection-submit').click()
    await until(async () => (await ask('GET', '/api/llm/provider-connections')).length === 1, 'the connection')
  })
  await shot('form: an LLM profile, from the lists of providers and models', async () => {
    await page.goto(`${home}/settings/llm`)
    await test('add-llm-profile').click()
    await test('profile-name-input').fill('scripted')
    for (const [id, text] of [['llm-provider-input', 'demo'], ['llm-model-input', 'scripted']]) {
      await test(id).fill(text)
      await page.getByRole('option').first().click()
    }
    await test('llm-api-key-input').fill('no-key-is-needed')
    await test('save-profile-btn').click()
    await until(async () => (await ask('GET', '/api/profiles')).profiles[0]?.model === 'demo/scripted', 'the profile')
  })
  await shot('form: an agent profile with that model', async () => {
    await page.goto(`${home}/settings/agents`)
    await page.getByText('Add agent profile').first().click()
    await test('agent-profile-name-input').fill('helper')
    await test('save-agent-profile-btn').click()
    const profiles = async () => (await ask('GET', '/api/agent-profiles')).profiles
    await until(async () => (await profiles()).some((one) => one.llm_profile_ref === 'scripted'), 'the agent profile')
  })
}

/** Saves a switch of each page with a form, and looks at the stored setting. */
export async function changeSwitches() {
  const agent = async () => (await ask('GET', '/api/settings')).agent_settings
  const conversation = async () => (await ask('GET', '/api/settings')).conversation_settings
  const app = async () => (await ask('GET', '/api/settings')).misc_settings.app_preferences
  const switches = [
    ['/settings/condenser', 'Enable Memory Condensation', async () => (await agent()).condenser?.enabled === false],
    ['/settings/agent-context', 'Persistent Agent Memory', async () => (await agent()).agent_context?.load_memory],
    ['/settings/verification', 'Confirmation Mode', async () => (await conversation()).confirmation_mode],
    ['/settings/verification', 'Confirmation Mode', async () => !(await conversation()).confirmation_mode],
    ['/settings/app', 'Sound Notifications', async () => (await app()).enable_sound_notifications],
  ]
  for (const [path, text, isStored] of switches) {
    await shot(`switch: ${text}`, async () => {
      await page.goto(home + path)
      await page.getByText(text, { exact: true }).click()
      await page.getByRole('button', { name: 'Save Changes' }).click()
      await until(isStored, text)
    })
  }
}

/** Turns a skill of the page on and off. */
export async function switchSkill() {
  const enabled = async () => (await ask('GET', '/api/settings')).misc_settings.app_preferences.enabled_skills ?? []
  for (const isOn of [true, false]) {
    await shot(`skill: ${isOn ? 'enabled' : 'disabled'}`, async () => {
      await page.goto(`${home}/skills`)
      await test('skill-toggle-add-javadoc').hover()
      await test('skill-toggle-add-javadoc').click()
      await until(async () => (await enabled()).includes('add-javadoc') === isOn, 'the list of enabled skills')
    })
  }
}

/** Turns an MCP server of the page off and on, and removes it. */
export async function manageMcpServer() {
  const tracker = async () => (await ask('GET', '/api/settings')).agent_settings.mcp_config.tracker
  for (const isOn of [false, true]) {
    await shot(`MCP server: ${isOn ? 'enabled' : 'disabled'}`, async () => {
      await page.goto(`${home}/mcp`)
      await page.locator('[data-testid^="mcp-installed-toggle-"]').first().hover()
      await page.locator('[data-testid^="mcp-installed-toggle-"]').first().click()
      await until(async () => (await tracker()).enabled === isOn, 'the setting of the server')
    })
  }
  await shot('MCP server: removed', async () => {
    await page.goto(`${home}/mcp`)
    await page.getByText('tracker', { exact: true }).first().click()
    await test('mcp-custom-editor-delete').click()
    await test('confirm-button').click()
    await until(async () => await tracker() === undefined, 'the end of the server')
  })
}

/** Installs a plugin with a skill from a folder, disables and enables it, and removes it. */
export async function managePlugin() {
  const folder = await mkdtemp(join(tmpdir(), 'gui-plugin-'))
  await writePlugin(folder)
  const installed = async () => (await ask('GET', '/api/plugins/installed')).plugins
  await shot('plugin: installed from a folder', async () => {
    await page.goto(`${home}/plugins`)
    await test('plugins-add-plugin-button').click()
    await test('add-plugin-source-input').fill(folder)
    await test('add-plugin-submit').click()
    await test('plugin-card-greeter').waitFor()
    equal((await installed()).map(({ name, enabled }) => [name, enabled]), [['greeter', true]])
  })
  for (const isOn of [false, true]) {
    await shot(`plugin: ${isOn ? 'enabled' : 'disabled'}`, async () => {
      // The button changes its picture under the pointer, and loses a click that comes at the same time.
      await test('plugin-toggle-greeter').hover()
      if (!isOn) await page.locator('[data-testid="plugin-toggle-greeter"][data-showing-remove="true"]').waitFor()
      await test('plugin-toggle-greeter').click()
      await page.mouse.move(0, 0)
      await until(async () => (await installed())[0].enabled === isOn, 'the state of the plugin')
    })
  }
  await shot('plugin: its details, then removed', async () => {
    await test('plugin-card-greeter').click()
    await test('plugin-detail-uninstall-greeter').click()
    await until(async () => (await installed()).length === 0, 'the end of the plugin')
  })
  await rm(folder, { recursive: true })
}

async function writePlugin(folder) {
  const manifest = { name: 'greeter', version: '1.0.0', description: 'Greets' }
  await mkdir(join(folder, '.claude-plugin'))
  await writeFile(join(folder, '.claude-plugin', 'plugin.json'), JSON.stringify(manifest))
  await mkdir(join(folder, 'skills', 'greet'), { recursive: true })
  const skill = '---\nname: greet\ndescription: Greets the user\n---\nSay hello.\n'
  await writeFile(join(folder, 'skills', 'greet', 'SKILL.md'), skill)
}
