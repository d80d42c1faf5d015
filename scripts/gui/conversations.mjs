/** Conversations in the page: the first one, stop and going on, a reload, questions, another name, the end. */
import { equal, until } from '../client/steps.mjs'
import { setAway } from './network.mjs'
import { ask, asker, enterKey, frames, home, openDirectly, page, sees, sent, shot, test } from './page.mjs'

export const newest = async () => (await ask('GET', '/api/conversations/search?limit=1')).items[0]
export const finished = () => until(async () => (await newest())?.execution_status === 'finished', 'the end of the run')
const tabs = ['commits', 'tasklist', 'planner', 'terminal', 'browser', 'usage']

export async function say(text) {
  await test('chat-input').click()
  await page.keyboard.type(text)
  await test('submit-button').click()
}

/** Opens one menu of the page after the other until the item is there. */
export async function choose(item) {
  const menus = test('ellipsis-button')
  for (let number = 0; number < await menus.count(); number++) {
    await menus.nth(number).click({ timeout: 2_000 }).catch(() => undefined)
    const found = page.getByText(item, { exact: true }).first()
    if (await found.waitFor({ timeout: 1_000 }).then(() => true, () => false)) return found.click()
    await page.keyboard.press('Escape')
  }
  throw new Error(`no menu has ${item}`)
}

/** From the first page to the first answer. */
export async function meetFirst() {
  await shot('first page: the backend is connected', async () => {
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
}

export async function stopAndGoOn() {
  await shot('second message: a command runs', async () => {
    await say('run: sleep 60')
    await test('stop-button').waitFor()
  })
  await shot('stop: the run is paused', async () => {
    await test('stop-button').click()
    await test('play-button').waitFor()
  })
  await shot('resume: the run goes on', async () => {
    await test('play-button').click()
    await finished()
    await test('play-button').waitFor({ state: 'hidden' })
  })
  await shot('third message, after the stop', async () => {
    await say('run: echo the-third-message')
    await sees(/Running echo the-third-message|the-third-message: done/)
    await finished()
  })
  await shot('answers were streamed', async () => equal(frames.includes('StreamingDeltaEvent'), true))
  await shot('further messages went over the socket', async () => {
    equal(sent.some((frame) => frame.includes('run: echo the-third-message')), true)
  })
}

export async function sendInTheRun() {
  await shot('reload in the middle of a run: it goes on', async () => {
    await say('run: sleep 62')
    await sees(/^sleep 62/)
    await page.reload()
    await sees(/^sleep 62/)
    await test('stop-button').waitFor()
    equal((await newest()).execution_status, 'running')
  })
  await shot('a message in the run takes its place', async () => {
    await say('run: echo in-the-run')
    await sees(/Running echo in-the-run|in-the-run: done/)
    await finished()
    await test('stop-button').waitFor({ state: 'hidden' })
  })
}

export async function lookAround() {
  await shot('reload: the history is there again', async () => {
    await page.reload()
    await sees('run: echo the-third-message')
  })
  await shot('the panel beside the conversation', () => test('right-panel-toggle').click())
  for (const tab of tabs) {
    await shot(`tab ${tab}`, async () => {
      await test(`conversation-tab-${tab}`).first().dispatchEvent('click')
      await page.getByText(/^Loading/).first().waitFor({ state: 'hidden' })
    })
  }
}

/** With the LLM profile that the forms made. */
export async function talkToBuiltIn() {
  await shot('the built-in agent answers', async () => {
    // The page starts the profile `default` with the agent settings.
    await ask('POST', '/api/agent-profiles/default', { llm_profile_ref: 'scripted' })
    await ask('PATCH', '/api/settings', { agent_settings_diff: { agent_kind: 'openhands' } })
    await ask('POST', '/api/profiles/scripted/activate', {})
    await page.goto(`${home}/conversations`)
    await say('hello, built-in agent')
    await sees('I am the demonstration model of this server')
    await finished()
    equal((await newest()).agent.kind, 'Agent')
  })
}

export async function answerQuestions() {
  await shot('a question of the agent', async () => {
    await ask('PATCH', '/api/settings', { conversation_settings_diff: { confirmation_mode: true } })
    const demo = { agent_kind: 'acp', acp_server: 'custom', acp_command: 'agent-server-demo-agent' }
    await ask('POST', '/api/agent-profiles/default', demo)
    await ask('PATCH', '/api/settings', { agent_settings_diff: demo })
    await page.goto(`${home}/conversations`)
    await say('hello with questions')
    await test('action-confirm-button').waitFor()
  })
  await shot('the user agrees, and then does not', async () => {
    const asked = async () => (await ask('GET', `/api/conversations/${(await newest()).id}/confirmations`)).items[0]?.id
    const first = await asked()
    await test('action-confirm-button').click()
    await until(async () => ![first, undefined].includes(await asked()), 'the second question')
    await test('action-reject-button').click()
    await finished()
  })
}

/** An agent asks about two commands at once: the page shows the first question, and a click answers that one only. */
export async function answerOneByOne() {
  const asked = async () => (await ask('GET', `/api/conversations/${(await newest()).id}/confirmations`)).items
  const commands = async () => (await asked()).map(({ command }) => command)
  await shot('two questions of an external agent: the first', async () => {
    await ask('POST', '/api/agent-profiles/default', { agent_kind: 'acp', acp_server: 'custom', acp_command: asker })
    await page.goto(`${home}/conversations`)
    await say('ask me twice')
    await test('action-confirm-button').waitFor()
    equal(await commands(), ['touch one'])
    await test('collapsible-thinking-toggle').last().click()
    await sees('Asks: touch one')
  })
  await shot('two questions of an external agent: one click answers the first only', async () => {
    await test('action-confirm-button').click()
    await until(async () => (await commands())[0] === 'touch two', 'the second question')
    await test('action-reject-button').waitFor()
    await test('collapsible-thinking-toggle').last().click()
    await sees('Asks: touch two')
  })
  await shot('two questions of an external agent: the second', async () => {
    await test('action-reject-button').click()
    await finished()
  })
}

export async function talkAcrossOrigins() {
  await shot('from another origin: a wrong key is refused with the reason', async () => {
    await ask('PATCH', '/api/settings', { conversation_settings_diff: { confirmation_mode: false } })
    await openDirectly()
    setAway(true)
    await enterKey('a-wrong-key')
    await sees('Invalid API key')
    setAway(false)
  })
  await shot('from another origin: address and key of the server, and the agent', async () => {
    await enterKey()
    await test('onboarding-agent-option-claude-code').click()
    await test('onboarding-agent-next').click()
    await test('onboarding-acp-secrets-next').click()
    await test('onboarding-hello-input').fill('run: echo across-origins')
  })
  await shot('from another origin: a conversation', async () => {
    await test('submit-button').first().click()
    await sees('exit code 0')
    await finished()
  })
}

export async function renameAndDelete() {
  await shot('another name', async () => {
    await choose('Rename')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('Another name')
    await page.keyboard.press('Enter')
    await until(async () => (await newest()).title === 'Another name', 'the new name')
  })
  await shot('a conversation is deleted', async () => {
    const { id } = await newest()
    await choose('Delete Conversation')
    await page.getByRole('button', { name: 'Confirm Delete' }).click()
    await until(async () => (await newest())?.id !== id, 'the end of the conversation')
    await page.waitForURL((url) => !url.pathname.includes(id))
    await test('error-message-banner').waitFor({ state: 'hidden' })
  })
}
