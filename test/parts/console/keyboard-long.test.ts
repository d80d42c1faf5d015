/** The main job in a real Chromium with key events only: from the sign-in to a deletion that is undone. */
import * as assert from 'uvu/assert'
import { listAt, textAt } from '../../support/rest.ts'
import type { TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { driveOne, keepNotices, type Tab } from './chromium.ts'

const test = suite('parts/console: by keyboard in Chromium')
let server: TestServer
let tab: Tab

const drive = driveOne(test, (opened) => {
  ({ server, tab } = opened)
})

const write = (text: string): Promise<unknown> => tab.call('Input.insertText', { text })

/** Presses Tab until the focus is on an element. Asserts that each element on the way shows its focus. */
async function tabTo(selector: string, key = 'Tab'): Promise<void> {
  const seen: string[] = []
  for (let presses = 0; presses < 80; presses++) {
    await tab.press(key)
    const [isThere, name, isVisible] = Object.values(await focused(selector))
    if (name !== 'BODY') assert.ok(isVisible, `the focus of ${String(name)} is visible`)
    if (isThere === true) return
    seen.push(String(name))
  }
  throw new Error(`No way to ${selector} by ${key}: ${seen.join(', ')}`)
}

async function focused(selector: string): Promise<object> {
  const found = await tab.run(`(() => {
    const one = document.activeElement
    const { outlineStyle, outlineWidth } = getComputedStyle(one)
    const name = one === document.body ? 'BODY' : one.tagName + ' ' + (one.ariaLabel || one.innerText || one.id)
    return [one.matches(${JSON.stringify(selector)}), name, outlineStyle !== 'none' && outlineWidth !== '0px']
  })()`)
  return Array.isArray(found) ? found : []
}

const holds = (selector: string): Promise<void> => {
  return tab.until(`document.activeElement.matches(${JSON.stringify(selector)})`)
}

drive('the key signs in', async () => {
  await tab.open(`${server.url}/console/`)
  await tab.until("document.querySelector('#key') !== null")
  await holds('#key')
  await write(server.key)
  await tab.press('Enter')
  // The form of a new conversation, which goes away, has the title of the agent too.
  await tab.until("document.querySelector('#agent-demo') !== null")
  await keepNotices(tab)
})

drive('the first steps lead to an answer; a choice keeps the focus', async () => {
  await tabTo('#agent-demo')
  await tab.press('ArrowDown')
  await tab.untilText('Built-in agent is saved')
  await tab.until("document.querySelector('.card.chosen #agent-built-in') !== null")
  await holds('#agent-built-in')
  await tab.press('ArrowUp')
  await tab.untilText('Demonstration agent is saved')
  await tab.until("document.querySelector('.card.chosen #agent-demo') !== null")
  for (const title of ['Check backend', 'Credentials', 'First conversation']) {
    await tabTo('.actions .primary')
    await tab.press('Enter')
    await tab.until(`document.querySelector('h1')?.innerText === ${JSON.stringify(title)}`)
    await holds('main')
  }
  await tab.until("document.querySelector('textarea').value !== ''")
  await tabTo('form .primary')
  await tab.press('Enter')
  await tab.untilText('Finished')
  await tab.press('m')
  await holds('.composer-text')
})

drive('a conversation is renamed, deleted, and back again', async () => {
  await tabTo('.row button')
  await tab.press('Enter')
  await holds('.row-menu input')
  await write('Named by keys')
  await tab.press('Enter')
  await tab.until("document.querySelector('.row-menu').hidden && document.querySelector('.row-title').innerText === 'Named by keys'")
  await holds('.row button')
  await tab.press('Enter')
  await holds('.row-menu input')
  await tab.press('Escape')
  await holds('.row button')
  for (const undo of ['u', 'Undo']) {
    await tab.press('Enter')
    await tabTo('.row-menu .danger')
    await tab.press('Enter')
    await tab.untilText('No conversations yet')
    await tab.until("location.hash === '#/'")
    if (undo === 'u') await tabTo('.side-head .button', 'Shift+Tab')
    else await tabTo('.notice button')
    await tab.press(undo === 'u' ? 'u' : 'Enter')
    await holds('.row a')
    await tab.press('Tab')
  }
  const [conversation] = listAt((await server.rest.get('/api/conversations/search')).json, 'items')
  assert.is(textAt(conversation, 'title'), 'Named by keys')
})

drive('Esc closes the menu of a row from everywhere; another address closes it too', async () => {
  const isClosed = "document.querySelector('.row-menu').hidden && document.activeElement.matches('.row button')"
  await holds('.row button')
  await tab.press('Enter')
  await holds('.row-menu input')
  await tab.run("document.querySelector('.main').focus()")
  // This Esc belongs to a composition of an input method.
  const composed = "new KeyboardEvent('keydown', { key: 'Escape', isComposing: true, bubbles: true })"
  await tab.run(`void document.activeElement.dispatchEvent(${composed})`)
  assert.is(await tab.run("document.querySelector('.row-menu').hidden"), false)
  await tab.press('Escape')
  await tab.until("document.querySelector('.row-menu').hidden")
  await tab.run("document.querySelector('.row button').focus()")
  await tab.press('Enter')
  await holds('.row-menu input')
  await tab.run("void (location.hash = '#/settings')")
  await tab.until(isClosed)
  await tab.until("document.querySelector('.settings') !== null")
  assert.ok(await tab.run(isClosed), 'the focus stays at the button')
})

drive('the list of keys fits a small window, with its button Close in sight', async () => {
  await tab.size(390, 420)
  await tab.run("document.querySelector('[aria-label=Keys]').click()")
  const dialog = "document.querySelector('dialog.keys')"
  const isSeen = (selector: string): string => `(() => {
    const { top, bottom } = ${dialog}.querySelector('${selector}').getBoundingClientRect()
    const frame = ${dialog}.getBoundingClientRect()
    return top >= Math.max(0, frame.top) && bottom <= Math.min(innerHeight, frame.bottom)
  })()`
  await tab.until(`${dialog}?.open === true`)
  assert.ok(await tab.run(isSeen('header button')), 'at the top')
  assert.not(await tab.run(isSeen('#single-keys')))
  await tab.picture('keys-small-top')
  await tab.run(`${dialog}.scrollTo(0, 9999)`)
  await tab.until(isSeen('#single-keys'))
  assert.ok(await tab.run(isSeen('header button')), 'at the end')
  await tab.picture('keys-small-end')
  await tab.click('Close')
  await tab.until(`${dialog} === null`)
  await tab.size(1280, 900)
  await tab.run("document.querySelector('.row button').focus()")
})

drive('the list of keys names each key, holds the focus and gives it back', async () => {
  await holds('.row button')
  await tab.press('?')
  await tab.until("document.querySelector('dialog.keys')?.open === true")
  for (let presses = 0; presses < 6; presses++) {
    await tab.press('Tab')
    // After the last element of a dialog the focus leaves the page for the browser.
    assert.ok(await tab.run("document.activeElement === document.body || document.activeElement.closest('dialog') !== null"))
  }
  const keys = await tab.run("[...document.querySelectorAll('dialog kbd')].map((one) => one.textContent)")
  assert.equal(keys, ['n', 's', 'J', 'K', 'u', ',', '?'])
  await tab.press('Escape')
  await tab.until("document.querySelector('dialog') === null")
  await holds('.row button')
  await tab.press(',')
  await tab.untilText('Max Iterations')
  await tab.press('J')
  await tab.until("location.hash.startsWith('#/c/')")
  await tab.until("document.querySelector('.composer-text') !== null")
  await tabTo('.row button', 'Shift+Tab')
  await tab.press('?')
  await tab.untilText('Close the panel, or stop the agent')
  await tab.run("document.querySelector('#single-keys').focus()")
  await tab.press(' ')
  await tab.press('Escape')
  await tab.until("document.querySelector('dialog') === null")
  await tab.press('n')
  await tab.press('?')
  assert.ok(await tab.run("location.hash.startsWith('#/c/') && document.querySelector('dialog') === null"))
})

// The page asks whether it is signed in already.
drive('nothing failed', () => {
  assert.equal(tab.faults.filter((fault) => !fault.includes('status of 401')), [])
})

test.run()
