/** Lists and panels whose request fails, in a real Chromium: each says so and why, and reads again on request. */
import * as assert from 'uvu/assert'
import type { TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { driveOne, signIn, type Tab } from './chromium.ts'
import { prepare, type Prepared } from './views.ts'

const test = suite('parts/console: failed loads in Chromium', 120_000)
let server: TestServer
let tab: Tab
let prepared: Prepared

const drive = driveOne(test, async (opened) => {
  ({ server, tab } = opened)
  // Requests whose address matches `localStorage.failing` are answered with status 500.
  await tab.call('Page.addScriptToEvaluateOnNewDocument', { source: `{
    const real = fetch
    window.fetch = async (url, ...more) => {
      const failing = localStorage.getItem('failing') ?? ''
      if (failing === '' || !new RegExp(failing).test(new URL(url).pathname)) return real(url, ...more)
      return Response.json({ detail: 'the disk is full' }, { status: 500 })
    }
  }` })
  await signIn(tab, server)
  prepared = await prepare(server)
})

/** Lets the requests of this address fail while `open` opens a view. Then presses `Try again` until nothing fails. */
async function assertTold(failing: string, what: string, open: () => Promise<void>, wanted: string): Promise<void> {
  await tab.run(`localStorage.setItem('failing', ${JSON.stringify(failing)})`)
  await open()
  await tab.untilText(`${what} could not be read: the disk is full`)
  const text = String(await tab.run('document.body.innerText'))
  assert.not.match(text, /No \S+( \S+)? yet|Nothing differs|lacks the scope/)
  await tab.picture(`load-${what.replaceAll(' ', '-')}`)
  await tab.run("localStorage.removeItem('failing')")
  await tab.run("document.querySelectorAll('.load-fault button').forEach((one) => one.click())")
  await tab.until(`document.querySelector('.load-fault') === null && document.querySelector('${wanted}') !== null`)
}

async function go(path: string): Promise<void> {
  await tab.run("void (location.hash = '#/none')")
  await tab.until("document.querySelector('.task-box') !== null")
  await tab.run(`void (location.hash = '#${path}')`)
}

drive('the list of conversations, and the choices of a new conversation', async () => {
  const reload = (): Promise<unknown> => tab.call('Page.reload')
  await assertTold('/api/conversations/search$', 'The list', async () => void await reload(), '.row')
  await assertTold('/api/workspaces$', 'The agents and folders', () => go('/none/again'), 'select option + option')
})

drive('a chosen agent is still chosen when the choices are read again', async () => {
  await tab.run("localStorage.setItem('failing', '/api/workspaces$')")
  await go('/none/chosen')
  await tab.until("document.querySelector('.load-fault') !== null && document.querySelector('select option + option') !== null")
  const chosen = await tab.run(`(() => {
    const agent = document.querySelector('select')
    return agent.value = agent.options[1].value
  })()`)
  await tab.run("localStorage.removeItem('failing')")
  await tab.click('Try again')
  await tab.until("document.querySelector('.load-fault') === null")
  assert.is(await tab.run("document.querySelector('select').value"), chosen)
})

drive('the keyboard stays at the place of a failure that it reads again', async () => {
  await tab.run("localStorage.setItem('failing', '/api/settings/secrets$')")
  await go('/settings/secrets')
  await tab.until("document.querySelector('.load-fault button') !== null")
  await tab.run("void (window.before = document.querySelector('.load-fault button')).focus()")
  await tab.press('Enter')
  await tab.until("!window.before.isConnected && document.activeElement.matches('.load-fault button')")
  await tab.run("localStorage.removeItem('failing')")
  await tab.press('Enter')
  await tab.until("document.querySelector('.load-fault') === null && document.activeElement.matches('.entries')")
})

drive('the cards of the agents stay when they cannot be read again', async () => {
  await go('/welcome/agent')
  await tab.until("document.querySelector('.card input:checked') !== null")
  const usual = await tab.run("document.querySelector('.card input:checked').id")
  await tab.run("localStorage.setItem('failing', '/api/doctor/agents$')")
  await tab.run("document.querySelector('#agent-demo:not(:checked), #agent-built-in:not(:checked)').click()")
  await tab.until("document.querySelector('.load-fault') !== null")
  assert.is(await tab.run("document.querySelector('#agent-demo') !== null"), true)
  await tab.run("localStorage.removeItem('failing')")
  await tab.run(`document.querySelector('#${String(usual)}').click()`)
  await tab.until(`document.querySelector('.load-fault') === null && document.querySelector('.chosen #${String(usual)}') !== null`)
})

const sections = [
  ['agent', '/api/settings$', 'The settings', '.settings form .field'],
  ['agent', '/api/settings/agent-schema$', 'The settings', '.settings form .field'],
  ['secrets', '/api/settings/secrets$', 'The secrets', '.entry'],
  ['profiles', '/api/profiles$', 'The model profiles', '.entry'],
  ['profiles', '/api/agent-profiles$', 'The agent profiles', '.entry'],
  ['mcp', '/api/settings$', 'The MCP servers', '.entries .hint'],
  ['sessions', '/api/console/sessions$', 'The sessions', '.entry'],
  ['sessions', '/api/keys$', 'The named keys', '.entry'],
  ['storage', '/api/doctor$', 'The state of the storage', '.pairs div'],
] as const

drive('each section of the settings', async () => {
  for (const [section, failing, what, wanted] of sections) {
    await assertTold(failing, what, () => go(`/settings/${section}`), wanted)
  }
})

drive('the first steps', async () => {
  await assertTold('/api/doctor/agents$', 'The agents', () => go('/welcome/agent'), '#agent-demo')
  await assertTold('/api/settings$', 'The settings', () => go('/welcome/credentials'), '.step p')
})

drive('the panels of a conversation', async () => {
  await go(`/c/${prepared.ids.answered}`)
  await tab.until("document.querySelector('.call') !== null")
  await assertTold('/api/git/changes$', 'The changes', () => tab.click('Files'), '.changes li')
  await tab.click('Files')
  await assertTold('/workspace-entries$', 'The folder', () => tab.click('Files'), '.file-tree li')
  await tab.click('Search')
  await tab.until("document.querySelector('.panel input[type=search]') !== null")
  await assertTold('/search$', 'The history', () => tab.type('.panel input[type=search]', 'what'), '.found-events li')
})

drive('nothing failed but the requests that were to fail', () => assert.equal(tab.faults, []))

test.run()
