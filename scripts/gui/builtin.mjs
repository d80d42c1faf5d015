/** The built-in agent with a stand-in for a model: its terminal and browser, two questions, a goal, a side question. */
import { until } from '../client/steps.mjs'
import { finished, say } from './conversations.mjs'
import { ask, home, model, page, sees, shot, test } from './page.mjs'

export async function useTools() {
  await shot('the built-in agent runs a command', async () => {
    await chooseModel()
    await page.goto(`${home}/conversations`)
    await say('please run a command')
    await sees('It ran.')
    await finished()
  })
  await shot('tab terminal: the command and its output', async () => {
    // The tab shows commands that run while the page is open.
    await say('please run a command again')
    await until(async () => (await page.getByText('It ran.').count()) === 2, 'the second answer')
    await finished()
    await open('terminal')
    await page.locator('.xterm-rows').getByText('from-the-terminal').first().waitFor()
  })
  await shot('tab browser: the page that the agent opened', async () => {
    await say(`please open ${home}/`)
    await sees('The page is open.')
    await finished()
    await open('browser')
    await page.locator('img[src^="data:image/png;base64,"]').first().waitFor()
  })
  await shot('tab usage: the tokens of the model', async () => {
    await open('usage')
    await sees('Token Usage')
    await sees('Cache Hit')
  })
}

/** While the page is open, and when it is opened afterwards. */
export async function repeatItself() {
  const reason = 'The agent repeated itself, so its run was ended'
  await shot('a run that is stuck: the reason is shown', async () => {
    await say('please do the same again and again')
    await test('error-message-banner').getByText(reason).waitFor()
  })
  await shot('a run that is stuck: the reason is shown after a reload', async () => {
    await page.reload()
    await test('error-message-banner').getByText(reason).waitFor()
  })
}

export async function askAside() {
  await shot('a side question', async () => {
    await say('/btw what is going on?')
    await test('btw-messages').getByText('Got it').waitFor()
    await test('btw-messages').getByRole('button').first().click()
    await test('btw-messages').getByText('You said: ').waitFor()
  })
  await shot('a goal, and its end', async () => {
    await say('/goal --max 1 say something')
    await sees('You said: say something')
    await test('goal-ended').waitFor()
    await finished()
  })
}

/** The page shows both commands above one button. */
export async function answerTwoQuestions() {
  await shot('two questions of the built-in agent', async () => {
    await ask('PATCH', '/api/settings', { conversation_settings_diff: { confirmation_mode: true } })
    await page.goto(`${home}/conversations`)
    await say('please run two commands')
    await sees('0/2 actions completed')
    await test('action-confirm-button').waitFor()
  })
  await shot('two questions of the built-in agent: the answer counts for both', async () => {
    await test('action-confirm-button').click()
    await sees('Both commands were answered.')
    await finished()
    await ask('PATCH', '/api/settings', { conversation_settings_diff: { confirmation_mode: false } })
  })
}

async function chooseModel() {
  // The page shows the meter of the context for a model whose window is known.
  const window = { max_input_tokens: 100_000 }
  const llm = { model: 'openai/stand-in', base_url: `${model}/v1`, api_key: 'no-key-is-needed', ...window }
  await ask('POST', '/api/profiles/stand-in', { llm })
  await ask('POST', '/api/agent-profiles/default', { agent_kind: 'openhands', llm_profile_ref: 'stand-in' })
  await ask('PATCH', '/api/settings', { agent_settings_diff: { agent_kind: 'openhands' } })
  await ask('POST', '/api/profiles/stand-in/activate', {})
}

async function open(tab) {
  if (!await test(`conversation-tab-${tab}`).first().isVisible()) await test('right-panel-toggle').click()
  await test(`conversation-tab-${tab}`).first().dispatchEvent('click')
}
