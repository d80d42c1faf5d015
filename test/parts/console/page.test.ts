/** The console in a real Chromium: sign-in, the first steps with the demonstration agent, the list and the settings. */
import * as assert from 'uvu/assert'
import { listAt, textAt } from '../../support/rest.ts'
import type { TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { driveOne, keepNotices, type Tab } from './chromium.ts'
import { newCode } from './visitor.ts'

const test = suite('parts/console: the page in Chromium')
let server: TestServer
let tab: Tab

const drive = driveOne(test, (opened) => {
  ({ server, tab } = opened)
})

drive('without a code the page asks for the key, and a wrong key is told', async () => {
  await tab.open(`${server.url}/console/`)
  await tab.untilText('Sign in with the session key')
  await tab.picture('sign-in')
  await tab.type('#key', 'a-wrong-key-of-somebody')
  await tab.click('Sign in')
  await tab.untilText('This is not a session key of the server.')
})

drive('the printed address signs in once, and leaves no code in the address, the history or a request', async () => {
  const code = await newCode(server)
  await tab.open('about:blank')
  await tab.open(`${server.url}/console/#code=${code}`)
  await tab.untilText('Choose agent')
  assert.not.match(String(await tab.run('location.href + document.referrer')), code)
  assert.ok(!tab.requests.some((url) => url.includes(code)))
  assert.not.ok(server.log.some((line) => line.includes(code)))
  assert.is(await tab.run('document.cookie'), '')
})

drive('the first steps lead to an answer of the demonstration agent', async () => {
  await tab.untilText('Demonstration agent')
  await tab.until("document.querySelector('#agent-demo').checked")
  await tab.picture('onboarding-agent')
  await tab.click('Built-in agent')
  await tab.untilText('Built-in agent is saved')
  assert.is(textAt((await server.rest.get('/api/settings')).json, 'agent_settings', 'agent_kind'), 'openhands')
  await tab.click('Continue')
  await tab.untilText('seudo-terminal')
  await tab.picture('onboarding-machine')
  await tab.click('Continue')
  await tab.untilText('As the provider names it')
  await tab.picture('onboarding-credentials')
  await tab.click('Choose agent')
  await tab.click('Demonstration agent')
  await tab.untilText('Demonstration agent is saved')
  await tab.open('about:blank')
  await tab.open(`${server.url}/console/`)
  await tab.untilText('Choose agent')
  await tab.click('First conversation')
  await tab.until("document.querySelector('textarea').value === 'Show me what you can do'")
  await tab.picture('onboarding-start')
  await tab.click('Start')
  await tab.until("location.hash.startsWith('#/c/')")
  const [conversation] = listAt((await server.rest.get('/api/conversations/search')).json, 'items')
  assert.is(await tab.run('location.hash'), `#/c/${textAt(conversation, 'id')}`)
})

drive('one click on the first page leads to an answer of the demonstration agent', async () => {
  await tab.run("void (location.hash = '#/welcome/agent')")
  await tab.click('Try it now')
  await tab.until("document.querySelector('.from-agent .markdown') !== null")
})

drive('the list is live: status, a new name, a search, a deletion with undo', async () => {
  await tab.untilText('Finished')
  const { json } = await server.rest.post('/api/conversations', {})
  const id = textAt(json, 'id')
  await server.rest.patch(`/api/conversations/${id}`, { title: 'Second one' })
  await tab.untilText('Second one')
  await keepNotices(tab)
  await tab.picture('list')
  await tab.type('input[type=search]', 'second')
  await tab.until("document.querySelectorAll('.row').length === 1")
  await tab.click('Actions for Second one')
  await tab.type('.row-menu input', 'Renamed <img src=x onerror=alert(1)>')
  await tab.picture('list-menu')
  await tab.click('Save')
  await tab.run("void (document.querySelector('input[type=search]').value = '')")
  await tab.untilText('Renamed <img')
  await tab.click('Actions for Renamed')
  await tab.click('Delete')
  await tab.until("![...document.querySelectorAll('.row')].some((row) => row.innerText.includes('Renamed'))")
  await tab.click('Undo')
  await tab.until("[...document.querySelectorAll('.row')].some((row) => row.innerText.includes('Renamed'))")
  assert.is((await server.rest.get(`/api/conversations/${id}`)).status, 200)
})

drive('secrets, settings, MCP servers, sessions and storage', async () => {
  await tab.click('Settings')
  await tab.untilText('Max Iterations')
  await tab.picture('settings-agent')
  await tab.click('Secrets')
  await tab.untilText('No secrets yet')
  await tab.type('form input', 'MY_API_KEY')
  await tab.type('input[type=password]', 'a-value-that-stays-there')
  await tab.click('Save')
  await tab.untilText('MY_API_KEY is stored')
  await tab.picture('settings-secrets')
  assert.not.ok(String(await tab.run('document.body.innerHTML')).includes('a-value-that-stays-there'))
  await tab.click('Remove')
  await tab.untilText('No secrets yet')
  await tab.click('MCP servers')
  await tab.untilText('No MCP servers yet')
  await tab.type('form input', 'nothing')
  await tab.type('form .field:nth-of-type(2) input', 'true --no-server')
  await tab.click('Add')
  await tab.untilText('nothing is added')
  await tab.until("document.querySelector('.entry') !== null")
  await tab.click('Try')
  await tab.until("document.querySelector('.outcome').classList.contains('fault')")
  await tab.picture('settings-mcp')
  await tab.click('Profiles')
  await tab.untilText('No model profiles yet')
  await tab.click('Storage')
  await tab.click('Verify all conversations')
  await tab.untilText('conversations are whole')
  await tab.picture('settings-storage')
  await tab.click('Keys and sessions')
  await tab.untilText('this page')
  await tab.picture('settings-sessions')
})

drive('it fits a phone and the dark, and a sign-out asks for the key again', async () => {
  await tab.size(390, 800, 'dark')
  await tab.run("void (location.hash = '#/')")
  await tab.untilText('New conversation')
  await tab.picture('phone-new')
  await tab.click('Conversations')
  await tab.untilText('Sign out')
  await tab.picture('phone-list')
  assert.ok(Number(await tab.run('document.documentElement.scrollWidth')) <= 390)
  await tab.click('Sign out')
  await tab.untilText('Sign in with the session key')
  assert.is(await tab.run('localStorage.getItem("agent-server-proof")'), null)
})

drive('nothing was refused by the policy, nothing failed, and nothing went elsewhere', () => {
  const { origin } = new URL(server.url)
  const elsewhere = tab.requests.filter((url) => !url.startsWith(origin) && !/^(?:about|blob|data):/.test(url))
  assert.equal(elsewhere, [])
  // The refused key of the first test.
  assert.equal(tab.faults.filter((fault) => !fault.includes('status of 401')), [])
})

test.run()
