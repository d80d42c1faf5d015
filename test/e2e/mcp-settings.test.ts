/** The routes of one MCP server in the settings, behind a real server. */
import * as assert from 'uvu/assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { member, type RestResponse } from '../support/rest.ts'
import { withServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('e2e/mcp-settings')
const path = '/api/settings/mcp'
const withFresh = (body: (server: TestServer) => Promise<void>) => () => withServer(body)
const serverIn = ({ json }: RestResponse, name: string): unknown => member(json, 'agent_settings', 'mcp_config', name)
const plain = async ({ rest }: TestServer, name: string): Promise<unknown> =>
  serverIn(await rest.get('/api/settings', { 'X-Expose-Secrets': 'plaintext' }), name)

test('a server is added, changed and removed, and its siblings keep their secrets', withFresh(async (server) => {
  const { rest, dataDir } = server
  const secret = { command: 'true', env: { TOKEN: 'canary-of-the-sibling-1' } }
  const added = await rest.post(`${path}/sibling`, secret)
  assert.equal([added.status, serverIn(added, 'sibling')], [
    201, { ...secret, env: { TOKEN: '**********' }, enabled: true },
  ])
  const remote = { url: 'https://mcp.example/', headers: { 'X-Old': 'canary-of-the-header-1' } }
  assert.is((await rest.post(`${path}/remote`, remote)).status, 201)
  const changed = await rest.patch(`${path}/remote`, {
    enabled: false, headers: { 'X-Old': null, 'X-New': 'canary-of-the-header-2' },
  })
  assert.is(changed.status, 200)
  assert.equal(await plain(server, 'remote'), {
    url: remote.url, headers: { 'X-New': 'canary-of-the-header-2' }, enabled: false,
  })
  assert.equal(await plain(server, 'sibling'), { ...secret, enabled: true })
  assert.not.match(readFileSync(join(dataDir, 'settings.json'), 'utf8'), 'canary')
  const removed = await rest.delete(`${path}/remote`)
  assert.equal([removed.status, serverIn(removed, 'remote')], [200, undefined])
  assert.equal(await plain(server, 'sibling'), { ...secret, enabled: true })
}))

test('a name that is taken is 409, one that is not there 404, and neither changes anything', withFresh(async (
  server,
) => {
  const { rest } = server
  await rest.post(`${path}/one`, { command: 'true' })
  assert.is((await rest.post(`${path}/one`, { command: 'false' })).status, 409)
  assert.is((await rest.patch(`${path}/two`, { command: 'false' })).status, 404)
  assert.is((await rest.delete(`${path}/two`)).status, 404)
  assert.equal(await plain(server, 'one'), { command: 'true', enabled: true })
}))

test('of two that add the same name at once, one gets it', withFresh(async ({ rest }) => {
  const answers = await Promise.all([1, 2, 3].map((number) => rest.post(`${path}/same`, { command: `c${number}` })))
  assert.equal(answers.map(({ status }) => status).sort(), [201, 409, 409])
}))

test('a server that does not fit is refused: its shape, and what comes out of a change', withFresh(async (server) => {
  const { rest } = server
  await rest.post(`${path}/one`, { command: 'true' })
  assert.is((await rest.post(`${path}/two`, { command: 1 })).status, 422)
  assert.is((await rest.post(`${path}/two`, { command: 'x', foreign: 1 })).status, 422)
  for (const answer of [
    await rest.post(`${path}/two`, {}),
    await rest.patch(`${path}/one`, { command: null }),
    await rest.patch(`${path}/one`, { foreign: 1 }),
  ]) assert.equal([answer.status, member(answer.json, 'detail')], [422, 'Settings validation failed'])
  assert.equal(await plain(server, 'one'), { command: 'true', enabled: true })
}))

test('a name may have any characters', withFresh(async (server) => {
  for (const name of ['a b/c?d', '__proto__', 'ü']) {
    assert.is((await server.rest.post(`${path}/${encodeURIComponent(name)}`, { command: 'true' })).status, 201, name)
    assert.equal(await plain(server, name), { command: 'true', enabled: true }, name)
  }
}))

test.run()
