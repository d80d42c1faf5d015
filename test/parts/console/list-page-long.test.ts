/** The list of the console in a real Chromium: many conversations, copies below their origin, notifications. */
import * as assert from 'uvu/assert'
import { listAt, textAt } from '../../support/rest.ts'
import type { TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { driveOne, holdAnswers, keepNotices, signIn, type Tab } from './chromium.ts'

const test = suite('parts/console: the list in Chromium', 120_000)
let server: TestServer
let tab: Tab

const drive = driveOne(test, (opened) => {
  ({ server, tab } = opened)
})

async function create(body: object = {}): Promise<string> {
  return textAt((await server.rest.post('/api/conversations', body)).json, 'id')
}

/** Returns an expression that is true when the list shows a row with this title. */
function rowOf(title: string): string {
  return `[...document.querySelectorAll('.row')].some((row) => row.innerText.includes('${title}'))`
}

drive('a copy stands below its origin, and a search finds it there', async () => {
  await signIn(tab, server)
  const initial_message = { role: 'user', content: [{ type: 'text', text: 'Show me what you can do' }], run: true }
  const origin = await create({ initial_message })
  await tab.untilText('Finished')
  const events = (await server.rest.get(`/api/conversations/${origin}/events/search`)).json
  const from = textAt(listAt(events, 'items').at(-1), 'id')
  const copy = textAt((await server.rest.post(`/api/conversations/${origin}/fork`, { from_event_id: from })).json, 'id')
  await server.rest.patch(`/api/conversations/${copy}`, { title: 'The other way' })
  await create()
  const order = `[...document.querySelectorAll('.row')].map((row) => row.dataset.id + ' ' + row.className)`
  await tab.until(`${order}.length === 3 && ${order}.indexOf('${copy} row depth-1')
    === ${order}.indexOf('${origin} row depth-0') + 1`)
  await tab.type('input[type=search]', 'other way')
  await tab.until(`document.querySelectorAll('.row').length === 2`)
  await tab.picture('list-copies')
})

drive('a conversation that begins late leaves a person in another view there, and is told', async () => {
  await tab.run("void (location.hash = '#/')")
  await tab.until("document.querySelector('.task-box') !== null")
  await tab.run(`(() => { const search = document.querySelector('input[type=search]')
    search.value = ''
    search.dispatchEvent(new Event('input')) })()`)
  const answers = await holdAnswers(tab, /\/api\/conversations$/)
  await keepNotices(tab)
  await tab.type('.task-box', 'a task that begins late')
  await tab.click('Start')
  await answers.held()
  await tab.run("void (location.hash = '#/settings/secrets')")
  await tab.until("document.querySelector('.section form') !== null")
  await tab.run("void (location.hash = '#/')")
  await tab.until("document.querySelector('.task-box')?.value === 'a task that begins late'")
  await tab.type('.task-box', 'another task')
  await answers.release()
  await tab.untilText('The new conversation has begun')
  await tab.picture('list-begun-late')
  assert.is(await tab.run('location.hash'), '#/')
  assert.is(await tab.run("document.querySelector('.task-box').value"), 'another task')
  assert.is(await tab.run("localStorage.getItem('agent-server-draft')"), 'another task')
  await tab.click('Open')
  await tab.until("document.querySelector('.row.open .row-title')?.textContent === 'a task that begins late'")
  const id = String(await tab.run("document.querySelector('.row.open').dataset.id"))
  await tab.run("void (localStorage.removeItem('agent-server-draft'), location.hash = '#/')")
  await tab.until("document.querySelector('.task-box') !== null")
  await server.rest.delete(`/api/conversations/${id}`)
  await tab.until(`document.querySelector('.row[data-id="${id}"]') === null`)
})

drive('a question in any conversation notifies while the page is hidden, and only a button asks for that', async () => {
  await tab.call('Browser.grantPermissions', {
    origin: server.url, permissions: ['notifications'], browserContextId: tab.browserContextId,
  })
  await tab.run(`(() => {
    const Real = Notification
    window.told = []
    window.Notification = class extends Real {
      constructor(title, options) { super(title, options); window.told.push(title + ': ' + options.body)
        window.shown = this }
    }
    Object.defineProperty(document, 'hidden', { value: true, configurable: true })
  })()`)
  assert.is(await tab.run('Notification.permission'), 'granted')
  const content = [{ type: 'text', text: 'run: echo hello' }]
  const initial_message = { role: 'user', content, run: true }
  const id = await create({ initial_message, confirmation_policy: { kind: 'AlwaysConfirm' } })
  await tab.until('window.told.length === 1')
  assert.match(String(await tab.run('window.told[0]')), 'An agent asks a question')
  // Pressing the notification shows the conversation with the question.
  await tab.run("window.shown.dispatchEvent(new Event('click'))")
  await tab.until(`location.hash === '#/c/${id}'`)
  await tab.untilText('May the agent do this?')
  await tab.run("Object.defineProperty(document, 'hidden', { value: false })")
})

drive('conversations of several pages are all there, from end to end of the list', async () => {
  for (let made = 0; made < 140; made += 20) await Promise.all(Array.from({ length: 20 }, () => create()))
  await tab.open('about:blank')
  await tab.open(`${server.url}/console/`)
  await tab.until("document.querySelectorAll('.row').length === 144")
  // The elements of rows are drawn when they come into view, so the list is scrolled from end to end, frame by frame.
  const frames = await tab.run(`new Promise((done) => {
    const list = document.querySelector('.conversations')
    let frames = 0
    const step = () => {
      list.scrollTop += 250
      frames++
      if (list.scrollTop + list.clientHeight >= list.scrollHeight - 2) done(frames)
      else requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  })`)
  assert.ok(Number(frames) > 20)
  await tab.until("document.querySelector('.row:last-child').checkVisibility({ contentVisibilityAuto: true })")
  await tab.picture('list-many')
})

drive('conversations of earlier days stand below headings', async () => {
  // The page gets the true list with other times: each conversation is as many days old as there are before it. The
  // second page of the list continues after 100 conversations.
  await tab.call('Page.addScriptToEvaluateOnNewDocument', { source: `{
    const real = Response.prototype.json
    Response.prototype.json = async function () {
      const body = await real.call(this)
      const before = this.url.includes('page_id=') ? 100 : 0
      for (const [index, one] of this.url.includes('/search?') ? body.items.entries() : []) {
        one.updated_at = new Date(Date.now() - (before + index) * 86400000).toISOString()
        one.forked_from_conversation_id = null
      }
      return body
    }
  }` })
  await tab.open('about:blank')
  await tab.open(`${server.url}/console/`)
  await tab.until("document.querySelectorAll('.row').length === 144")
  const headings = "[...document.querySelectorAll('.conversations > .age')].map((one) => one.textContent).join()"
  await tab.until(`${headings} === 'Yesterday,Last 7 days,Earlier'`)
  const first = "document.querySelector('.conversations > .age').nextElementSibling.querySelector('.row-meta').textContent"
  assert.match(String(await tab.run(first)), '1 d')
  await tab.picture('list-ages')
  // The only conversation of today stands before a heading.
  const ids = await tab.run("[...document.querySelectorAll('.row')].slice(0, 2).map((row) => row.dataset.id)")
  await tab.run("document.querySelector('.row button').click()")
  await tab.click('Delete')
  await tab.until("document.querySelectorAll('.row').length === 143")
  const focused = "document.activeElement.closest('.row')?.dataset.id"
  assert.equal([ids].flat()[1], await tab.run(focused))
})

drive('the key u undoes the newest deletion, also when an earlier one is done meanwhile', async () => {
  const ids = [await create(), await create()]
  for (const [at, id] of ids.entries()) await server.rest.patch(`/api/conversations/${id}`, { title: `Number ${at}` })
  await tab.untilText('Number 1')
  await tab.run(`void (() => {
    const real = setInterval
    window.notices = []
    window.setInterval = (run, ms, ...more) => ms === 8000 ? window.notices.push(run) : real(run, ms, ...more)
  })()`)
  for (const at of ids.keys()) {
    await tab.click(`Actions for Number ${at}`)
    await tab.click('Delete')
    await tab.until(`window.notices.length === ${at + 1}`)
  }
  await tab.run('window.notices[0]()')
  await tab.until(`document.querySelectorAll('.notice').length === 1`)
  await tab.press('u')
  await tab.until(rowOf('Number 1'))
  assert.is((await server.rest.get(`/api/conversations/${ids[1]}`)).status, 200)
})

drive('the key u undoes an earlier deletion whose notice is still shown, when the newest is done', async () => {
  for (const at of [0, 1]) {
    await server.rest.patch(`/api/conversations/${await create()}`, { title: `Later ${at}` })
    await tab.untilText(`Later ${at}`)
  }
  const before = Number(await tab.run('window.notices.length'))
  for (const at of [0, 1]) {
    await tab.click(`Actions for Later ${at}`)
    await tab.click('Delete')
    await tab.until(`window.notices.length === ${before + at + 1}`)
  }
  await tab.run(`window.notices[${before + 1}]()`)
  await tab.until(`document.querySelectorAll('.notice').length === 1`)
  await tab.press('u')
  await tab.until(rowOf('Later 0'))
})

drive('a conversation whose deletion fails is shown again, with the reason', async () => {
  await keepNotices(tab)
  await tab.click('Actions for Number 1')
  await tab.run(`void (() => {
    const real = fetch
    window.fetch = (address, init) => init?.method === 'DELETE'
      ? Promise.resolve(Response.json({ detail: 'The disk is away' }, { status: 503 })) : real(address, init)
  })()`)
  await tab.click('Delete')
  await tab.until(`!${rowOf('Number 1')}`)
  await tab.run("void dispatchEvent(new Event('pagehide'))")
  await tab.untilText('was not deleted: The disk is away')
  await tab.until(rowOf('Number 1'))
  await tab.picture('list-not-deleted')
})

drive('a change that arrives while the list is being read counts more than the pages, which can be older', async () => {
  const gone = await create()
  await tab.call('Page.addScriptToEvaluateOnNewDocument', { source: `{
    const real = Response.prototype.json
    window.held = []
    Response.prototype.json = async function () {
      const body = await real.call(this)
      if (window.held !== undefined && /conversations.search/.test(this.url)) {
        await new Promise((go) => window.held.push(go))
      }
      return body
    }
  }` })
  await tab.open('about:blank')
  await tab.open(`${server.url}/console/`)
  await tab.until('window.held?.length > 0')
  await server.rest.delete(`/api/conversations/${gone}`)
  const id = await create()
  const hasRow = (one: string): string => `document.querySelector('.row[data-id="${one}"]') !== null`
  await tab.until(hasRow(id))
  await tab.run('window.held.splice(0).forEach((go) => go()), window.held = undefined')
  await tab.until("document.querySelectorAll('.row').length > 100")
  assert.is(await tab.run(hasRow(id)), true)
  assert.is(await tab.run(hasRow(gone)), false)
})

drive('nothing failed', () => assert.equal(tab.faults, []))

test.run()
