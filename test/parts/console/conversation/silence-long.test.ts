/** The event socket of a conversation that has gone silent, in a real Chromium: a dead socket is opened again. */
import * as assert from 'uvu/assert'
import { startServer } from '../../../support/server.ts'
import { suite } from '../../../support/suite.ts'
import { driveIn } from '../chromium.ts'
import { create, send, show, untilStatus, withTab } from './driving.ts'

const test = suite('parts/console/conversation: a silent socket in Chromium', 60_000)
const drive = driveIn(test)

/**
 * The timers of 40 s end when the test says so. `sockets` has the sockets of the page; frames for `deaf` are dropped.
 */
const prepared = `{
  const real = setTimeout
  const timers = new Map()
  let last = -1
  window.setTimeout = (run, ms, ...more) => {
    if (ms !== 40000) return real(run, ms, ...more)
    timers.set(--last, run)
    return last
  }
  const clear = clearTimeout
  window.clearTimeout = (id) => timers.delete(id) || clear(id)
  // The stream of changes has a timer of 40 s too. Only the timer of the socket waits for an answer.
  window.waiting = () => [...timers].filter(([, run]) => run.constructor.name === 'AsyncFunction')
  window.silence = () => { const [[id, run]] = window.waiting(); timers.delete(id); return run() }
  window.sockets = []
  const listen = WebSocket.prototype.addEventListener
  WebSocket.prototype.addEventListener = function (name, heard, ...more) {
    if (!window.sockets.includes(this)) window.sockets.push(this)
    return listen.call(this, name, (event) => name === 'message' && this === window.deaf ? undefined : heard(event), ...more)
  }
}`

drive('a socket that brings nothing is kept while the page has the newest event, and is opened again when it has not', async () => {
  const server = await startServer({})
  try {
    await withTab(server, async (tab) => {
      await tab.run(prepared)
      const id = await create(server)
      await show(tab, id)
      await send(tab, 'run: echo first-word')
      await untilStatus(tab, 'Finished')
      await tab.run('window.silence()')
      assert.is(await tab.run('window.sockets.length'), 1)
      assert.is(await tab.run('window.waiting().length'), 1, 'the page waits for the next silence')
      await tab.run('void (window.deaf = window.sockets[0])')
      const content = [{ type: 'text', text: 'run: echo second-word' }]
      await server.rest.post(`/api/conversations/${id}/events`, { role: 'user', content, run: true })
      await tab.run('window.silence()')
      await tab.untilText('run: echo second-word')
      assert.is(await tab.run('window.sockets.length'), 2)
      assert.is(await tab.run('window.sockets[0].readyState >= WebSocket.CLOSING'), true)
      await untilStatus(tab, 'Finished')
    })
  } finally {
    await server.close()
  }
})

drive('a silent socket is opened again when the server does not answer', async () => {
  const server = await startServer({})
  try {
    await withTab(server, async (tab) => {
      await tab.run(prepared)
      await show(tab, await create(server))
      await tab.run('void (window.deaf = window.sockets[0])')
      await tab.run(`void (() => {
        const real = fetch
        window.fetch = (url, ...more) => {
          return window.isAway && String(url).includes('/events/search') ? Promise.reject(new TypeError()) : real(url, ...more)
        }
        window.isAway = true
      })()`)
      await tab.run('window.silence()')
      await tab.until('window.sockets.length === 2')
      await tab.run('void (window.isAway = false)')
      await tab.until("document.querySelector('.connection').textContent.startsWith('Connected again')")
    })
  } finally {
    await server.close()
  }
})

test.run()
