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
