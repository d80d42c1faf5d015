/** The status of a conversation in a real Chromium: errors, pauses, branches, models, answers that were cut off. */
import * as assert from 'uvu/assert'
import { listAt, member, textAt } from '../../../support/rest.ts'
import type { TestServer } from '../../../support/server.ts'
import { suite } from '../../../support/suite.ts'
import { driveOne, holdAnswers, signIn, type Tab } from '../chromium.ts'
import { create, send, show, untilStatus, withHistory } from './driving.ts'
import { failure, made, message } from './history-file.ts'

const test = suite('parts/console/conversation: status and branches', 120_000)
let server: TestServer
let tab: Tab
const drive = driveOne(test, async (opened) => {
  ({ server, tab } = opened)
  await signIn(tab, server)
})
const menuOf = (text: string): string => `[...document.querySelectorAll('.event-item')]
  .find((item) => item.textContent.includes(${JSON.stringify(text)})).querySelector('.more').click()`

drive('an error has its code, what to do, and a button that leads there', async () => {
  const agent = { kind: 'ACPAgent', acp_command: ['/no/such/program'] }
  const id = await create(server, { agent })
  await show(tab, id)
  await send(tab, 'hello')
  await tab.untilText('ACPSpawnError')
  await tab.untilText('The program of the agent does not start')
  await tab.picture('status-error')
  await tab.click('Check the agent')
  await tab.until("location.hash.startsWith('#/welcome')")
  // A socket that joins gets the reason too, before the message that comes afterwards. The page says it once.
  await show(tab, id)
  await tab.untilText('The program of the agent does not start')
  const content = [{ type: 'text', text: 'a later message' }]
  await server.rest.post(`/api/conversations/${id}/events`, { role: 'user', content, run: false })
  await tab.untilText('a later message')
  await tab.until("!document.querySelector('.trouble').textContent.includes('Dismiss')")
  await tab.until("document.querySelector('.trouble').textContent.split('ACPSpawnError').length === 2")
})

drive('an error that is not in the window is said all the same', () => {
  const first = message('the beginning', 'user')
  const between = Array.from({ length: 300 }, (_, index) => message(`message ${index}`))
  const status = { kind: 'ConversationStateUpdateEvent', source: 'environment', key: 'execution_status' } as const
  const failed = [failure('SomeError', 'a reason far away'), made({ ...status, value: 'error' })]
  return withHistory([first, ...between, ...failed], async (shown, id) => {
    await shown.run("void (location.hash = '#/')")
    await shown.until("document.querySelector('.task-box') !== null")
    await show(shown, `${id}?event=${first.id}`)
    await shown.until("document.querySelector('.trouble')?.textContent.includes('SomeError: a reason far away')")
    assert.is(await shown.run("document.querySelectorAll('.event-item.is-error').length"), 0)
  })
})

drive('a conversation that was left sets no title; “Try now” while it opens opens no second socket', async () => {
  const id = await create(server)
  const sockets: string[] = []
  tab.on('Network.webSocketCreated', (params) => void sockets.push(textAt(params, 'url')))
  await tab.run("void (location.hash = '#/settings')")
  await tab.until("document.querySelector('.tabs') !== null")
  const answers = await holdAnswers(tab, new RegExp(`${id}$`))
  await tab.run(`void (location.hash = '#/c/${id}')`)
  await answers.held()
  await tab.run("void (location.hash = '#/settings')")
  await tab.until("document.querySelector('.tabs') !== null")
  await answers.release()
  assert.is(await tab.run('document.title'), 'Settings · Agent Server')
  assert.equal(sockets, [])
  await tab.run(`void (() => {
    const real = fetch
    const hold = new Promise((resolve) => { window.goOn = resolve })
    let count = 0
    window.fetch = async (url, ...more) => {
      if (!String(url).includes('/events/search')) return real(url, ...more)
      count += 1
      if (count === 1) return Response.json({ detail: 'away' }, { status: 503 })
      window.isHeld = true
      await hold
      return real(url, ...more)
    }
  })()`)
  await tab.run(`void (location.hash = '#/c/${id}')`)
  await answers.held()
  await answers.release()
  await tab.until('window.isHeld')
  await tab.click('Try now')
  await tab.run('void window.goOn()')
  await tab.until("(document.querySelector('.edge')?.textContent ?? '') !== ''")
  await untilStatus(tab, 'Ready')
  assert.is(sockets.length, 1)
  await tab.call('Page.reload')
  await tab.until("window.isHeld === undefined && document.querySelector('.composer-text') !== null")
})

drive('a run is paused and resumed; a message of the meantime is read', async () => {
  const id = await create(server)
  await show(tab, id)
  await send(tab, 'run: sleep 100')
  await untilStatus(tab, 'Working')
  await tab.until("document.querySelector('.call.is-open') !== null")
  await tab.type('.composer-text', 'write: later.txt words')
  await tab.click('Queue')
  await tab.until("document.querySelector('.composer-text').value === ''")
  await tab.picture('status-queued')
  await tab.click('Stop')
  await untilStatus(tab, 'Paused')
  await tab.picture('status-paused')
  await tab.click('Resume')
  await tab.untilText('later.txt')
  await untilStatus(tab, 'Finished')
})

