/** A request with members that are ignored is told so in the header of its answer, and in the log at debug. */
import * as assert from 'uvu/assert'
import { fakeAgent, withServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('e2e/ignored')

test('names what it has ignored, and nothing where all was used', () => withServer(async ({ url, key, log }) => {
  const post = async (body: unknown): Promise<Response> => fetch(`${url}/api/conversations`, {
    method: 'POST', headers: { 'content-type': 'application/json', 'x-session-api-key': key },
    body: JSON.stringify(body),
  })
  const used = await post({ tags: { a: 'b' } })
  assert.equal([used.status, used.headers.get('x-ignored-members')], [201, null])
  const misspelt = await post({
    hook_confg: {}, agent: { kind: 'Agent', llm: { model: 'demo/scripted', modle: 'a-value' } },
  })
  assert.equal([misspelt.status, misspelt.headers.get('x-ignored-members')], [201, 'hook_confg, agent.llm.modle'])
  assert.is(misspelt.headers.get('access-control-expose-headers'), 'X-Ignored-Members')
  const external = await post({ hook_config: { Stop: [{ hooks: [{ command: 'true' }] }] }, agent: fakeAgent('answer') })
  assert.equal([external.status, external.headers.get('x-ignored-members')], [201, 'hook_config'])
  const odd = await post({ 'a\r\nSet-Cookie: x, "ü"': 1, '\ud800': 2 })
  assert.is(odd.headers.get('x-ignored-members'), 'a%0D%0ASet-Cookie%3A%20x%2C%20%22%C3%BC%22, %EF%BF%BD')
  assert.is(odd.headers.get('set-cookie'), null)
  const lines = log.map((line): Record<string, unknown> => JSON.parse(line)).filter(({ message }) => {
    return message === 'Request'
  })
  assert.equal(lines.map(({ ignored }) => ignored), [
    undefined, 'hook_confg, agent.llm.modle', 'hook_config', odd.headers.get('x-ignored-members') ?? '',
  ])
  assert.not.match(log.join(''), 'a-value')
}))

test.run()
