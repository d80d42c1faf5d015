/** Sign-ins to MCP servers whose authorization server goes wrong, or is up to something. */
import * as assert from 'uvu/assert'
import { createServer } from 'node:http'
import { AppError, messageOf } from '../../../../src/base/errors.ts'
import { startOAuth, type Behaviour } from '../../../fixtures/oauth-server.ts'
import { until } from '../../../support/processes.ts'
import { failure } from '../../../support/rpc.ts'
import { suite } from '../../../support/suite.ts'
import { redirectUri, withWorld, wordsOf, type World } from './world.ts'

const test = suite('agents/mcp/oauth/sign-ins')

const secrets = { client_id: 'known-client', client_secret: '${CLIENT_SECRET}' }
const ways: readonly (readonly [what: string, authentication: object, proof: 'header' | 'body' | 'none'])[] = [
  ['a client that it registers itself', {}, 'none'],
  ['a registered client with a secret in the body', { client_auth_method: 'client_secret_post' }, 'body'],
  ['a registered client with a secret in the header', { client_auth_method: 'client_secret_basic', scopes: ['read'] },
    'header'],
  ['the client of the settings', secrets, 'header'],
  ['the client of the settings, with its secret in the body',
    { ...secrets, client_auth_method: 'client_secret_post', scopes: 'read write' }, 'body'],
]
for (const [what, authentication, proof] of ways) {
  test(`signs in as ${what}`, () => withWorld(async (world) => {
    assert.is(wordsOf(await world.signIn(authentication)), 'succeeded')
    const [grant] = world.grants('authorization_code')
    const request = world.seen.find(({ path }) => path === '/as/token')
    assert.equal([request?.headers.authorization !== undefined, grant?.has('client_secret')], [
      proof === 'header', proof === 'body',
    ])
    world.now += 3_600_000
    await world.bearer().token(new AbortController().signal)
    assert.is(world.grants('refresh_token').length, 1)
  }))
}

test('a client with a secret proves itself in the way that the authorization server knows', () => withWorld(async (
  world,
) => {
  world.behaviour.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] }
  world.behaviour.resourceMetadata = { scopes_supported: [] }
  for (const authentication of [{}, secrets, { ...secrets, client_auth_method: 'client_secret_post' }]) {
    assert.is(wordsOf(await world.signIn(authentication)), 'succeeded')
  }
  assert.equal(world.grants('authorization_code').map((body) => body.has('client_secret')), [true, true, true])
}))

