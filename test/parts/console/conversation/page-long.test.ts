/** A conversation in a real Chromium, with real servers and the demonstration agent. */
import * as assert from 'uvu/assert'
import { until } from '../../../support/processes.ts'
import { member, textAt } from '../../../support/rest.ts'
import { withPrograms, type Program, type TestServer } from '../../../support/server.ts'
import { suite } from '../../../support/suite.ts'
import { driveOne, openTab, signIn, type Tab } from '../chromium.ts'
import { create, send, show, untilStatus, withTab } from './driving.ts'

const test = suite('parts/console/conversation: the page in Chromium', 120_000)

let server: TestServer
let tab: Tab
const drive = driveOne(test, async (opened) => {
  ({ server, tab } = opened)
  await signIn(tab, server)
})

const keysOfItems = "[...document.querySelectorAll('.event-item')].map(({ id }) => id).filter((id) => id !== '')"

/** Asserts that the page shows each message and each action of the history once, in its order. */
async function assertWhole(server: TestServer | Program, tab: Tab, id: string): Promise<void> {
  const { json } = await server.rest.get(`/api/conversations/${id}/events/search?limit=100`)
  const items = member(json, 'items')
  const events = Array.isArray(items) ? items : []
  const messages = events.filter((event) => textAt(event, 'kind') === 'MessageEvent')
  const wanted = messages.map((event) => `e-${textAt(event, 'id')}`)
  await tab.until(`(() => { const keys = ${keysOfItems}
    const at = ${JSON.stringify(wanted)}.map((key) => keys.indexOf(key))
    return new Set(keys).size === keys.length && at.every((place, index) => place >= 0 && place > (at[index - 1] ?? -1))
  })()`)
}

drive('a message is answered: text streams, and calls have their results', async () => {
  const id = await create(server)
  await show(tab, id)
  await tab.run(`new MutationObserver(() => {
    if (document.querySelector('.draft:not([hidden])') !== null) window.hasGrown = true
    if (document.querySelector('.tasks-dock:not([hidden]) .tasks') !== null) window.hadTasks = true
    if (document.querySelector('.run-status')?.textContent.includes('Working') === true) window.hasWorked = true
  }).observe(document.body, { subtree: true, childList: true, attributes: true })`)
  await send(tab, 'Show me **around**')
  await untilStatus(tab, 'Finished')
  await tab.until("document.querySelectorAll('.call .diff tr.added').length > 0")
  await tab.until("document.querySelectorAll('.call.is-open').length === 0")
  await tab.until("document.querySelector('.from-user strong')?.textContent === 'around'")
  assert.equal(await tab.run('[window.hasGrown, window.hasWorked, window.hadTasks]'), [true, true, true])
  await tab.picture('conversation-answered')
  await send(tab, 'run: printf "\\033[31mred\\033[0m\\n10%%\\rdone\\n"; exit 3')
  await tab.untilText('exit code 3')
  assert.ok(await tab.run("document.querySelector('.terminal .t-fg-1') !== null"))
  await assertWhole(server, tab, id)
  await tab.picture('conversation-command')
})

drive('a question shows the whole command, and is answered; Esc stops', async () => {
  const id = await create(server, { confirmation_policy: { kind: 'AlwaysConfirm' } })
  await show(tab, id)
  const long = `echo ${'x'.repeat(3000)} the-end`
  await send(tab, `run: ${long}`)
  await tab.untilText('May the agent do this?')
  assert.ok(await tab.run(`document.querySelector('.question .command pre').textContent.endsWith('the-end')`))
  await tab.until(`document.querySelector('.deadline').textContent.startsWith('Denied without an answer in')`)
  await tab.picture('conversation-question')
  await tab.click('Allow')
  await tab.until("document.querySelector('.questions').hidden")
  await untilStatus(tab, 'Finished')
  await send(tab, 'run: echo second')
  await tab.untilText('May the agent do this?')
  await tab.type('.answers input', 'not that one')
  await tab.click('Deny')
  await tab.until("document.querySelector('.questions').hidden")
  await untilStatus(tab, 'Finished')
  await tab.until("document.querySelector('.call:is(.is-rejected, .is-failed)') !== null")
  await send(tab, 'run: sleep 100')
  await tab.untilText('May the agent do this?')
  await tab.click('Allow for this conversation')
  await untilStatus(tab, 'Working')
  await tab.run('document.activeElement.blur()')
  await tab.press('Escape')
  await untilStatus(tab, 'Paused')
  const { json } = await server.rest.get(`/api/conversations/${id}`)
  assert.is(textAt(json, 'confirmation_policy', 'kind'), 'NeverConfirm')
  await tab.picture('conversation-stopped')
})

drive('a killed server that starts again is told; nothing is lost or doubled', withPrograms(async (start, folder) => {
  const first = await start()
  const { port } = new URL(first.url)
  const tab = await openTab(first.url)
  try {
    await tab.open(`${first.url}/console/`)
    await tab.until("document.querySelector('#key') !== null")
    await tab.type('#key', first.key)
    await tab.click('Sign in')
    await tab.until("document.querySelector('.shell') !== null")
    const workspace = { working_dir: `${folder}/project/w` }
    const id = textAt((await first.rest.post('/api/conversations', { workspace })).json, 'id')
    await show(tab, id)
    await send(tab, 'run: echo first-word; sleep 100')
    await tab.until("document.querySelector('.call.is-open') !== null")
    // The words of a reconnection end after some seconds, so the page notes them.
    await tab.run(`new MutationObserver(() => {
      if (document.querySelector('.connection')?.textContent.includes('Connected again') === true) window.isAgain = true
    }).observe(document.body, { subtree: true, childList: true })`)
    await first.stop('SIGKILL')
    await tab.untilText('Not current')
    await tab.picture('conversation-not-connected')
    const second = await start(['--port', port])
    await tab.untilText('ServerRestarted')
    await tab.until('window.isAgain === true')
    await tab.picture('conversation-restarted')
    await assertWhole(second, tab, id)
    await tab.until("document.querySelector('.call.is-open') === null")
    await send(tab, 'run: echo second-word')
    await tab.untilText('exit code 0')
    await assertWhole(second, tab, id)
  } finally {
    await tab.close()
  }
}))

drive('two pages on one conversation show the same', () => withTab(server, async (other) => {
  const id = await create(server)
  await show(tab, id)
  await show(other, id)
  await send(tab, 'write: a.txt from-one')
  await untilStatus(other, 'Finished')
  await send(other, 'write: b.txt from-other')
  for (const one of [tab, other]) {
    await one.untilText('b.txt')
    await untilStatus(one, 'Finished')
    await assertWhole(server, one, id)
  }
  await until(async () => String(await tab.run(keysOfItems)) === String(await other.run(keysOfItems)))
}))

drive('nothing failed', () => assert.equal(tab.faults, []))

test.run()
