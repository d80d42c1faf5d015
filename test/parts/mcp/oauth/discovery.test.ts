/** Where to sign in, with servers that say little. */
import * as assert from 'uvu/assert'
import { createServer, type ServerResponse } from 'node:http'
import { findSignIn } from '../../../../src/parts/mcp/oauth/discovery.ts'
import { reachOf } from '../../../../src/parts/mcp/oauth/documents.ts'
import { failure } from '../../../support/rpc.ts'
import { suite } from '../../../support/suite.ts'
import { never } from './world.ts'

const test = suite('agents/mcp/oauth/discovery')

type Answers = (origin: string) => Readonly<Record<string, object | number>>

/** A server that answers some paths with a document or a status, is silent at `/silent`, and has nothing else. */
async function withServer(
  answers: Answers, body: (origin: string, asked: readonly string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    if (url !== '/silent') reply(response, answers(origin)[url] ?? 404)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  try {
    await body(origin, asked)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

function reply(response: ServerResponse, answer: object | number): void {
  if (typeof answer === 'number') {
    response.writeHead(answer, { 'www-authenticate': 'Bearer realm="x, scope=y", scope="a b"' }).end()
  } else response.end(JSON.stringify(answer))
}

const authority = (issuer: string): object => ({
  issuer,
  authorization_endpoint: 'https://as.example/authorize',
  token_endpoint: 'https://as.example/token',
  code_challenge_methods_supported: ['S256'],
})

test('a server that says nothing but who it is signs users in itself', () => withServer(
  (origin) => ({ '/mcp': 401, '/.well-known/oauth-authorization-server': authority(`${origin}/`) }),
  async (origin, asked) => {
    const { authority: found, resource, scope } = await findSignIn(
      `${origin}/mcp?a=b#c`, reachOf(`${origin}/mcp`, never()),
    )
    assert.equal([found.issuer, resource, scope], [`${origin}/`, `${origin}/mcp?a=b`, undefined])
    assert.equal(asked, [
      '/mcp?a=b', '/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-authorization-server',
    ])
  },
))

test('the scope of the challenge goes before those of the metadata', () => withServer(
  (origin) => ({
    '/mcp': 401,
    '/.well-known/oauth-protected-resource': { resource: origin, scopes_supported: ['c'] },
    '/.well-known/openid-configuration': authority(origin),
  }),
  async (origin) => {
    const { resource, scope } = await findSignIn(`${origin}/mcp`, reachOf(`${origin}/mcp`, never()))
    assert.equal([resource, scope], [origin, 'a b'])
  },
))

test('a server that begins a stream in silence is looked for all the same', () => withServer(
  (origin) => ({ '/.well-known/oauth-authorization-server': authority(origin) }),
  async (origin) => {
    const { scope } = await findSignIn(`${origin}/silent`, reachOf(origin, never()), { probeTimeoutMs: 50 })
    assert.is(scope, undefined)
    assert.match(
      String(await failure(findSignIn('http://127.0.0.1:1/mcp', reachOf(origin, never())))), 'nothing listens there',
    )
  },
))

test('a server without anything is none to sign in to', () => withServer(() => ({}), async (origin) => {
  assert.match(String(await failure(findSignIn(`${origin}/`, reachOf(origin, never())))), 'does not describe itself')
}))

test.run()