/** A fault, the behaviour that causes it, and the error that the sign-in ends with. */
const wrongs: readonly (readonly [what: string, (world: World) => Partial<Behaviour>, RegExp])[] = [
  ['an answer of another authorization server', () => ({ iss: 'https://other.example' }),
    /another authorization server/],
  ['an answer without its authorization server', () => ({ iss: '' }), /another authorization server/],
  ['metadata of the server on another origin',
    ({ issuer }) => ({ challenge: `Bearer resource_metadata="${issuer}/meta"` }), /metadata on another origin/],
  ['metadata of the server that are not there',
    ({ mcp }) => ({ challenge: `Bearer resource_metadata="${mcp.url.replace('/mcp', '/nothing')}"` }),
    /no metadata at the address that it names/],
  ['metadata about another resource', () => ({ resourceMetadata: { resource: 'https://other.example/mcp' } }),
    /another resource/],
  ['metadata about a path beside it', ({ mcp }) => ({ resourceMetadata: { resource: `${mcp.url}2` } }),
    /another resource/],
  ['an authorization server over http elsewhere',
    () => ({ resourceMetadata: { authorization_servers: ['http://as.example'] } }),
    /authorization server is no https address/],
  ['an authorization server that is no address', () => ({ resourceMetadata: { authorization_servers: [7] } }),
    /authorization server is no https address/],
  ['an authorization server without a description',
    ({ issuer }) => ({ resourceMetadata: { authorization_servers: [`${issuer}2`] } }), /does not describe itself/],
  ['a description of another one', () => ({ metadata: { issuer: 'https://other.example' } }), /names another issuer/],
  ['no PKCE', () => ({ metadata: { code_challenge_methods_supported: undefined } }), /PKCE/],
  ['weak PKCE', () => ({ metadata: { code_challenge_methods_supported: ['plain'] } }), /PKCE/],
  ['a token endpoint over http elsewhere', () => ({ metadata: { token_endpoint: 'http://as.example/token' } }),
    /token endpoint is no https address/],
  ['a token endpoint with credentials', () => ({ metadata: { token_endpoint: 'https://u:p@as.example/token' } }),
    /token endpoint is no https address/],
  ['an authorization endpoint that is a script',
    () => ({ metadata: { authorization_endpoint: 'javascript:alert(1)' } }),
    /authorization endpoint is no https address/],
  ['a registration endpoint that is no address', () => ({ metadata: { registration_endpoint: 'x' } }),
    /registration endpoint is no https address/],
  ['no registration of clients', () => ({ metadata: { registration_endpoint: undefined } }), /without a client_id/],
  ['a refused registration', () => ({ answers: { '/as/register': { status: 403, body: '{"client_id":"x"}' } } }),
    /refused to register a client \(status 403\)/],
  ['a registration that gives no client', () => ({ answers: { '/as/register': { status: 201, body: '[]' } } }),
    /refused to register a client \(status 201\)/],
  [
    'a huge description',
    () => ({
      answers: {
        '/.well-known/oauth-authorization-server/as': { status: 200, body: `{"x":"${'y'.repeat(300_000)}"}` },
      },
    }),
    /longer than 262144 bytes/,
  ],
  ['huge tokens',
    () => ({ answers: { '/as/token': { status: 200, body: `{"access_token":"${'y'.repeat(300_000)}"}` } } }),
    /longer than 262144 bytes/],
  [
    'a token that no header can carry',
    () => ({
      answers: { '/as/token': { status: 200, body: '{"access_token":"a\\r\\nX: y-long","token_type":"Bearer"}' } },
    }),
    /no bearer token/,
  ],
  ['a token of another type',
    () => ({ answers: { '/as/token': { status: 200, body: '{"access_token":"long-enough","token_type":"mac"}' } } }),
    /no bearer token/],
  ['a refused code',
    () => ({ answers: { '/as/token': { status: 400, body: '{"error":"invalid_grant","error_description":"<b>"}' } } }),
    /says "invalid_grant" \(status 400\)$/],
  ['a page instead of tokens', () => ({ answers: { '/as/token': { status: 500, body: '<html>' } } }),
    /that something is wrong \(status 500\)$/],
  ['a server that takes no token', () => ({ refusesAll: true }),
    /status 401 \(its credentials are missing or not accepted\)/],
]
for (const [what, change, expected] of wrongs) {
  test(`fails over ${what}`, () => withWorld(async (world) => {
    Object.assign(world.behaviour, change(world))
    assert.match(wordsOf(await world.signIn()), expected)
    assert.is(world.shown.filter((token) => token !== undefined).length > 0, what.includes('takes no token'))
  }))
}

test('the client of the settings goes to its own authorization server only', () => withWorld(async (world) => {
  const other = await startOAuth()
  const moved = { authorization_servers: [other.issuer] }
  try {
    world.behaviour.resourceMetadata = moved
    for (const client of [secrets, { client_id: 'known-client' }]) {
      const refused = await world.signIn({ ...client, issuer: world.issuer })
      assert.match(wordsOf(refused), /is for the authorization server/)
    }
    world.behaviour.resourceMetadata = {}
    assert.is(wordsOf(await world.signIn({ ...secrets, issuer: world.issuer })), 'succeeded')
    await world.logins.forget('far')
    assert.is(wordsOf(await world.signIn(secrets)), 'succeeded')
    world.behaviour.resourceMetadata = moved
    assert.match(wordsOf(await world.signIn(secrets)), /is for the authorization server/, 'the last login binds it')
    assert.equal(other.seen.filter(({ path }) => !path.includes('.well-known')), [])
    const id = await world.start({ ...secrets, issuer: other.issuer })
    assert.match(world.signIns.status(id).authorizationUrl ?? '', other.issuer, 'the settings decide')
  } finally {
    await other.close()
  }
}))

