/** The browser tools behind a real server: a model that looks at a page, and the end of the browser. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { isBrowserThere, servePages, withoutSandbox } from '../parts/browser/browsers.ts'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import { until } from '../support/processes.ts'
import { listAt, textAt } from '../support/rest.ts'
import { withServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { outline, startTalk } from './talk.ts'

const test = suite('e2e/browser', 90_000)
const name = 'a model opens a page and looks at it, and nothing of the browser is left'

if (!isBrowserThere) test.skip(name, 'no Chromium is installed here')
else test(name, async () => {
  const pages = await servePages({ '/': '<title>Front</title><button>Press</button>' })
  const model = await startAnthropicModel({ script: () => [
    { toolCall: { name: 'browser_navigate', input: { url: pages.url('/') } } },
    { toolCall: { name: 'browser_get_state', input: { include_screenshot: true } } },
    { toolCall: { name: 'browser_navigate', input: { url: 'http://localhost:1/' } } },
    { text: 'Seen.' },
  ] })
  const llm = {
    model: 'anthropic/claude-test', base_url: model.url, api_key: 'key-of-the-model', num_retries: 0, stream: true,
  }
  const options = { browserAllow: [pages.host], browserNoSandbox: withoutSandbox }
  await withServer(async (server) => {
    const { json } = await server.rest.get('/server_info')
    assert.ok(listAt(json, 'usable_tools').includes('browser_tool_set'))
    const talk = await startTalk(server, { agent: { kind: 'Agent', llm, tools: [{ name: 'browser_tool_set' }] } })
    await talk.send('Look')
    await talk.reaches('finished')
    const events = await talk.events()
    assert.equal(outline(events).filter((word) => !word.startsWith('(')), [
      'SystemPromptEvent', 'user message', 'running', 'BrowserNavigateAction', 'BrowserObservation',
      'BrowserGetStateAction', 'BrowserObservation', 'BrowserNavigateAction', 'BrowserObservation', 'agent message',
      'finished',
    ])
    assert.is(listAt(events[0], 'tools').length, 16)
    const observations = events.filter(({ kind }) => kind === 'ObservationEvent')
    assert.match(textAt(observations[1], 'observation', 'screenshot_data'), /^iVBORw0KGgo/)
    assert.match(JSON.stringify(observations[1]), /\[0\] button/)
    assert.match(JSON.stringify(observations[2]), /not open to the browser/)
    assert.match(JSON.stringify(model.requests), /"media_type":"image\/png","data":"iVBORw0KGgo/)
    assert.equal(readdirSync(join(server.dataDir, 'runtime')).filter((entry) => entry.startsWith('browser-')).length, 1)
    assert.is((await server.rest.delete(talk.path)).status, 200)
    await until(() => readdirSync(join(server.dataDir, 'runtime')).length === 0)
  }, options).finally(async () => {
    await model.close()
    await pages.close()
  })
})

test.run()
