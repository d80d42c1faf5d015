/**
 * Attacks of a hostile page on the browser, tried on a real Chromium: it reaches no address of this machine, sees and
 * tampers with nothing of ours, and is seen by a model only as a person would see it (SECURITY.md).
 */
import { createSocket } from 'node:dgram'
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { readContent } from '../../../src/parts/browser/content.ts'
import { click } from '../../../src/parts/browser/input.ts'
import { navigate } from '../../../src/parts/browser/navigation.ts'
import { suite } from '../../support/suite.ts'
import { browserSuite, servePages, untilTitle } from './browsers.ts'

const test = suite('browser/attacks', 90_000)

const reaching = `<title>Reaching</title><script>
  const target = new URLSearchParams(location.search).get('target')
  const [, port] = target.split(':')
  const hosts = [target, 'localhost:' + port, 'a.localhost:' + port, '[::1]:' + port, '0.0.0.0:' + port, '[::ffff:127.0.0.1]:' + port]
  const waits = hosts.flatMap((host) => {
    const image = new Image()
    image.src = 'http://' + host + '/image'
    const frame = document.createElement('iframe')
    frame.src = 'http://' + host + '/frame'
    document.documentElement.append(frame)
    navigator.sendBeacon('http://' + host + '/beacon', 'x')
    const socket = new Promise((resolve) => { new WebSocket('ws://' + host + '/socket').onclose = resolve })
    const worker = new Worker(URL.createObjectURL(new Blob(['fetch("http://' + host + '/worker", {mode: "no-cors"}).finally(() => postMessage(1))'])))
    return [socket, new Promise((resolve) => { worker.onmessage = resolve }), fetch('http://' + host + '/fetch', { mode: 'no-cors' }).catch(() => 0)]
  })
  const wait = new Promise((resolve) => setTimeout(resolve, 1500))
  Promise.all([...waits, wait]).then(() => { document.title = 'Done' })
</script>`

const udp = `<title>UDP</title><script>
  const target = new URLSearchParams(location.search).get('target')
  const connection = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + target }] })
  connection.createDataChannel('x')
  connection.createOffer().then((offer) => connection.setLocalDescription(offer))
  try { new WebTransport('https://' + target + '/').closed.catch(() => 0) } catch {}
  setTimeout(() => { document.title = 'Done' }, 2000)
</script>`

const tampering = `<title>Tampering</title><p>Seen text</p><button>Button</button><input type="password" value="secret"><script>
  for (const type of [Array, String, Set, Map, Element, HTMLElement, Document, Node]) {
    for (const name of Object.getOwnPropertyNames(type.prototype)) {
      try { type.prototype[name] = () => { document.title = 'Tampered' } } catch {}
    }
  }
  document.createTreeWalker = document.elementFromPoint = () => { document.title = 'Tampered' }
  JSON.stringify = () => '"tampered"'
  Object.defineProperty(window, 'agentElements', { set() { document.title = 'Tampered' } })
</script>`

const { browse } = browserSuite(test, {
  '/reaching': reaching,
  '/udp': udp,
  '/tampering': tampering,
  '/files': '<title>Files</title><a href="file:///etc/passwd">File</a><iframe src="file:///etc/passwd"></iframe>',
  '/redirecting': (request, response) => {
    response.writeHead(302, { location: new URL(request.url ?? '', 'http://x').searchParams.get('to') ?? '' }).end()
  },
  '/asking': `<title>Asking</title><script>
    navigator.geolocation.getCurrentPosition(() => 0, ({ code }) => { document.title = 'location ' + code })
    Notification.requestPermission().then((answer) => { document.title += ' notify ' + answer })</script>`,
})

browse('no page reaches an address of this machine that is not listed, by no way', async (browser) => {
  const { act, pages } = browser
  const other = await servePages({})
  try {
    await act((open, signal) => {
      return navigate(open, { url: pages.url(`/reaching?target=${other.host}`), newTab: false }, signal)
    })
    await untilTitle(browser, 'Done')
    const redirected = await act((open, signal) => {
      return navigate(open, { url: pages.url(`/redirecting?to=${other.url('/redirected')}`), newTab: false }, signal)
    })
    assert.match(redirected, /its server cannot be found or reached, or its address is not open to the browser$/)
    assert.equal(other.requests, [])
  } finally {
    await other.close()
  }
})