test('fails over settings that cannot be followed', () => withWorld(async (world) => {
  const tried: readonly (readonly [object, RegExp])[] = [
    [{ client_auth_method: 'private_key_jwt' }, /expected none, client_secret_post or client_secret_basic/],
    [{ client_id: 'known-client', client_auth_method: 'client_secret_post' }, /there is no client_secret/],
  ]
  for (const [authentication, expected] of tried) assert.match(wordsOf(await world.signIn(authentication)), expected)
  const strange = await world.start({}, { url: 'http://mcp.example/mcp' })
  assert.match(wordsOf(await world.finished(strange)), /expected an https address, or http on this machine/)
  const plain = await world.start({}, { auth: { strategy: 'none' } })
  assert.match(wordsOf(await world.finished(plain)), /expected auth with the strategy oauth2/)
  assert.equal(world.grants('authorization_code'), [])
}))

test('a document about the client is used where the authorization server reads such', () => withWorld(async (world) => {
  const authentication = { client_metadata_url: 'https://client.example/about.json' }
  const clientOf = (id: string): string | null =>
    new URL(world.signIns.status(id).authorizationUrl ?? '').searchParams.get('client_id')
  assert.match(clientOf(await world.start(authentication)) ?? '', /^client-/)
  world.behaviour.metadata = { client_id_metadata_document_supported: true }
  assert.is(clientOf(await world.start(authentication)), 'https://client.example/about.json')
}))

test('the registration tells what this server is, and settings may add to it', () => withWorld(async (world) => {
  await world.signIn({
    client_name: 'Mine',
    scopes: ['read'],
    additional_client_metadata: { client_uri: 'https://client.example', redirect_uris: ['https://evil.example'] },
  })
  const { body = '{}' } = world.seen.find(({ path }) => path === '/as/register') ?? {}
  assert.equal(JSON.parse(body), {
    client_name: 'Mine',
    client_uri: 'https://client.example',
    redirect_uris: [redirectUri],
    scope: 'read',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'native',
    token_endpoint_auth_method: 'none',
  })
}))

test('a redirect of the token endpoint is not followed: no code goes elsewhere', () => withWorld(async (world) => {
  let visits = 0
  const elsewhere = createServer((_request, response) => void response.end(String(++visits)))
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  const address = elsewhere.address()
  const location = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
  for (const status of [302, 307, 308]) {
    world.behaviour.answers = { '/as/token': { status, headers: { location }, body: '{}' } }
    assert.match(wordsOf(await world.signIn()), `status ${status}`)
  }
  assert.is(visits, 0)
  elsewhere.close()
}))

test('a server without metadata is its own authorization server', () => withWorld(async (world) => {
  world.behaviour.challenge = 'Basic realm="x"'
  world.behaviour.resourceMetadata = { authorization_servers: undefined }
  assert.match(
    wordsOf(await world.signIn()), `the authorization server ${new URL(world.mcp.url).origin} does not describe itself`,
  )
}))

test(
  'an authorization server may describe itself as OpenID Connect has it, at either of two places',
  () => withWorld(async (world) => {
    const document = JSON.stringify({
      issuer: world.issuer,
      authorization_endpoint: `${world.issuer}/authorize?of=the+server`,
      token_endpoint: `${world.issuer}/token`,
      registration_endpoint: `${world.issuer}/register`,
      code_challenge_methods_supported: ['plain', 'S256'],
    })
    for (const path of ['/.well-known/openid-configuration/as', '/as/.well-known/openid-configuration']) {
      world.behaviour.answers = {
        '/.well-known/oauth-authorization-server/as': { status: 404 }, [path]: { status: 200, body: document },
      }
      assert.is(wordsOf(await world.signIn()), 'succeeded', path)
    }
    const methods = world.seen.filter(({ path }) => path === '/as/register').map(({ body }) => {
      return Object(JSON.parse(body)).token_endpoint_auth_method
    })
    assert.equal(methods, ['client_secret_basic', 'client_secret_basic'], 'the way that need not be named')
  }),
)

