/** Services that this server does not have, as a client asks a real server for them. */
import * as assert from 'uvu/assert'
import { check } from '../../../src/schema/check.ts'
import { definitions } from '../../../src/parts/absent/spec.ts'
import { member } from '../../support/rest.ts'
import { withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/absent')
const withFresh = (body: (server: TestServer) => Promise<void>) => () => withServer(body)

test('lists are empty, and a state says that there is nothing', withFresh(async ({ rest }) => {
  assert.equal((await rest.get('/api/automation/v1?limit=50&offset=0')).json, { automations: [], total: 0 })
  assert.equal((await rest.get('/api/canvas-extensions/installed')).json, { canvas_extensions: [] })
  // The web page takes any other word than "ok" for a service that is not there.
  assert.is.not(member((await rest.get('/api/automation/health')).json, 'status'), 'ok')
  assert.equal((await rest.get('/api/automation/sdk-version')).json, { sdk_version: null })
  const { json } = await rest.get('/api/vscode/status')
  assert.equal([check('EditorStatus', json, definitions), member(json, 'enabled')], [[], false])
  for (const path of ['/api/vscode/url', '/api/desktop/url']) assert.is((await rest.get(path)).status, 503)
}))

test('a choice about telemetry changes nothing', withFresh(async ({ rest }) => {
  const before = (await rest.get('/api/settings')).text
  const choice = { consent_granted: true, frontend_distinct_id: 'somebody' }
  assert.is((await rest.post('/api/automation/v1/telemetry/consent', choice)).status, 200)
  assert.is((await rest.get('/api/settings')).text, before)
}))

test.run()
