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
 * While `isNextDeaf` is true, each new socket becomes `deaf`.
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
    if (!window.sockets.includes(this)) {
      window.sockets.push(this)
      if (window.isNextDeaf) window.deaf = this
    }
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

const noAnswers = [
  ['the server does not answer', 'Promise.reject(new TypeError())'],
  ['the answer of the server is cut off', `Promise.resolve(new Response('{"items": ['))`],
] as const

for (const [when, answer] of noAnswers) {
  drive(`a silent socket is opened again when ${when}`, async () => {
    const server = await startServer({})
    try {
      await withTab(server, async (tab) => {
        await tab.run(prepared)
        await show(tab, await create(server))
        await tab.run('void (window.deaf = window.sockets[0])')
        await tab.run(`void (() => {
          const real = fetch
          window.fetch = (url, ...more) => {
            return window.isAway && String(url).includes('/events/search') ? ${answer} : real(url, ...more)
          }
          window.isAway = true
        })()`)
        await tab.run('window.silence()')
        assert.is(await tab.run('window.waiting().length'), 0, 'the page does not wait for the next silence')
        await tab.until('window.sockets.length === 2')
        await tab.run('void (window.isAway = false)')
        await tab.until("document.querySelector('.connection').textContent.startsWith('Connected again')")
      })
    } finally {
      await server.close()
    }
  })
}

drive('a socket that hangs while it opens is replaced, though the page has the newest event', async () => {
  const server = await startServer({})
  try {
    await withTab(server, async (tab) => {
      await tab.run(prepared)
      const id = await create(server)
      await tab.run('void (window.isNextDeaf = true)')
      // Without a frame the page has no status, for which `show` waits.
      await tab.run(`void (location.hash = '#/c/${id}')`)
      await tab.until('window.sockets.length === 1')
      await tab.run('void (window.isNextDeaf = false)')
      await tab.run('window.silence()')
      assert.is(await tab.run('window.sockets[0].readyState >= WebSocket.CLOSING'), true)
      await tab.until('window.sockets.length === 2')
      await send(tab, 'run: echo first-word')
      await untilStatus(tab, 'Finished')
    })
  } finally {
    await server.close()
  }
})

drive('“Try now” ends the pause of a conversation whose socket was cut, and replaces an attempt that hangs', async () => {
  const server = await startServer({})
  try {
    await withTab(server, async (tab) => {
      await tab.run(prepared)
      // No pause before a further attempt ends by its time.
      await tab.run(`void (() => {
        const real = setTimeout
        window.setTimeout = (run, ms, ...more) => ms >= 225 && ms < 13000 ? 0 : real(run, ms, ...more)
      })()`)
      await show(tab, await create(server))
      await tab.until("document.querySelector('.connection').textContent === ''")
      await tab.until('window.sockets.length === 1')
      await tab.run('void (window.isNextDeaf = true)')
      await tab.run('window.sockets[0].close()')
      await tab.untilText('This conversation is not connected.')
      await tab.click('Try now')
      await tab.until('window.sockets.length === 2')
      await tab.run('void (window.isNextDeaf = false)')
      await tab.click('Try now')
      await tab.until('window.sockets.length === 3')
      assert.is(await tab.run('window.sockets[1].readyState >= WebSocket.CLOSING'), true)
      await tab.until("document.querySelector('.away').textContent === ''")
    })
  } finally {
    await server.close()
  }
})

test.run()
