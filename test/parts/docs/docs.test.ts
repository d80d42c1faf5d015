/** The page that describes the interface, from a real server: every route is there, and nothing of it runs or loads. */
import * as assert from 'uvu/assert'
import { pageOf } from '../../../src/parts/docs/page.ts'
import { isObject } from '../../../src/base/json.ts'
import { member, rest } from '../../support/rest.ts'
import { startServer, withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/docs')
let server: TestServer
test.before(async () => {
  server = await startServer()
})
test.after(() => server.close())

test('needs no key, allows nothing to run or load, and is named by the server', async () => {
  for (const path of ['/docs', '/redoc']) {
    const { status, headers, text } = await rest(server.url, undefined).get(path)
    assert.equal([status, headers['content-type']], [200, 'text/html; charset=utf-8'])
    assert.match(String(headers['content-security-policy']), "default-src 'none'; base-uri 'none'; form-action 'none'")
    assert.match(String(headers['content-security-policy']), "frame-ancestors 'none'")
    assert.not.match(text, /<script|<style|<link|<img|<iframe|src=|style=|https?:\/\//)
  }
  assert.is(member((await server.rest.get('/server_info')).json, 'docs'), '/docs')
})

test('shows every operation of the description, and every type that one refers to', async () => {
  const { text } = await server.rest.get('/docs')
  const { json } = await server.rest.get('/openapi.json')
  const paths = member(json, 'paths')
  const names = Object.entries(isObject(paths) ? paths : {}).flatMap(([path, item]) => {
    return Object.keys(isObject(item) ? item : {}).map((method) => `${method.toUpperCase()} ${path}`)
  })
  assert.ok(names.length > 80)
  for (const name of names) assert.ok(text.includes(`<code>${name}</code>`), name)
  const targets = new Set([...text.matchAll(/href="#([^"]+)"/g)].map(([, target = '']) => decodeURIComponent(target)))
  assert.ok(targets.size > 50)
  for (const target of targets) assert.ok(text.includes(`id="${target}"`), target)
})

test('text of a description stays text', () => {
  const evil = '<script>alert("1")</script>&'
  const schema = { type: 'object', description: evil, $comment: '"#/components/schemas/<b>"' }
  const operation = { tags: [evil], summary: evil, responses: { 200: { description: evil } } }
  const page = pageOf({
    info: { title: evil }, paths: { [`/${evil}`]: { get: operation } }, components: { schemas: { [evil]: schema } },
  })
  assert.not.match(page, '<script')
  assert.not.match(page, '<b>')
  assert.match(page, '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;')
})

test('without the part the server names the description for programs', () => withServer(async ({ rest }) => {
  assert.is((await rest.get('/docs')).status, 501)
  assert.is(member((await rest.get('/server_info')).json, 'docs'), '/openapi.json')
}, { parts: ['demo'] }))

test.run()
