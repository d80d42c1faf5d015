/** A history of 100,000 events in a real Chromium. */
import * as assert from 'uvu/assert'
import type { Event } from '../../../../src/schema/generated/events.ts'
import { suite } from '../../../support/suite.ts'
import { driveIn } from '../chromium.ts'
import { create, show, withDemo, withHistory, withTab } from './driving.ts'
import { appendHistory, call, message } from './history-file.ts'

const test = suite('parts/console/conversation: a long history', 120_000)
const drive = driveIn(test)

function* longEvents(count: number): Generator<Event> {
  for (let at = 0; at < count; at += 5) {
    yield message(`Message ${at} with **bold**`)
    yield* call(`echo ${at}`, `line ${at}\n`.repeat(10))
    yield* call(`ls ${at}`, 'a\nb\n')
  }
}

drive('a history of 100,000 events opens at its end, and its window stays small', () => withDemo(async (before) => {
  const id = await create(before)
  await before.server.close()
  await appendHistory(before.dataDir, id, longEvents(100_000))
  await withDemo((server) => withTab(server, async (tab) => {
    await show(tab, id)
    await tab.untilText('echo 99995')
    const rows = async (): Promise<number> => Number(await tab.run("document.querySelectorAll('.event-item').length"))
    assert.ok(await rows() < 200)
    // Paging back removes the newest rows from the page.
    const isGone = "!document.querySelector('.items').textContent.includes('echo 99995')"
    await tab.until(`(document.querySelector('.scroller').scrollTop = 0, ${isGone})`)
    assert.ok(await rows() < 900)
    await tab.click('↓')
    await tab.untilText('echo 99995')
    const below = '({ scrollTop, scrollHeight, clientHeight }) => scrollHeight - scrollTop - clientHeight'
    await tab.until(`(${below})(document.querySelector('.scroller')) < 5`)
  }), { folder: before.folder })
}))

drive('Home leads to the beginning, also while the list still moves at its end', () => withHistory(
  longEvents(2000),
  async (tab) => {
    await tab.untilText('echo 1995')
    const scroller = "document.querySelector('.scroller')"
    // The page hears of the movement after the key, in the next frame.
    await tab.run(`(${scroller}.scrollTop -= 1,
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', bubbles: true })))`)
    await tab.untilText('The beginning of the conversation')
    await tab.until(`${scroller}.scrollTop === 0`)
    await tab.run('new Promise((done) => setTimeout(done, 300))')
    assert.is(await tab.run(`${scroller}.scrollTop`), 0)
  },
))

test.run()