drive('a message is edited and sent again; an event is forked; the mode is switched', async () => {
  const id = await create(server)
  await show(tab, id)
  await send(tab, 'run: echo first')
  await untilStatus(tab, 'Finished')
  await tab.run(menuOf('run: echo first'))
  await tab.picture('status-menu')
  await tab.click('Edit and send again')
  await tab.until("document.querySelector('.composer-text').value === 'run: echo first'")
  await send(tab, 'run: echo second')
  await tab.until("document.querySelectorAll('.call.is-done').length >= 2")
  await untilStatus(tab, 'Finished')
  const modes = "document.querySelector('select[aria-label^=Mode]')"
  await tab.until(`${modes}?.options.length > 1`)
  await tab.run(`(() => { const m = ${modes}; m.value = [...m.options].find((one) => !one.selected).value
    m.dispatchEvent(new Event('change')) })()`)
  await tab.run(menuOf('run: echo second'))
  await tab.click('Fork from here')
  await tab.until(`!location.hash.includes(${JSON.stringify(id)})`)
  await tab.untilText('run: echo second')
  const { json } = await server.rest.get('/api/conversations/search')
  const copies = listAt(json, 'items').filter((one) => member(one, 'forked_from_conversation_id') === id)
  assert.equal(copies.map((copy) => textAt(copy, 'title')), ['run: echo first'])
})

drive('a menu of the status line keeps the focus when a choice by keyboard makes the menus anew', async () => {
  const id = await create(server)
  await show(tab, id)
  const name = 'Confirmation: when the agent asks'
  await tab.until(`document.querySelector('select[aria-label="${name}"]') !== null`)
  const choice = `document.querySelector('select[aria-label="${name}"]')`
  await tab.run(`void (${choice}.focus(), window.before = document.activeElement)`)
  await tab.press('ArrowDown')
  await tab.until(`document.activeElement !== window.before && document.activeElement.ariaLabel === '${name}'`)
  await tab.until("document.activeElement.value === 'ConfirmRisky'")
  const { json } = await server.rest.get(`/api/conversations/${id}`)
  assert.is(textAt(json, 'confirmation_policy', 'kind'), 'ConfirmRisky')
})

drive('the built-in agent is switched to a stored profile', async () => {
  const llm = { model: 'openai/other-model', api_key: 'a-key-of-some-length' }
  await server.rest.post('/api/profiles/other', { llm })
  const id = await create(server, { agent: { kind: 'Agent', llm: { ...llm, model: 'openai/first-model' } } })
  await show(tab, id)
  const models = "document.querySelector('select[aria-label=Model]')"
  await tab.until(`${models}?.selectedOptions[0].textContent === 'openai/first-model'`)
  await tab.run(`(() => { ${models}.value = 'other'; ${models}.dispatchEvent(new Event('change')) })()`)
  await tab.until(`${models}.selectedOptions[0].textContent === 'openai/other-model'`)
  const { json } = await server.rest.get(`/api/conversations/${id}`)
  assert.is(textAt(json, 'agent', 'llm', 'model'), 'openai/other-model')
  await tab.picture('status-model')
})

drive('an answer that was cut off says so', () => {
  const answer = 'Half of an ans\n\n[The answer was cut off here.]'
  return withHistory([message('hello', 'user'), message(answer)], async (tab) => {
    await tab.untilText('The answer was cut off here')
    assert.is(await tab.run("document.querySelectorAll('.cut-off').length"), 1)
    assert.is(await tab.run("document.querySelector('.from-agent .markdown').innerText.trim()"), 'Half of an ans')
    await tab.picture('status-cut')
  })
})

/** Tells whether the box of the message has room for its placeholder, measured in the box's own font. */
const placeholderFits = `(() => {
  const box = document.querySelector('.composer-text')
  const style = getComputedStyle(box)
  const pen = document.createElement('canvas').getContext('2d')
  pen.font = style.font
  const room = box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
  return pen.measureText(box.placeholder).width <= room && box.scrollHeight <= box.clientHeight
})()`

drive('on a phone of 360 pixels the placeholder of the message fits beside the buttons', async () => {
  const id = await create(server)
  await show(tab, id)
  await tab.size(360, 740)
  await tab.until(placeholderFits)
  await tab.picture('phone-ready')
  await send(tab, 'run: sleep 100')
  await untilStatus(tab, 'Working')
  await tab.until(`document.querySelector('.composer .stop:not([hidden])') !== null && ${placeholderFits}`)
  await tab.picture('phone-working')
  await tab.click('Stop')
  await untilStatus(tab, 'Paused')
  await tab.until(`document.querySelector('.composer .stop[hidden]') !== null && ${placeholderFits}`)
  await tab.picture('phone-paused')
  await tab.size(1280, 900)
})

drive('nothing failed', () => assert.equal(tab.faults, []))

test.run()
