/** Files of a workspace for a browser: which are there, by which key or cookie, and the limits of a page among them. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { rest, textAt } from '../../support/rest.ts'
import { withServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/files workspace files')

interface World {
  readonly server: TestServer
  readonly root: string
  /** The address of the workspace. */
  readonly address: string
}

function withWorkspace(body: (world: World) => Promise<void>, options?: TestServerOptions): () => Promise<void> {
  return () => withServer(async (server) => {
    const root = join(server.folder, 'site')
    mkdirSync(join(root, 'docs'), { recursive: true })
    const created = await server.rest.post('/api/conversations', { workspace: { working_dir: root } })
    await body({ server, root, address: `/api/conversations/${textAt(created.json, 'id')}/workspace/` })
  }, options)
}

test('gives files by their types, and the index of a folder', withWorkspace(async ({ server, root, address }) => {
  writeFileSync(join(root, 'index.html'), 'top')
  writeFileSync(join(root, 'docs', 'a b.svg'), '<svg/>')
  writeFileSync(join(root, 'data.unknown'), 'x')
  symlinkSync('index.html', join(root, 'link.html'))
  for (const [path, type, text] of [
    ['', 'text/html; charset=utf-8', 'top'], ['index.html', 'text/html; charset=utf-8', 'top'],
    ['docs/a%20b.svg', 'image/svg+xml', '<svg/>'], ['data.unknown', 'application/octet-stream', 'x'],
    ['link.html', 'text/html; charset=utf-8', 'top'],
  ] as const) {
    const got = await server.rest.get(address + path)
    assert.equal([got.status, got.headers['content-type'], got.text], [200, type, text], path)
    assert.equal([got.headers['x-content-type-options'], got.headers['cache-control']], ['nosniff', 'no-store'])
    assert.match(String(got.headers['content-security-policy']), /^sandbox .*frame-ancestors 'self'$/)
  }
  assert.is((await server.rest.get(address.slice(0, -1))).status, 307)
}))

test('gives nothing outside, and nothing that is not there', withWorkspace(async ({ server, root, address }) => {
  writeFileSync(join(server.folder, 'outside'), 'x')
  symlinkSync(join(server.folder, 'outside'), join(root, 'link'))
  symlinkSync(server.dataDir, join(root, 'data'))
  for (const [path, status] of [
    ['', 404], ['docs', 404], ['none', 404], ['link', 400], ['data/settings.json', 400], ['..%2foutside', 400],
    // A path that leaves the route by dots is that of another route.
    ['%2e%2e/outside', 404], ['docs/%2e%2e/%2e%2e/outside', 404], ['%00', 400],
  ] as const) assert.is((await server.rest.get(address + path)).status, status, path)
  const folder = await server.rest.get(`${address}docs`)
  assert.equal(folder.json, { detail: 'No index.html in directory' })
  assert.is((await server.rest.get(address.replace(/[0-9a-f-]{36}/, '00000000-0000-4000-8000-000000000001'))).status,
    404)
}))

test('pages of a workspace have the origins of all routes, and no others', withWorkspace(async (world) => {
  const { server, root, address } = world
  writeFileSync(join(root, 'a.txt'), 'x')
  for (const [origin, allowed] of [
    ['http://localhost:3000', 'http://localhost:3000'], ['https://elsewhere.example', undefined], ['null', undefined],
  ] as const) {
    const { headers } = await server.rest.get(`${address}a.txt`, { Origin: origin })
    assert.is(headers['access-control-allow-origin'], allowed, origin)
  }
}))

test('takes the cookie of a session for files of workspaces, and for nothing else', withWorkspace(async (world) => {
  const { server, root, address } = world
  writeFileSync(join(root, 'a.txt'), 'x')
  const keyless = rest(server.url, undefined)
  assert.is((await keyless.send('POST', '/api/auth/workspace-session')).status, 401)
  assert.is((await keyless.get(`${address}a.txt`)).status, 401)
  const begun = await server.rest.send('POST', '/api/auth/workspace-session')
  const header = String(begun.headers['set-cookie'])
  assert.equal([begun.status, begun.text], [204, ''])
  const [pair = '', ...attributes] = header.split('; ')
  const safe = ['SameSite=None', 'Secure', 'Partitioned']
  assert.equal(attributes, ['Path=/api/conversations', 'HttpOnly', 'Max-Age=43200', ...safe])
  const token = pair.replace('oh_workspace_session_key=', '')
  assert.is(token.length, 43)
  assert.is(token.includes(server.key), false)
  const Cookie = `a=b; oh_workspace_session_key=${token}`
  assert.is((await keyless.get(`${address}a.txt`, { Cookie })).text, 'x')
  const conversation = address.replace('/workspace/', '')
  const others = [conversation, '/api/settings', '/api/file/download?path=/etc/hosts', `${conversation}/events/search`]
  for (const path of others) assert.is((await keyless.get(path, { Cookie })).status, 401, path)
  for (const wrong of ['', 'x', `${token}x`, server.key, `${token}; oh_workspace_session_key=${token}`]) {
    assert.is((await keyless.get(`${address}a.txt`, { Cookie: `oh_workspace_session_key=${wrong}` })).status, 401,
      wrong)
  }
  assert.is((await rest(server.url, 'wrong').get(`${address}a.txt`, { Cookie })).status, 401)
  const foreign = { Cookie, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' }
  assert.is((await keyless.get(`${address}a.txt`, foreign)).status, 403)
  const ended = await server.rest.send('DELETE', '/api/auth/workspace-session', { headers: { Cookie } })
  assert.match(String(ended.headers['set-cookie']), /^oh_workspace_session_key=; Path=\S+ HttpOnly; Max-Age=0;/)
  assert.is((await keyless.get(`${address}a.txt`, { Cookie })).status, 401)
}))

test('ends a session after 12 hours', async () => {
  let now = Date.now()
  await withWorkspace(async ({ server, root, address }) => {
    writeFileSync(join(root, 'a.txt'), 'x')
    const { headers } = await server.rest.send('POST', '/api/auth/workspace-session')
    const Cookie = String(headers['set-cookie']).split(';')[0] ?? ''
    const keyless = rest(server.url, undefined)
    now += 12 * 60 * 60 * 1000 - 1000
    assert.is((await keyless.get(`${address}a.txt`, { Cookie })).status, 200)
    now += 1000
    assert.is((await keyless.get(`${address}a.txt`, { Cookie })).status, 401)
  }, { clock: () => now })()
})

test('gives the cookie of an address that others can listen to no reach over sites',
  withWorkspace(async ({ server }) => {
  const { headers } = await server.rest.send('POST', '/api/auth/workspace-session', { headers: { Host: '192.0.2.1' } })
  assert.match(String(headers['set-cookie']), /Max-Age=43200; SameSite=Lax$/)
}))

test.run()
