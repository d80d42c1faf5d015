/** The status of a conversation in a real Chromium: errors, pauses, branches, models, answers that were cut off. */
import * as assert from 'uvu/assert'
import { listAt, member, textAt } from '../../../support/rest.ts'
import type { TestServer } from '../../../support/server.ts'
import { suite } from '../../../support/suite.ts'
import { driveOne, signIn, type Tab } from '../chromium.ts'
import { create, send, show, untilStatus, withHistory } from './driving.ts'
import { message } from './history-file.ts'

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
  await show(tab, await create(server, { agent }))
  await send(tab, 'hello')
  await tab.untilText('ACPSpawnError')
  await tab.untilText('The program of the agent does not start')
  await tab.picture('status-error')
  await tab.click('Check the agent')
  await tab.until("location.hash.startsWith('#/welcome')")
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
  const modes = "document.querySelector('select[aria-label=Mode]')"
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
  const name = 'When the agent asks'
  await tab.until(`document.querySelector('select[aria-label="${name}"]') !== null`)
  await tab.run(`void (document.querySelector('select[aria-label="${name}"]').focus(), window.before = document.activeElement)`)
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
