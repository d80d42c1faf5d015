/** Steps of a person in a real Chromium: questions by keyboard, differences side by side, the choices of a new one. */
import { mkdirSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { listAt, textAt } from '../../support/rest.ts'
import type { TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { addKey } from '../keys/named.ts'
import { driveOne, signIn, type Tab } from './chromium.ts'
import { create, send, show, untilStatus } from './conversation/driving.ts'
import { visit } from './visitor.ts'

const test = suite('parts/console: steps of a person in Chromium', 120_000)
let server: TestServer
let tab: Tab

const drive = driveOne(test, async (opened) => {
  ({ server, tab } = opened)
  await signIn(tab, server)
})

const choose = (label: string, words: string): string => `(() => {
  const field = [...document.querySelectorAll('.field')].find((one) => one.textContent.startsWith('${label}'))
  const select = field.querySelector('select')
  select.value = [...select.options].find(({ text }) => text.startsWith('${words}')).value
})()`

drive('two questions in order are answered by keyboard: the first allowed, the second denied', async () => {
  const id = await create(server, { confirmation_policy: { kind: 'AlwaysConfirm' } })
  await show(tab, id)
  await tab.run('document.activeElement.blur()')
  await tab.press('m')
  await tab.until("document.activeElement.matches('.composer-text')")
  await send(tab, 'run: echo first-answer')
  await tab.untilText('May the agent do this?')
  await tab.run('document.activeElement.blur()')
  await tab.press('q')
  await tab.until("document.activeElement.matches('.question')")
  await tab.picture('driven-question')
  await tab.press('a')
  await tab.until("document.querySelector('.questions').hidden && document.querySelector('.call.is-done') !== null")
  await untilStatus(tab, 'Finished')
  await send(tab, 'run: echo second-answer')
  await tab.untilText('May the agent do this?')
  await tab.run('document.activeElement.blur()')
  await tab.press('q')
  await tab.press('d')
  await tab.until("document.activeElement.matches('.answers input')")
  await tab.call('Input.insertText', { text: 'not this one' })
  await tab.press('Enter')
  await tab.until("document.querySelector('.questions').hidden")
  await untilStatus(tab, 'Finished')
  const { json } = await server.rest.get(`/api/conversations/${id}/events/search?limit=100`)
  const rejections = listAt(json, 'items').filter((event) => textAt(event, 'kind') === 'UserRejectObservation')
  assert.is(rejections.length, 1)
  assert.match(JSON.stringify(rejections), 'not this one')
  await tab.until("document.querySelectorAll('.call.is-rejected').length === 1")
  await tab.until("document.querySelectorAll('.call.is-done').length === 1")
})

drive('a difference is shown side by side, and stays so for the next one', async () => {
  await show(tab, await create(server))
  await send(tab, 'write: shown.txt some words')
  await tab.until("document.querySelector('.diff table.one') !== null")
  await untilStatus(tab, 'Finished')
  await tab.click('Side by side')
  await tab.until("document.querySelector('.diff table.split tr') !== null")
  const lines = "document.querySelectorAll('.diff table.split tr:first-child .line')"
  const widths = `[...${lines}].map((one) => one.offsetWidth)`
  const [left, right] = listAt({ all: await tab.run(widths) }, 'all').map(Number)
  assert.is(left, right)
  await tab.picture('driven-side-by-side')
  await send(tab, 'write: other.txt other words')
  await tab.until("document.querySelectorAll('.diff table.split').length === 2")
  await tab.run("localStorage.removeItem('agent-server-diff')")
})

drive('a conversation begins with the chosen agent, folder and policy', async () => {
  const folder = `${server.workspaceDir}/chosen`
  mkdirSync(folder, { recursive: true })
  await tab.run("void (location.hash = '#/')")
  await tab.until("document.querySelector('.task-box') !== null")
  await tab.until("document.querySelectorAll('select option').length > 5")
  await tab.type('.task-box', 'run: pwd')
  await tab.run(choose('Agent', 'Demonstration'))
  await tab.run(choose('Ask me before', 'Every action'))
  await tab.type("input[list='folders']", folder)
  await tab.picture('driven-new')
  await tab.click('Start')
  await tab.untilText('May the agent do this?')
  await tab.untilText('pwd')
  const id = /c\/([\w-]+)/.exec(String(await tab.run('location.hash')))?.[1] ?? ''
  const { json } = await server.rest.get(`/api/conversations/${id}`)
  assert.is(textAt(json, 'confirmation_policy', 'kind'), 'AlwaysConfirm')
  assert.is(textAt(json, 'workspace', 'working_dir'), folder)
  assert.match(JSON.stringify(json), 'agent-server-demo-agent')
  await tab.click('Deny')
})

drive('the text of a message is copied, with the clipboard of a secure page and without it', async () => {
  await show(tab, await create(server))
  await send(tab, 'run: echo words')
  await untilStatus(tab, 'Finished')
  const withClipboard = (value: string): Promise<unknown> => {
    return tab.run(`void Object.defineProperty(navigator, 'clipboard', { value: ${value}, configurable: true })`)
  }
  const copy = async (): Promise<void> => {
    await tab.run("void (window.copied = undefined, document.querySelector('.from-user .more').click())")
    await tab.until("document.activeElement.textContent === 'Copy text'")
    await tab.press('Enter')
    await tab.until("window.copied === 'run: echo words'")
  }
  await withClipboard('{ writeText: async (text) => { window.copied = text } }')
  await copy()
  await withClipboard('undefined')
  await tab.run("document.addEventListener('copy', () => { window.copied = document.activeElement.value })")
  await copy()
  await tab.until("document.querySelector('.copied-text') === null")
})

drive('the colours of the page are chosen, and the browser keeps the choice', async () => {
  const dark = "getComputedStyle(document.body).backgroundColor === 'rgb(21, 23, 28)'"
  await tab.run("void (location.hash = '#/settings/colours')")
  await tab.until("document.querySelector('.section select') !== null")
  assert.is(await tab.run(dark), false)
  const choose = (value: string): Promise<unknown> => tab.run(`(() => {
    const select = document.querySelector('.section select')
    select.value = '${value}'
    select.dispatchEvent(new Event('change'))
  })()`)
  await choose('dark')
  await tab.until(dark)
  await tab.picture('driven-colours')
  await tab.call('Page.reload')
  await tab.until(`document.querySelector('.section select')?.value === 'dark' && ${dark}`)
  await choose('system')
  await tab.until(`!(${dark})`)
})

drive('the session of another browser is ended, and its requests are refused', async () => {
  const other = await visit(server)
  const ask = (): Promise<number> => {
    return fetch(`${server.url}/api/console/sessions`, { headers: {
      cookie: other.cookie, 'x-console-proof': other.proof,
    } }).then(({ status }) => status)
  }
  assert.is(await ask(), 200)
  await tab.run("void (location.hash = '#/settings/sessions')")
  await tab.until("document.querySelectorAll('.entry').length === 2")
  await tab.picture('driven-sessions')
  await tab.click('End')
  await tab.untilText('The session has ended.')
  await tab.until("document.querySelectorAll('.entry').length === 1")
  assert.is(await ask(), 401)
})

drive('a named key is listed with its scopes, and is refused after it is revoked', async () => {
  const { rest } = await addKey(server, 'for-a-script', { scopes: 'read' })
  const ask = async (): Promise<number> => (await rest.get('/api/conversations/search')).status
  assert.is(await ask(), 200)
  await tab.run("void (location.hash = '#/')")
  await tab.until("document.querySelector('.task-box') !== null")
  await tab.run("void (location.hash = '#/settings/sessions')")
  await tab.untilText('read; no expiry')
  await tab.picture('driven-keys')
  await tab.click('Revoke')
  await tab.untilText('The key for-a-script is revoked.')
  await tab.until("!document.body.innerText.includes('no expiry')")
  assert.is(await ask(), 401)
})

drive('nothing failed', () => assert.equal(tab.faults, []))

test.run()
