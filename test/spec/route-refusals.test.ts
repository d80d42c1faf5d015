/**
 * The errors that every route has: no key, a method that the path lacks, a name of another host, a foreign page, a path
 * with one slash more, and a body that is too long, no JSON or of another type. Each with its status, its headers and
 * its body.
 */
import * as assert from 'uvu/assert'
import { openapi } from '../../src/schema/generated/openapi.ts'
import { member, rest, type RestResponse } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('the errors of every route')
const paths = Object.entries(Object(member(JSON.parse(openapi), 'paths')))
const routes = paths.flatMap(([template, item]) => Object.entries(Object(item)).map(([method, operation]) => ({
  name: `${method.toUpperCase()} ${template}`,
  method: method.toUpperCase(),
  path: pathOf(template),
  type: Object.keys(Object(member(operation, 'requestBody', 'content')))[0],
})))
/** The routes that need no key, with the status of a bare request. */
const open: Readonly<Record<string, number>> = {
  'GET /': 200, 'GET /alive': 200, 'GET /health': 200, 'GET /ready': 200, 'GET /server_info': 200, 'GET /docs': 200,
  'GET /redoc': 200, 'GET /openapi.json': 200, 'GET /console/': 200, 'GET /console/assets/{digest}/{file}': 404,
  'GET /api/mcp/oauth/callback': 400, 'POST /api/console/sign-in': 422, 'GET /api/init': 404, 'POST /api/init': 404,
}
const openAiError = {
  error: { message: 'Unauthorized', type: 'authentication_error', param: null, code: 'invalid_api_key' },
}
const probes = ['GET /alive', 'GET /health', 'GET /ready']
let server: TestServer

test.before(async () => {
  server = await startServer()
})
test.after(() => server.close())

test('without a key a route that is not open is 401 and says no more', async () => {
  const keyless = rest(server.url, undefined)
  for (const { name, method, path } of routes) {
    const answer = await keyless.send(method, path)
    const expected = open[name] ?? 401
    assert.is(answer.status, expected, `${name}: ${answer.text}`)
    const body = name.includes(' /v1/') ? openAiError : { detail: 'Unauthorized' }
    if (expected === 401) assertError(answer, name, 401, body)
  }
  assert.equal(Object.keys(open).filter((name) => !routes.some((route) => route.name === name)), [])
})

test('a method that a path lacks is 405, and Allow names those that it has', async () => {
  for (const [template, item] of paths) {
    const methods = Object.keys(Object(item)).map((method) => method.toUpperCase())
    const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((one) => !methods.includes(one))) {
      const answer = await server.rest.send(method, pathOf(template))
      assertError(answer, `${method} ${template}`, 405, { detail: 'Method Not Allowed' })
      assert.equal(String(answer.headers.allow).split(', ').sort(), allowed.sort(), `${method} ${template}`)
    }
    const options = await server.rest.send('OPTIONS', pathOf(template))
    assert.equal([options.status, String(options.headers.allow).split(', ').sort()],
      [204, [...allowed, 'OPTIONS'].sort()], template)
  }
})

test('the name of another host and a foreign page are refused before the key is looked at', async () => {
  for (const { name, method, path } of routes) {
    if (probes.includes(name)) continue
    const host = await server.rest.send(method, path, { headers: { Host: 'evil.example' } })
    assert.is(host.status, 403, `${name}: ${host.text}`)
    if (method === 'GET') continue
    const page = await server.rest.send(method, path, { headers: { Origin: 'https://evil.example' } })
    assert.is(page.status, 403, `${name}: ${page.text}`)
    assert.is(page.headers['access-control-allow-origin'], undefined, name)
  }
})

test('a body of another type is 415, one that is no JSON 422, one that is too long 413', async () => {
  const limit = await startServer({ bodyLimitBytes: 1024 })
  for (const { name, method, path, type } of routes) {
    if (type !== 'application/json' || name === 'POST /api/init') continue
    const other = await server.rest.send(method, path, { raw: 'a=b', headers: { 'Content-Type': 'text/plain' } })
    assert.is(other.status, 415, `${name}: ${other.text}`)
    const broken = await server.rest.send(method, path, { raw: '{"a":' })
    assert.is(broken.status, name.includes(' /v1/') ? 400 : 422, `${name}: ${broken.text}`)
    const long = await limit.rest.send(method, path, { raw: `"${'x'.repeat(2000)}"` })
    assert.is(long.status, 413, `${name}: ${long.text}`)
  }
  await limit.close()
})

test.run()

/** Returns a path of the template. No parameter leads to anything that is there. */
function pathOf(template: string): string {
  return template.replace('{conversation_id}', '00000000-0000-4000-8000-000000000001').replaceAll(/\{\w+\}/g, 'none')
}

function assertError(answer: RestResponse, what: string, status: number, body: object): void {
  assert.equal([answer.status, answer.json], [status, body], what)
  const { headers } = answer
  const seen = ['content-type', 'cache-control', 'x-content-type-options'].map((name) => headers[name])
  assert.equal(seen, ['application/json', 'no-store', 'nosniff'], what)
}
