/**
 * Drives the published web page as its user would and prints one JSON line for each step.
 *
 * A program of its own (its arguments are told in page.mjs). A step that fails says what was seen; the next one goes on.
 */
import { equal, step, until } from '../client/steps.mjs'
import { close, frames, home, key, page, picture, red, refused, sees, server } from './page.mjs'

const test = (id) => page.getByTestId(id)

async function shot(name, body) {
  await step(name, body)
  await picture(name).catch(() => undefined)
}

async function say(text) {
  await test('chat-input').click()
  await page.keyboard.type(text)
  await test('submit-button').click()
}

async function ask(method, path, body) {
  const headers = { 'X-Session-API-Key': key, 'Content-Type': 'application/json' }
  const response = await fetch(server + path, { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

const finished = async () => (await ask('GET', '/api/conversations/search?limit=1')).items[0]?.execution_status === 'finished'

await shot('first page: the backend is connected, preferences are asked for', async () => {
  await page.goto(home)
  await test('confirm-telemetry-preferences').click()
  await test('onboarding-agent-option-claude-code').click()
  await test('onboarding-agent-next').click()
})
await shot('onboarding: credentials of the agent', async () => {
  await test('onboarding-acp-secrets-next').click()
  await test('onboarding-hello-input').fill('hello there')
})
await shot('onboarding: the first conversation', async () => {
  await test('submit-button').click()
  await sees('Writing agent-server-demo.txt: done.')
  equal((await ask('GET', '/api/agent-profiles')).profiles.map(({ name }) => name), ['default'])
})
await shot('second message: a command runs', async () => {
  await say('run: sleep 60')
  await test('stop-button').waitFor()
})
await shot('stop: the run is paused', async () => {
  await test('stop-button').click()
  await test('play-button').waitFor()
})
await shot('third message, after the stop', async () => {
  await say('run: echo the-third-message')
  await sees('exit code 0')
  await until(finished, 'the end of the run')
})
await step('answers were streamed', () => equal(frames.includes('StreamingDeltaEvent'), true))
await shot('reload: the history is there again', async () => {
  await page.reload()
  await sees('the-third-message')
  await sees('hello there')
})
await shot('the panel beside the conversation, with its files', async () => {
  await test('right-panel-toggle').click()
  await sees('agent-server-demo.txt')
})
const tabs = ['commits', 'tasklist', 'planner', 'terminal', 'browser', 'usage']
for (const tab of tabs) {
  await shot(`tab ${tab}`, async () => {
    await test(`conversation-tab-${tab}`).first().dispatchEvent('click')
    await page.waitForLoadState('networkidle').catch(() => undefined)
  })
}
const pages = {
  '/settings/agents': 'Available Profiles', '/settings/llm': 'Provider connections', '/settings/condenser': 'Enable Memory Condensation',
  '/settings/agent-context': 'Persistent Agent Memory', '/settings/verification': 'Confirmation Mode',
  '/settings/app': 'Conversation titles', '/settings/secrets': 'Add a new secret', '/mcp': 'Add custom server', '/skills': 'Add skill',
  '/plugins': 'Add plugin', '/apps': 'Add app', '/automations': 'Automations Unavailable',
}
for (const [path, text] of Object.entries(pages)) {
  await shot(`page ${path}`, async () => {
    await page.goto(home + path)
    await sees(text)
  })
}
await shot('the built-in agent: a conversation with the model of a profile', async () => {
  await ask('POST', '/api/profiles/scripted', { llm: { model: 'demo/scripted', api_key: 'no-key-is-needed' } })
  await ask('POST', '/api/profiles/scripted/activate', {})
  await ask('POST', '/api/agent-profiles/default', { llm_profile_ref: 'scripted' })
  await ask('PATCH', '/api/settings', { agent_settings_diff: { agent_kind: 'openhands' } })
  await ask('POST', '/api/profiles/scripted/activate', {})
  await page.goto(`${home}/conversations`)
  await say('hello, built-in agent')
  await sees('I am the demonstration model of this server')
  await until(finished, 'the end of the run')
})
await step('no request of the page was answered with an error', () => equal([...refused], []))
await step('nothing of the server is red in the console', () => equal([...red], []))
await close()
