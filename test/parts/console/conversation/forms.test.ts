/** Every form of event in a real Chromium: none is empty, and each has its parts. */
import * as assert from 'uvu/assert'
import { actionKinds } from '../../../../src/schema/generated/actions.ts'
import { suite } from '../../../support/suite.ts'
import { driveIn } from '../chromium.ts'
import { withHistory } from './driving.ts'
import { everyForm, shownKinds } from './every-form.ts'
import { png } from './pictures.ts'

const test = suite('parts/console/conversation: every form of event', 120_000)
const drive = driveIn(test)

/** Adds events of unknown kinds, as a newer server sends them, before the error in a response of the search route. */
const newerServer = `(() => {
  const read = Response.prototype.json
  Response.prototype.json = async function () {
    const value = await read.call(this)
    const last = value?.items?.findIndex(({ kind }) => kind === 'ConversationErrorEvent') ?? -1
    if (last < 0) return value
    const event = { id: 'future-1', kind: 'FutureEvent', timestamp: '2026-01-01T00:00:00', source: 'agent', shape: [1] }
    const action = { kind: 'FutureAction', depth: { of: 'it' } }
    const unknown = { ...value.items.find(({ kind }) => kind === 'ActionEvent'), id: 'future-2', action, tool_name: 'fly' }
    value.items.splice(last, 0, event, unknown)
    return value
  }
})()`

test('the history has each kind of action', () => {
  assert.equal([...new Set(shownKinds)].sort(), [...actionKinds].sort())
})

drive('each form', () => withHistory(everyForm(png), async (tab) => {
  await tab.untilText('Here is the result')
  await tab.run("document.querySelectorAll('.scroller details').forEach((one) => one.open = true)")
  const empty = `[...document.querySelectorAll('.call:not(.is-open)')].filter((call) => {
    const pieces = [...call.querySelectorAll('.folded-body > *')]
    const isThere = (piece) => piece.textContent.trim() !== '' || piece.querySelector('img') !== null
    return call.querySelector('.verb').textContent === '' || pieces.length === 0 || !pieces.every(isThere)
  }).map((call) => call.textContent)`
  assert.equal(await tab.run(empty), [])
  const count = (selector: string): Promise<unknown> => tab.run(`document.querySelectorAll('${selector}').length`)
  assert.is(await count('.call'), shownKinds.length + 3 + 5 + 1)
  assert.is(await tab.run("document.querySelector('.leads-to').textContent"), ' (example.test)')
  assert.is(await count('.call.is-rejected'), 1)
  assert.is(await count('.call.is-blocked'), 1)
  assert.is(await count('.call.is-cancelled'), 1)
  assert.is(await count('.call.is-failed'), 2)
  assert.is(await count('.call .diff'), 4)
  assert.is(await count('.picture'), 2)
  assert.ok(await tab.run("document.querySelector('.unknown .json').textContent.includes('FutureEvent')"))
  assert.is(await tab.run("document.querySelector('.tasks-dock summary').textContent"), 'Tasks 1 of 3 done: Mend it')
  const terminal = ['Tests  12 passed, 1 failed, 2 skipped', 'palette 208 true colour inverse', 'Downloading 100 %',
    'one', 'two', 'end']
  assert.is(await tab.run("document.querySelector('.terminal').textContent"), terminal.join('\n'))
  for (const scheme of ['light', 'dark'] as const) {
    for (const part of [0, 1, 2, 3]) {
      await tab.size(1000, 1400, scheme)
      await tab.run(`document.querySelector('.scroller').scrollTop = ${part * 1200}`)
      await tab.picture(`forms-${scheme}-${part}`)
    }
  }
}, newerServer))

test.run()
