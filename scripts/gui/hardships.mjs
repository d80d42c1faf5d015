/** What goes wrong or is large: uploads, a killed server, a long history, a model that cannot be reached. */
import { Buffer } from 'node:buffer'
import { equal, until } from '../client/steps.mjs'
import { finished, newest, say } from './conversations.mjs'
import { ask, home, killServer, page, sees, serverIsBack, shot, test } from './page.mjs'

/** A red PNG of one pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==', 'base64')
const messages = 240

export async function uploadFiles() {
  await shot('an image and a file are added', async () => {
    await test('upload-image-input').first().setInputFiles([
      { name: 'pixel.png', mimeType: 'image/png', buffer: pixel },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('notes of the user') },
    ])
    await sees('notes.txt')
  })
  await shot('the image and the file are sent', async () => {
    await say('look at these')
    const { id, workspace } = await newest()
    const images = async () => {
      const { items } = await ask('GET', `/api/conversations/${id}/events/search?source=user&limit=100`)
      return items.flatMap((event) => event.llm_message?.content ?? []).filter(({ type }) => type === 'image')
    }
    await until(async () => (await images()).length === 1, 'the image in the history')
    equal((await images())[0].image_urls[0].slice(0, 22), 'data:image/png;base64,')
    await finished()
    const search = `find ${workspace.working_dir} -name notes.txt -exec cat {} +`
    equal((await ask('POST', '/api/bash/execute_bash_command', { command: search })).stdout, 'notes of the user')
  })
}

/** The page stays open, without a reload. */
export async function killAndGoOn() {
  await shot('the server is killed while a command runs', async () => {
    await say('run: sleep 61')
    await sees(/^sleep 61/)
    await killServer()
  })
  await shot('the server is back: the page joins again and says why the run ended', async () => {
    await sees(/a restart occurred while the conversation was running/)
    await test('stop-button').waitFor({ state: 'hidden' })
    serverIsBack()
  })
  await shot('a message after the kill', async () => {
    await say('run: echo after-the-kill')
    // The agent is a new process, which gets the history before the message.
    await sees(/Running echo after-the-kill|after-the-kill: done/)
    await finished()
  })
}

export async function readLongHistory() {
  const { id } = await ask('POST', '/api/conversations', { worktree: true, autotitle: false })
  for (let number = 1; number <= messages; number++) {
    const content = [{ type: 'text', text: `message number ${number} of the long history` }]
    await ask('POST', `/api/conversations/${id}/events`, { role: 'user', content, run: false })
  }
  await shot('a long history: its end', async () => {
    await page.goto(`${home}/conversations/${id}`)
    await sees(`message number ${messages} of`)
  })
  await shot('a long history: its beginning, page by page', async () => {
    const first = page.getByText('message number 1 of the long history')
    await page.mouse.move(700, 400)
    await until(async () => {
      await page.mouse.wheel(0, -4000)
      return await first.isVisible().catch(() => false)
    }, 'the first message')
    const seen = await page.getByText(/message number \d+ of the long history/).allTextContents()
    equal(new Set(seen).size, messages)
  })
}

/** The first message of a conversation fails: its reason is shown at once and after a reload. */
export async function failFirst() {
  const banner = test('error-message-banner')
  await shot('the first message fails: the reason is shown', async () => {
    // Nothing listens on the discard port of this machine.
    const llm = { model: 'openai/none', base_url: 'http://127.0.0.1:9/v1', api_key: 'no-key-is-needed', num_retries: 0 }
    await ask('POST', '/api/profiles/unreachable', { llm })
    await ask('POST', '/api/agent-profiles/default', { agent_kind: 'openhands', llm_profile_ref: 'unreachable' })
    await ask('PATCH', '/api/settings', { agent_settings_diff: { agent_kind: 'openhands' } })
    // Activation sets the model of the settings, which a new kind of agent would replace.
    await ask('POST', '/api/profiles/unreachable/activate', {})
    await page.goto(`${home}/conversations`)
    await say('hello, nobody')
    await banner.waitFor()
    equal((await newest()).execution_status, 'error')
  })
  await shot('the reason is shown after a reload', async () => {
    await page.reload()
    await banner.waitFor()
  })
  await shot('the agent of before is chosen again', async () => {
    await ask('POST', '/api/profiles/scripted/activate', {})
    await ask('POST', '/api/agent-profiles/default', {
      agent_kind: 'acp', acp_server: 'custom', acp_command: 'agent-server-demo-agent',
    })
    await ask('PATCH', '/api/settings', {
      agent_settings_diff: { agent_kind: 'acp', acp_server: 'custom', acp_command: 'agent-server-demo-agent' },
    })
  })
}
