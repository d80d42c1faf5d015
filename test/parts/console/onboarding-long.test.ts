/** The first steps in a real Chromium: left at each step in each way, taken up there, and opened again later. */
import * as assert from 'uvu/assert'
import { memberAt } from '../../../src/base/fields.ts'
import { textAt } from '../../support/rest.ts'
import type { TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { driveOne, holdAnswers, signIn, type Tab } from './chromium.ts'
import { untilStatus } from './conversation/driving.ts'

const test = suite('parts/console: leaving the first steps', 120_000)
let server: TestServer
let tab: Tab
const drive = driveOne(test, async (opened) => {
  ({ server, tab } = opened)
  await signIn(tab, server)
})

type Wait = () => Promise<void>

const untilStep = async (title: string): Promise<void> => {
  await tab.until(`document.querySelector('h1')?.textContent === '${title}'
    && document.querySelector('.steps [aria-current]').textContent === '${title}'`)
}

async function reload(): Promise<void> {
  await tab.run('void (window.isOld = true)')
  await tab.call('Page.reload')
  await tab.until("window.isOld === undefined && document.querySelector('.side-foot') !== null")
}

/** Leaves the page, and opens the console anew. Before the first conversation it opens the first steps by itself. */
async function close(): Promise<void> {
  await tab.open('about:blank')
  await tab.until("location.href === 'about:blank'")
  await tab.open(`${server.url}/console/`)
  await tab.until("document.querySelector('.side-foot') !== null")
}

async function otherView(): Promise<void> {
  await tab.click('Settings')
  await tab.until("document.querySelector('.tabs') !== null")
  await tab.click('Set up')
}

/** Leaves the step in each way. `isKept` waits until the step is shown again with the choice. */
async function leaveAndReturn(isKept: Wait): Promise<void> {
  for (const leave of [reload, close, otherView]) {
    await leave()
    await isKept()
  }
}

const chosen = (name: string): Wait => () => tab.until(`document.querySelector('#agent-${name}')?.checked === true`)
const valueOf = (label: string): string => `[...document.querySelectorAll('.step .field')]
  .find((one) => one.textContent.startsWith('${label}'))?.querySelector('input')`
const type = async (label: string, text: string): Promise<void> => {
  await tab.until(`${valueOf(label)} !== undefined`)
  await tab.run(`${valueOf(label)}.focus()`)
  await tab.run(`${valueOf(label)}.select()`)
  await tab.call('Input.insertText', { text })
}

drive('the chosen agent is saved at once', async () => {
  await untilStep('Choose agent')
  await tab.until("document.querySelector('#agent-built-in') !== null")
  await tab.run("document.querySelector('#agent-built-in').click()")
  await tab.untilText('Built-in agent is saved as your agent.')
  await leaveAndReturn(async () => {
    await untilStep('Choose agent')
    await chosen('built-in')()
  })
})

drive('the check of the backend is taken up', async () => {
  await tab.click('Continue')
  await leaveAndReturn(async () => {
    await untilStep('Check backend')
    await tab.until("document.querySelector('.finding') !== null")
  })
})

drive('credentials are saved by going on; a blank field keeps what is set', async () => {
  await tab.click('Continue')
  await untilStep('Credentials')
  await type('Model', 'openai/a-model')
  await type('Key', 'a-key-of-some-length')
  await type('Base URL', 'http://127.0.0.1:9/v1')
  await tab.picture('onboarding-credentials')
  await tab.click('Continue')
  await untilStep('First conversation')
  await tab.click('Back')
  await leaveAndReturn(async () => {
    await untilStep('Credentials')
    await tab.until(`${valueOf('Model')}?.value === 'openai/a-model'`)
    assert.is(await tab.run(`${valueOf('Base URL')}.value`), 'http://127.0.0.1:9/v1')
    assert.equal(await tab.run(`[${valueOf('Key')}.value, ${valueOf('Key')}.placeholder]`), ['', 'Set'])
  })
  await type('Model', 'openai/in-between')
  await type('Key', '  ')
  await tab.click('Save')
  await tab.untilText('Saved.')
  await type('Model', 'openai/a-model')
  await tab.click('Back')
  await untilStep('Check backend')
  assert.is(textAt((await server.rest.get('/api/settings')).json, 'agent_settings', 'llm', 'model'), 'openai/a-model')
  await tab.click('Continue')
  await type('Model', 'openai/another-model')
  await tab.run("[...document.querySelectorAll('.steps a')][1].click()")
  await untilStep('Check backend')
  const { json } = await server.rest.get('/api/settings')
  assert.is(textAt(json, 'agent_settings', 'llm', 'model'), 'openai/another-model')
  assert.is(memberAt(json, 'llm_api_key_is_set'), true)
})

drive('text that is refused keeps the person at the step, and says why; the step can be left all the same', async () => {
  await tab.run("[...document.querySelectorAll('.steps a')][2].click()")
  await untilStep('Credentials')
  await tab.until(`${valueOf('Model')} !== undefined`)
  await tab.run(`void ((one) => { one.value = '' })(${valueOf('Model')})`)
  await tab.click('Continue')
  await tab.untilText('Name a model.')
  await untilStep('Credentials')
  await tab.picture('onboarding-refused')
  await tab.click('Back')
  await untilStep('Check backend')
  const { json } = await server.rest.get('/api/settings')
  assert.is(textAt(json, 'agent_settings', 'llm', 'model'), 'openai/another-model')
})

drive('a save under way brings nobody back who has left; a click with Ctrl is the browser\'s', async () => {
  await tab.click('Continue')
  await tab.until(`${valueOf('Model')} !== undefined`)
  // The listener keeps the browser from opening a tab.
  await tab.run(`void addEventListener('click', (event) => {
    window.isTaken = event.defaultPrevented
    event.preventDefault()
  }, { once: true })`)
  await tab.run(`void document.querySelector('.steps a')
    .dispatchEvent(new MouseEvent('click', { ctrlKey: true, bubbles: true, cancelable: true }))`)
  assert.is(await tab.run('window.isTaken'), false)
  await untilStep('Credentials')
  await type('Model', 'openai/last-model')
  await tab.run("window.outcome = document.querySelector('.step .outcome')")
  const answers = await holdAnswers(tab, /api.settings$/)
  await tab.click('Continue')
  await answers.held()
  await tab.run("void (location.hash = '#/')")
  await tab.until("document.querySelector('.task-box')?.placeholder === 'What is to be done?'")
  await answers.release()
  await tab.until("window.outcome.textContent === 'Saved.'")
  assert.is(await tab.run('location.hash'), '#/')
  await reload()
  await tab.click('Set up')
})

drive('the first message is kept until it is sent; the steps begin anew after it, with what was chosen', async () => {
  await tab.until("document.querySelector('.steps a') !== null")
  await tab.run("[...document.querySelectorAll('.steps a')][0].click()")
  await tab.until("document.querySelector('#agent-demo') !== null")
  await tab.run("document.querySelector('#agent-demo').click()")
  await tab.untilText('Demonstration agent is saved as your agent.')
  await tab.run("[...document.querySelectorAll('.steps a')][3].click()")
  await untilStep('First conversation')
  await tab.until("document.querySelector('.task-box').value !== ''")
  await tab.click('run: ls -la')
  await reload()
  await tab.until("document.querySelector('.task-box')?.value === 'run: ls -la'")
  await tab.type('.task-box', 'run: echo first-of-all')
  await leaveAndReturn(async () => {
    await untilStep('First conversation')
    await tab.until("document.querySelector('.task-box').value === 'run: echo first-of-all'")
  })
  await tab.click('Do this later')
  await tab.until("document.querySelector('.task-box')?.placeholder === 'What is to be done?'")
  await close()
  await tab.until("document.querySelector('.task-box')?.value === 'run: echo first-of-all'")
  await tab.click('Set up')
  await untilStep('First conversation')
  await tab.until("document.querySelector('.chip') !== null")
  await tab.click('Start')
  await tab.until("document.querySelector('.call.is-done') !== null")
  await untilStatus(tab, 'Finished')
  await tab.click('Set up')
  await untilStep('Choose agent')
  await chosen('demo')()
  await tab.picture('onboarding-again')
  await close()
  await tab.until("document.querySelector('.row') !== null && document.querySelector('.task-box')?.value === ''")
})

drive('nothing failed', () => assert.equal(tab.faults, []))

test.run()
