/** The life of a conversation's browser: started when needed, replaced when it has ended, and nothing left of it. */
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { messageOf } from '../../../src/base/errors.ts'
import { fenceFolder } from '../../../src/base/write-fence.ts'
import { AgentBrowser, type AgentBrowserOptions } from '../../../src/parts/browser/agent-browser.ts'
import type { Browser } from '../../../src/parts/browser/browser.ts'
import { navigate } from '../../../src/parts/browser/navigation.ts'
import { BrowserPlaces } from '../../../src/parts/browser/places.ts'
import { signalProcess } from '../../../src/process/proc.ts'
import { ProcessTable } from '../../../src/process/process-table.ts'
import { makeFolder, until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'
import { browserOptions, browserSuite, instance, isBrowserThere, textOf, withoutSandbox } from './browsers.ts'

const test = suite('browser/agent-browser', 90_000)

const { browse } = browserSuite(test, {
  '/page': '<title>Page</title>',
  '/moving': '<title>Moving</title><style>@keyframes move { to { margin-left: 500px } } p { animation: move 1s ' +
    'infinite }</style><p>moves</p>',
  '/never': () => undefined,
}, { limits: { loadMs: 3000, recording: { limitFrames: 3, limitBytes: 10_000_000, intervalMs: 10 } } })

const nothing = (): { said: string } => ({ said: 'nothing' })
const later = (ms: number): AbortSignal => AbortSignal.timeout(ms)

async function processesOfBrowser(): Promise<number> {
  const table = new ProcessTable('/proc')
  const all = await table.read() ?? []
  return (await table.selectMarked(all, (marker) => marker.startsWith(`${instance}/browser-`))).length
}

async function killBrowser(): Promise<void> {
  const table = new ProcessTable('/proc')
  const all = await table.read() ?? []
  for (const one of await table.selectMarked(all, (marker) => marker.startsWith(`${instance}/browser-`))) {
    signalProcess('/proc', one, 'SIGKILL')
  }
}

browse('actions are done one after another', async ({ agent }) => {
  const order: string[] = []
  const act = (name: string): Promise<unknown> => agent.act(later(60_000), async () => {
    order.push(`${name} begins`)
    await new Promise((resolve) => setImmediate(resolve))
    order.push(`${name} ends`)
    return { said: name }
  })
  await Promise.all([act('one'), act('two'), act('three')])
  assert.equal(order, ['one begins', 'one ends', 'two begins', 'two ends', 'three begins', 'three ends'])
})

browse('an action that is stopped ends at once, and the next one goes on', async ({ agent, pages, open }) => {
  const stop = new AbortController()
  const url = pages.url('/never')
  const stopped = agent.act(stop.signal, (browser, signal) => navigate(browser, { url, newTab: false }, signal)).catch(
    (thrown: unknown) => thrown,
  )
  await until(() => pages.requests.includes('/never'))
  const waiting = agent.act(stop.signal, nothing).catch((thrown: unknown) => thrown)
  stop.abort(new Error('Stopped'))
  assert.equal([await stopped, await waiting].map(messageOf), ['Stopped', 'Stopped'])
  assert.match(await open('/page'), /Title: Page$/)
})

test('a browser whose folder cannot be removed gives its place to the next', async () => {
  if (!isBrowserThere) return
  const { folder, remove } = makeFolder()
  const agent = new AgentBrowser({ ...browserOptions(folder), places: new BrowserPlaces(1) })
  try {
    await agent.act(later(60_000), nothing)
    const free = fenceFolder(folder, () => false)
    await killBrowser()
    let refused: unknown
    await until(async () => {
      refused = await agent.act(later(60_000), nothing).then(() => undefined, (thrown: unknown) => thrown)
      return refused !== undefined
    })
    free()
    assert.match(messageOf(refused), 'another server may own')
    assert.is((await agent.act(later(60_000), nothing)).said, 'nothing')
  } finally {
    await agent.close()
    remove()
  }
})

browse('a browser that has ended is replaced, and that is told', async ({ open, act }) => {
  await open('/page')
  await killBrowser()
  let said = ''
  await until(async () => {
    said = await act(nothing)
    return !said.includes('The browser has ended')
  })
  assert.match(said, /^The browser had ended and was started anew: its tabs and its storage are gone\.\nnothing$/)
  assert.match(await open('/page'), /Title: Page$/)
})

browse(
  'a recording holds what was seen, up to its limit, and is written when it is stopped',
  async ({ agent, open, folder }) => {
    const signal = later(60_000)
    await agent.act(signal, nothing)
    assert.match(await agent.stopRecording(signal).then(textOf), /^Cannot stop the recording: none is running/)
    assert.match((await agent.startRecording(signal)).said, /^The recording has begun\. It keeps at most 3 frames/)
    assert.match(await agent.startRecording(signal).then(textOf), /^Cannot start a recording: one is running/)
    await open('/moving')
    assert.not.ok(existsSync(join(folder, 'observations')))
    let frames = 0
    await until(async () => {
      await open('/moving')
      return ++frames >= 3
    })
    const { said, folder: saved = '' } = await agent.stopRecording(signal)
    assert.match(said, /^The recording has 3 frames from \d\.\d seconds, saved as JPEG files in .*\. It was full; later frames are not in it\.$/)
    const names = readdirSync(saved).sort()
    assert.equal(names.map((name) => name.replace(/\d+ms/, 'ms')), ['0001-ms.jpg', '0002-ms.jpg', '0003-ms.jpg'])
  },
)

browse('onSwitch gets the tab that is opened after all tabs have been closed', async ({ act }) => {
  const told: string[] = []
  let current = ''
  const said = await act(async (browser, signal) => {
    for (const { targetId } of browser.tabs) await browser.root.call('Target.closeTarget', { targetId }, { signal })
    await until(async () => browser.tabs.length === 0)
    browser.onSwitch = (tab) => { told.push(tab.id) }
    await browser.refresh({ signal })
    browser.onSwitch = undefined
    current = browser.current.id
    return { said: 'done' }
  })
  assert.match(said, /^done/)
  assert.equal(told, [current])
})

browse('a recording follows the current tab', async ({ agent, act, pages }) => {
  const signal = later(60_000)
  await agent.startRecording(signal)
  await act((browser, abort) => navigate(browser, { url: pages.url('/moving'), newTab: true }, abort))
  assert.match((await agent.stopRecording(signal)).said, /^The recording has \d frames?/)
})

browse('nothing is left when it is closed, and it is not started again', async ({ agent, folder }) => {
  await agent.act(later(60_000), nothing)
  assert.ok(await processesOfBrowser() > 0)
  await Promise.all([agent.close(), agent.close()])
  assert.is(await processesOfBrowser(), 0)
  assert.equal(readdirSync(join(folder, 'run')), [])
  assert.match(await agent.act(later(1000), nothing).catch(messageOf).then(String), /^The browser is being closed$/)
})

browse('closing stops what is being done', async () => {
  const { folder, remove } = makeFolder()
  const agent = new AgentBrowser(browserOptions(folder))
  let begun = false
  const waiting = agent.act(later(60_000), (_browser: Browser, signal) => new Promise((_resolve, reject) => {
    begun = true
    signal.addEventListener('abort', () => reject(signal.reason))
  })).catch(messageOf)
  await until(() => begun)
  await agent.close()
  assert.is(await waiting, 'The browser is being closed')
  remove()
})

browse('no more browsers run than have a place, and one that is closed makes room', async () => {
  const { folder, remove } = makeFolder()
  const places = new BrowserPlaces(1)
  const [one, other] = [
    new AgentBrowser({ ...browserOptions(folder), places }), new AgentBrowser({ ...browserOptions(folder), places }),
  ]
  const signal = later(60_000)
  assert.is((await one.act(signal, nothing)).said, 'nothing')
  assert.is(
    await other.act(signal, nothing).catch(messageOf),
    'Cannot start another browser: 1 run on this server, as many as --browser-limit allows',
  )
  await one.close()
  assert.is((await other.act(signal, nothing)).said, 'nothing')
  await other.close()
  remove()
})

test('a browser that does not start takes no place', async () => {
  const places = new BrowserPlaces(1)
  for (const _ of [1, 2]) {
    assert.match(await failure({ program: '/nowhere/chromium', places }), /^No browser is installed/)
  }
})

/** Returns the error of the first action with these options, on a machine that has this program. */
async function failure(options: Partial<AgentBrowserOptions>, program = ''): Promise<string> {
  const { folder, remove } = makeFolder()
  const path = join(folder, 'program')
  writeFileSync(path, `#!/bin/sh\n${program}`)
  chmodSync(path, 0o700)
  const agent = new AgentBrowser({ ...browserOptions(folder), program: path, ...options })
  try {
    return await agent.act(later(30_000), nothing).then(({ said }) => said, messageOf)
  } finally {
    await agent.close()
    assert.equal(readdirSync(folder).includes('run') ? readdirSync(join(folder, 'run')) : [], [])
    remove()
  }
}

test('says what to install where there is no browser', async () => {
  assert.is(await failure({ program: undefined, env: { PATH: '/nowhere:relative' } }), [
    'No browser is installed: none of chromium, chromium-browser, google-chrome-stable, google-chrome, chrome is in ' +
      'the PATH;',
    'install Chromium (Debian and Ubuntu: apt install chromium) or name the program with --browser',
  ].join(' '))
  assert.match(
    await failure({ program: '/nowhere/chromium' }),
    /^No browser is installed: "\/nowhere\/chromium" cannot be executed; install/,
  )
})

test('says that the folder of a browser cannot be made', async () => {
  const runtimeDir = '/dev/null/run'
  assert.match(await failure({ runtimeDir }), /^Cannot make the folder of the browser/)
})

test('says why a browser does not start, and what helps where that is its sandbox', async () => {
  const sandbox = 'echo "[1:1:0101/000000.000000:FATAL:zygote.cc(1)] No usable sandbox! Update your kernel" >&2; exit 1'
  assert.match(await failure({ withoutSandbox: false }, sandbox), /^Cannot start the browser ".*": No usable sandbox! Update your kernel; run the server as a user other than root, .* --browser-no-sandbox$/)
  assert.match(
    await failure({}, 'echo "[1:1:ERROR:a.cc(1)] small" >&2; echo "[1:1:FATAL:b.cc(2)] Large problem" >&2; exit 1'),
    /^Cannot start the browser ".*": Large problem$/,
  )
  assert.match(await failure({}, 'exit 3'), /^Cannot start the browser ".*": The browser has ended$/)
})

const rootAsks = 'as root, a browser with its sandbox is refused with the reason'
if (!isBrowserThere || !withoutSandbox) test.skip(rootAsks, 'needs Chromium and root')
else test(rootAsks, async () => {
  const { folder, remove } = makeFolder()
  const agent = new AgentBrowser({ ...browserOptions(folder), withoutSandbox: false })
  const said = await agent.act(later(60_000), nothing).then(textOf, messageOf)
  assert.match(
    said,
    /^Cannot start the browser ".*": Running as root without --no-sandbox .*; run the server as a user other than root/,
  )
  remove()
})

test('a browser that is stopped while it starts leaves nothing', async () => {
  const { folder, remove } = makeFolder()
  const path = join(folder, 'program')
  writeFileSync(path, '#!/bin/sh\nexec sleep 1000')
  chmodSync(path, 0o700)
  const agent = new AgentBrowser({ ...browserOptions(folder), program: path })
  const stop = new AbortController()
  const starting = agent.act(stop.signal, nothing).catch(messageOf)
  await until(async () => await processesOfBrowser() > 0)
  stop.abort(new Error('Stopped'))
  assert.is(await starting, 'Stopped')
  assert.is(await processesOfBrowser(), 0)
  await agent.close()
  remove()
})

test.run()
