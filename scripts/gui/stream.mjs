/** The built-in agent while it writes, and its commands: a message, a reload, plan mode, models, compaction, menus. */
import { equal, until } from '../client/steps.mjs'
import { choose, finished, newest, say } from './conversations.mjs'
import { ask, home, page, sees, shot, test } from './page.mjs'

const shown = (text) => page.getByText(text).count()
const events = async () => (await ask('GET', `/api/conversations/${(await newest()).id}/events/search?limit=100`)).items

const menus = [
  ['Show Agent Tools & Metadata', /^Agent Tools & Metadata$/],
  ['Show Available Hooks', /^Available Hooks$/],
  ['Show Available Skills', /^Available Skills$/],
]

export async function writeOn() {
  await shot('a message while the built-in agent writes', async () => {
    await page.goto(`${home}/conversations`)
    await say('please tell a long story')
    await sees(/chapter 3\b/)
    await say('and what of the dog?')
    await until(async () => (await shown('and what of the dog?')) > 0, 'the message')
    await sees(/chapter 20\b/)
  })
  await shot('a message while the built-in agent writes: each text is there once', async () => {
    await sees('You said: and what of the dog?')
    await finished()
    equal(await shown(/chapter 1 of the story/), 1)
    equal(await shown(/chapter 20 of the story/), 1)
  })
  await shot('a message while the built-in agent writes: after a reload', async () => {
    await page.reload()
    await sees('You said: and what of the dog?')
    equal(await shown(/chapter 1 of the story/), 1)
    const words = (await events()).filter(({ kind }) => kind === 'MessageEvent').map(({ source }) => source)
    equal(words, ['user', 'agent', 'user', 'agent', 'agent'])
  })
  await shot('a reload while the built-in agent writes', async () => {
    await say('please tell a long story again')
    await until(async () => (await shown(/chapter 3 of the story/)) > 1, 'the third chapter')
    await page.reload()
    await until(async () => (await shown(/chapter 20 of the story/)) > 1, 'the twentieth chapter')
    const bubbles = await test('agent-message').count()
    await finished()
    equal(await shown(/chapter 1 of the story/), 2)
    equal(await test('agent-message').count(), bubbles)
  })
}

export async function useCommands() {
  await shot('compact: the context is compacted', async () => {
    await test('context-window-meter').first().click()
    await test('context-window-compact-button').click()
    await sees(/Context compacted/)
  })
  await shot('/model shows the profiles', async () => {
    await say('/model')
    await test('model-messages').waitFor()
  })
  await shot('/model NAME switches the model', async () => {
    await say('/model scripted')
    await until(async () => (await newest()).agent.llm.model === 'demo/scripted', 'the other model')
  })
  await shot('plan mode: a plan is asked for', async () => {
    await say('/plan')
    await sees('Planning agent initialized')
    await say('plan what to do')
    await sees(/I planned, looked at the folder/)
    await finished()
  })
  for (const [item, title] of menus) {
    await shot(`menu: ${item}`, async () => {
      await choose(item)
      await sees(title)
    })
    await page.keyboard.press('Escape')
  }
  await shot('code mode: the agent works again', async () => {
    await say('/code')
    await say('hello again')
    await sees('Write a note')
    await finished()
  })
}
