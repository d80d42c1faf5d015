/** The first page once more, for every other agent that it offers. */
import { equal } from '../client/steps.mjs'
import { finished, newest } from './conversations.mjs'
import { home, page, sees, shot, test } from './page.mjs'

/** The kind of the agent by the option of the page. */
const agents = { 'codex': 'ACPAgent', 'gemini-cli': 'ACPAgent', 'openhands': 'Agent' }
const answers = {
  Agent: 'I am the demonstration model of this server', ACPAgent: 'Writing agent-server-demo.txt: done.',
}

export async function meetAgain() {
  for (const [agent, kind] of Object.entries(agents)) {
    await shot(`onboarding of ${agent}: the choice`, async () => {
      await page.goto(home)
      await page.evaluate(() => localStorage.clear())
      await page.goto(home)
      await test('confirm-telemetry-preferences').click({ timeout: 3_000 }).catch(() => undefined)
      await test(`onboarding-agent-option-${agent}`).click()
      await test('onboarding-agent-next').click()
    })
    await shot(`onboarding of ${agent}: the credentials`, async () => {
      if (kind === 'ACPAgent') await giveKey()
      else await chooseModel()
      await test('onboarding-hello-input').fill(`hello, ${agent}`)
    })
    await shot(`onboarding of ${agent}: the first conversation`, async () => {
      await test('submit-button').click()
      await sees(answers[kind])
      await finished()
      equal((await newest()).agent.kind, kind)
    })
  }
}

async function chooseModel() {
  for (const [id, text] of [['llm-provider-input', 'demo'], ['llm-model-input', 'scripted']]) {
    await test(id).fill(text)
    await page.getByRole('option').first().click()
  }
  await test('llm-api-key-input').fill('no-key-is-needed')
  await test('onboarding-llm-next').click()
}

/** Gemini CLI needs a key before the page goes on. */
async function giveKey() {
  const next = test('onboarding-acp-secrets-next')
  const key = test('onboarding-acp-secret-GEMINI_API_KEY')
  if (await key.isVisible()) await key.fill('key-of-the-agent-1234')
  await next.click()
}
