/**
 * The page of a server with few parts, and of a key with few rights, in a real Chromium: no view offers to repeat a
 * request that cannot succeed, and each shows the rest.
 */
import * as assert from 'uvu/assert'
import { startServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { addKey } from '../keys/named.ts'
import { driveIn, openTab, type Tab } from './chromium.ts'

const test = suite('parts/console: few parts and few rights in Chromium', 120_000)
const drive = driveIn(test)

async function withKey(server: TestServer, key: string, body: (tab: Tab) => Promise<void>): Promise<void> {
  const tab = await openTab(server.url)
  try {
    await tab.size(1280, 860)
    await tab.open(`${server.url}/console/`)
    await tab.until("document.querySelector('#key') !== null")
    await tab.type('#key', key)
    await tab.click('Sign in')
    await tab.until("document.querySelector('.shell') !== null")
    await body(tab)
  } finally {
    await tab.close()
  }
}

/** Opens each view, waits until it shows its content, and fails if it offers to try again. */
async function visit(tab: Tab, views: readonly (readonly [path: string, shown: string])[]): Promise<void> {
  for (const [path, shown] of views) {
    await tab.run(`void (location.hash = '#${path}')`)
    await tab.until(`(${shown}) === true`)
    assert.is(await tab.run("document.querySelector('.load-fault')?.innerText"), undefined, path)
    await tab.picture(`rights${path.replaceAll('/', '-')}`)
  }
}

const has = (selector: string): string => `document.querySelector('${selector}') !== null`
const says = (words: string): string => `document.querySelector('main').innerText.includes('${words}')`

drive('a server without most parts has agents, credentials and the facts of its storage', async () => {
  const server = await startServer({ parts: ['console', 'demo', 'builtin', 'files', 'git'] })
  try {
    await server.rest.patch('/api/settings', { agent_settings_diff: { agent_kind: 'openhands' } })
    await withKey(server, server.key, (tab) => visit(tab, [
      ['/', has('select option[value=demo]')], ['/welcome/agent', has('#agent-demo')],
      ['/welcome/credentials', has('.step form input')], ['/settings/agent', says('The settings could not be read')],
      ['/settings/sessions', has('.entry')],
      ['/settings/profiles', `${has('.section form select')} && ${says('The agent profiles could not be read')}`],
      ['/settings/storage', `${says('Serves requests')} && ${says('Conversations')}`],
    ]))
  } finally {
    await server.close()
  }
})

drive('a key limited to a tag gets the reasons, and what it may read', async () => {
  const server = await startServer({})
  try {
    const { key } = await addKey(server, 'tagged', { scopes: 'read,drive', tag: 'team=a' })
    await withKey(server, key, (tab) => visit(tab, [
      ['/', has('select option[value=built-in]')], ['/welcome/agent', has('#agent-demo')],
      ['/welcome/credentials', says('The demonstration agent needs no key')],
      ['/settings/secrets', says('The secrets could not be read')],
      ['/settings/profiles', says('The agent profiles could not be read')],
      ['/settings/sessions', says('may not see keys and sessions')],
      ['/settings/storage', says('Serves requests')],
    ]))
  } finally {
    await server.close()
  }
})

drive('a key without the scope `configure` sees the version, the state and the count of the server', async () => {
  const server = await startServer({})
  try {
    const { key } = await addKey(server, 'reader', { scopes: 'read' })
    await withKey(server, key, (tab) => visit(tab, [
      ['/settings/storage', `${says('Serves requests')} && ${says('Conversations')} && ${says('Server')}`],
    ]))
  } finally {
    await server.close()
  }
})

drive('a page with a key without the scope `admin` stays signed in when it is reloaded', async () => {
  const server = await startServer({})
  try {
    const { key } = await addKey(server, 'reader', { scopes: 'read' })
    await withKey(server, key, async (tab) => {
      await tab.run('void (window.isEarlier = true)')
      await tab.call('Page.reload')
      await tab.until("window.isEarlier === undefined && document.querySelector('.shell, #key') !== null")
      assert.ok(await tab.run(has('.shell')))
    })
  } finally {
    await server.close()
  }
})

test.run()