test('the state of a sign-in is good once, and no other state is good at all', () => withWorld(async (world) => {
  const id = await world.start()
  const address = new URL(await world.agree(world.signIns.status(id).authorizationUrl ?? ''))
  const strange = new URL(address)
  strange.searchParams.set('state', 'x'.repeat(43))
  assert.not(world.signIns.takeAnswer(strange.searchParams))
  assert.throws(() => world.signIns.takeAddress(id, strange.href), /Cannot use the address/)
  assert.ok(world.signIns.takeAnswer(address.searchParams))
  assert.not(world.signIns.takeAnswer(address.searchParams))
  assert.is(wordsOf(await world.finished(id)), 'succeeded')
}))

test('what the user refuses is told in the words of the standard', () => withWorld(async (world) => {
  for (const [query, expected] of [
    ['error=access_denied&error_description=no', /says "access_denied"$/],
    ['error=%3Cb%3E', /something is wrong$/],
    ['code=', /no code$/],
    ['code=a&code=b', /no code$/],
  ] as const) {
    const id = await world.start()
    const state = new URL(world.signIns.status(id).authorizationUrl ?? '').searchParams.get('state') ?? ''
    assert.ok(world.signIns.takeAnswer(new URLSearchParams(`state=${state}&iss=${world.issuer}&${query}`)))
    assert.match(wordsOf(await world.finished(id)), expected)
  }
  assert.equal(world.grants('authorization_code'), [])
}))

test('a code that was used already is of no use, and ends what it has given', () => withWorld(async (world) => {
  const first = await world.start()
  const address = await world.agree(world.signIns.status(first).authorizationUrl ?? '')
  world.signIns.takeAddress(first, address)
  assert.is(wordsOf(await world.finished(first)), 'succeeded')
  const second = await world.start()
  const stolen = new URL(address)
  stolen.searchParams.set(
    'state', new URL(world.signIns.status(second).authorizationUrl ?? '').searchParams.get('state') ?? '',
  )
  world.signIns.takeAddress(second, stolen.href)
  assert.match(wordsOf(await world.finished(second)), 'invalid_grant')
}))

test('a sign-in is forgotten after its time, whatever has become of it', () => withWorld(async (world) => {
  const id = await world.start()
  await until(() => isForgotten(world, id))
  assert.not(world.signIns.takeAnswer(new URLSearchParams({ state: '', code: 'x' })))
}, { lifeMs: 50 }))

test('sign-ins are limited: those that are over make room, those that wait do not', () => withWorld(async (world) => {
  const { behaviour } = world
  behaviour.metadata = { issuer: 'https://other.example' }
  const failed = await world.start()
  behaviour.metadata = {}
  for (let count = 1; count < 32; count++) await world.start()
  await world.start()
  assert.ok(isForgotten(world, failed))
  assert.match(messageOf(await failure(world.start())), '32 other sign-ins are under way')
}))

test('an authorization server that hangs costs no more than the time of the request', () => withWorld(async (world) => {
  const hanging = createServer(() => undefined)
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
  const address = hanging.address()
  world.behaviour.resourceMetadata = {
    authorization_servers: [`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`],
  }
  const { status, result } = await world.signIn()
  assert.equal([status, result?.ok === false && result.error_kind], ['failed', 'timeout'])
  hanging.close()
  hanging.closeAllConnections()
}, { timeoutMs: 300 }))

function isForgotten({ signIns }: World, id: string): boolean {
  try {
    signIns.status(id)
    return false
  } catch (error) {
    return error instanceof AppError && error.code === 'not_found'
  }
}

test('none begins once they are closed', () => withWorld(async (world) => {
  await world.signIns.close()
  assert.is(messageOf(await failure(world.start())), 'The server is stopping')
}))

test.run()
