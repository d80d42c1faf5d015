/** The built-in agent in a real Chromium: tokens, cost and the context meter, and the conversation of a sub-agent. */
import * as assert from 'uvu/assert'
import type { ModelServer } from '../../../fixtures/model-server.ts'
import type { TestServer } from '../../../support/server.ts'
import { suite } from '../../../support/suite.ts'
import { agentFor, modelOf, task, terminal } from '../../subagents/delegation.ts'
import { driveOne, signIn, type Tab } from '../chromium.ts'
import { create, send, show, untilStatus } from './driving.ts'

const test = suite('parts/console/conversation: the built-in agent in Chromium', 120_000)
let server: TestServer
let tab: Tab
let model: ModelServer
const drive = driveOne(test, async (opened) => {
  ({ server, tab } = opened)
  model = await modelOf({
    'list the files': [terminal('ls'), { thought: 'There are none.', text: 'The folder is empty.' }],
    'give it away': [task('count the files'), { text: 'The sub-agent counted.' }],
    'count the files': [terminal('echo of-the-sub-agent'), { text: 'I found **one** file.' }],
  })
  await signIn(tab, server)
})
test.after(() => model?.close())

const figures = "document.querySelector('.figures')"
const row = "document.querySelector('.row.depth-1')"

drive('tokens, cost and the used share of the context are shown, and grow with each request', async () => {
  const id = await create(server, { agent: agentFor(model) })
  const { llm } = Object(agentFor(model))
  const agent = { ...agentFor(model), llm: { ...llm, max_input_tokens: 1000 } }
  const limited = await create(server, { agent })
  await show(tab, id)
  await send(tab, 'list the files')
  await untilStatus(tab, 'Finished')
  // The stand-in counts 150 tokens in and 42 out for a request, at 0.001 dollars each: two of the run, and the title.
  await tab.until(`${figures}.innerText.includes('450 in, 126 out')`)
  await tab.until(`${figures}.innerText.includes('$0.5760')`)
  assert.is(await tab.run(`${figures}.querySelector('meter')`), null, 'an unknown context has no meter')
  await show(tab, limited)
  await send(tab, 'list the files')
  await untilStatus(tab, 'Finished')
  await tab.until(`${figures}.querySelector('meter') !== null`)
  const meter = `(({ value, title, ariaLabel }) => [value, title, ariaLabel])(${figures}.querySelector('meter'))`
  const told = '192 of 1.0k tokens of the context are used'
  assert.equal(await tab.run(meter), [0.192, told, told])
  await tab.picture('usage')
  await send(tab, 'list the files')
  await tab.until(`${figures}.innerText.includes('750 in, 210 out')`)
})

drive('the row of a sub-agent stands below its parent, and the call links to its history', async () => {
  const id = await create(server, { agent: agentFor(model) })
  await show(tab, id)
  await send(tab, 'give it away')
  await untilStatus(tab, 'Finished')
  await tab.until(`${row}?.innerText.includes('do count the files') && ${row}.innerText.includes('Sub-agent')`)
  const call = "[...document.querySelectorAll('.call')].find((one) => one.innerText.includes('Task'))"
  await tab.until(`${call}?.innerText.includes('I found one file.') === true`)
  assert.match(String(await tab.run(`${call}.querySelector('.facts').innerText`)), 'general-purpose')
  await tab.picture('sub-agent-call')
  await tab.click('History of the sub-agent')
  await tab.until(`location.hash === '#/c/' + ${row}.dataset.id && ${row}.classList.contains('open')`)
  await tab.until("document.querySelector('.from-user')?.innerText.includes('count the files') === true")
  await tab.untilText('echo of-the-sub-agent')
  await untilStatus(tab, 'Finished')
  await tab.picture('sub-agent-history')
  await tab.run("void document.querySelector('.row.depth-0 a').click()")
  await tab.until(`location.hash === '#/c/${id}'`)
  await tab.run(`void ${row}.querySelector('a').click()`)
  await tab.untilText('echo of-the-sub-agent')
})

drive('nothing failed', () => assert.equal(tab.faults, []))

test.run()
