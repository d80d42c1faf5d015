/** A conversation of a real server in a real Chromium: sign-in, the view of a conversation, and messages to it. */
import * as assert from 'uvu/assert'
import type { Event } from '../../../../src/schema/generated/events.ts'
import { textAt } from '../../../support/rest.ts'
import { startServer, type TestServer, type TestServerOptions } from '../../../support/server.ts'
import { openTab, signIn, type Tab } from '../chromium.ts'
import { appendHistory } from './history-file.ts'

/** Calls `body` with a tab that has signed in. Fails when the page had an error that is not `expected`. */
export async function withTab(
  server: TestServer, body: (tab: Tab) => Promise<void>, expected: RegExp | undefined = undefined,
): Promise<void> {
  const tab = await openTab(server.url)
  try {
    await tab.size(1280, 860)
    await signIn(tab, server)
    await body(tab)
    assert.equal(tab.faults.filter((fault) => expected?.test(fault) !== true), [])
  } finally {
    await tab.close()
  }
}

/** Calls `body` with a server whose default agent is the demonstration agent. */
export async function withDemo(
  body: (server: TestServer) => Promise<void>, options: TestServerOptions = {},
): Promise<void> {
  const server = await startServer(options)
  try {
    await body(server)
  } finally {
    await server.close()
  }
}

/** Shows a conversation with these events in its history. `prepare` is an expression that the page runs before. */
export async function withHistory(
  events: Iterable<Event>, body: (tab: Tab, id: string, server: TestServer) => Promise<void>, prepare = '',
  expected: RegExp | undefined = undefined,
): Promise<void> {
  await withDemo(async (before) => {
    const id = await create(before)
    await before.server.close()
    await appendHistory(before.dataDir, id, events)
    await withDemo((server) => withTab(server, async (tab) => {
      await tab.run(prepare)
      await show(tab, id)
      await body(tab, id, server)
    }, expected), { folder: before.folder })
  })
}

export async function create(server: TestServer, more: object = {}): Promise<string> {
  const workspace = { working_dir: `${server.workspaceDir}/work` }
  return textAt((await server.rest.post('/api/conversations', { workspace, ...more })).json, 'id')
}

export async function show(tab: Tab, id: string): Promise<void> {
  // The view of before stays until the new one is there: its edge is marked, so that it does not count as the new one.
  await tab.run(`if (location.hash !== '#/c/${id}') {
    document.querySelector('.edge')?.setAttribute('data-before', '')
    location.hash = '#/c/${id}'
  }`)
  const isThere = "(document.querySelector('.edge:not([data-before])')?.textContent ?? '') !== ''"
  await tab.until(`${isThere} && document.querySelector('.status-words .dot') !== null`)
}

export async function send(tab: Tab, text: string): Promise<void> {
  await tab.type('.composer-text', text)
  await tab.click('Send')
}

/** Waits until the status of the shown conversation has these words. Rows of the list have a status too. */
export function untilStatus(tab: Tab, words: string): Promise<void> {
  const status = "document.querySelector('.run-status')?.textContent"
  return tab.until(`${status}?.includes(${JSON.stringify(words)}) === true`)
}