browse('no UDP leaves the browser, by WebRTC or QUIC', async (browser) => {
  const socket = createSocket('udp4')
  let packets = 0
  socket.on('message', () => packets++)
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  try {
    const url = browser.pages.url(`/udp?target=127.0.0.1:${socket.address().port}`)
    await browser.act((open, signal) => navigate(open, { url, newTab: false }, signal))
    await untilTitle(browser, 'Done')
    assert.is(packets, 0)
  } finally {
    socket.close()
  }
})

browse('no page leads to a file of this machine', async (browser) => {
  await browser.open('/files')
  const index = await browser.find('"File"')
  assert.match(await browser.act((open, signal) => click(open, { index, newTab: false }, signal)), /Title: Files$/)
  assert.match(
    await browser.act((open, signal) => click(open, { index, newTab: true }, signal)),
    /no new tab was opened|about:blank/,
  )
  const { act, pages } = browser
  const redirected = await act((open, signal) => {
    return navigate(open, { url: pages.url('/redirecting?to=file:///etc/passwd'), newTab: false }, signal)
  })
  assert.match(redirected, /^Cannot open .*: net::ERR_UNSAFE_REDIRECT$/)
  assert.not.match(
    await act((open, signal) => readContent(open, { withLinks: false, startFromChar: 0 }, signal)), /root:/,
  )
})

browse('a page cannot change how it is read, nor learn of it', async (browser) => {
  await browser.open('/tampering')
  const state = await browser.state()
  assert.match(state, /\[0\] button "Button"\n\[1\] input password "" value="\(hidden\)"$/)
  assert.match(
    await browser.act((open, signal) => readContent(open, { withLinks: false, startFromChar: 0 }, signal)),
    /Title: Tampering\n\nSeen text\n\nButton$/,
  )
  assert.match(
    await browser.act((open, signal) => click(open, { index: 0, newTab: false }, signal)), /Title: Tampering$/,
  )
})

browse('a page is given no permission', async (browser) => {
  await browser.open('/asking')
  await untilTitle(browser, 'location 1 notify denied')
})

browse('no process of the browser listens on a port: it is driven by a pipe alone', async ({ folder, act }) => {
  await act(() => ({ said: '' }))
  const [profile = ''] = readdirSync(`${folder}/run`)
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(profile))
  assert.ok(pids.some((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('--remote-debugging-pipe')))
  const sockets = new Set(pids.flatMap(socketsOf))
  assert.ok(sockets.size > 0)
  const listening = ['tcp', 'tcp6']
    .flatMap((file) => readFileSync(`/proc/net/${file}`, 'latin1').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
  // The fourth column is the state, 0A one that listens; the tenth is the inode (proc_pid_net(5)).
  assert.equal(listening.filter(([, , , state, , , , , , inode = '']) => state === '0A' && sockets.has(inode)), [])
})

browse(
  'nothing of the server is in the environment of the browser, and its profile is private',
  async ({ agent, folder, act }) => {
    await act(() => ({ said: '' }))
    const [profile = ''] = readdirSync(`${folder}/run`)
    assert.ok(existsSync(`${folder}/run/${profile}/profile`))
    const environments = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(environmentOf).filter((text) => {
      return text.includes(profile)
    })
    assert.ok(environments.length > 0)
    for (const environment of environments) assert.not.match(environment, /never-passed-on/)
    await agent.close()
    assert.equal(readdirSync(`${folder}/run`), [])
  },
)

/** The inodes of the sockets of a process; none of one that has ended. */
function socketsOf(pid: string): string[] {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((name) => readlinkSync(`/proc/${pid}/fd/${name}`))
    return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [])
  } catch {
    return []
  }
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

test.run()
