/** Host and Origin: who may name this server, and which pages may talk to it. */
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import {
  assertHost, assertOrigin, isLoopbackName, isPreflight, originRequestOf, parseAuthority,
} from '../../src/http/origin.ts'
import { preflightHeaders, purposeOf, type RequestPurpose } from '../../src/http/origin.ts'
import { suite } from '../support/suite.ts'

const test = suite('http/origin')

const rules = {
  allowedHosts: ['Agents.example.org'],
  allowedOrigins: ['https://App.example.org', 'chrome-extension://abc'],
  trustsLoopback: true,
}

function host(...hosts: string[]): string {
  return codeOf(() => assertHost({ hosts, authority: undefined }, rules).name)
}

/** The result of `body`, or `! code`. */
function codeOf(body: () => string): string {
  try {
    return body()
  } catch (error) {
    if (error instanceof AppError) return `! ${error.code}`
    throw error
  }
}

const hosts: readonly [string, string][] = [
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1:8000', '127.0.0.1'],
  ['192.168.1.5:80', '192.168.1.5'],
  ['[::1]', '[::1]'],
  ['[fe80::1]:8000', '[fe80::1]'],
  ['[::ffff:127.0.0.1]', '[::ffff:127.0.0.1]'],
  ['localhost', 'localhost'],
  ['LocalHost:3000', 'localhost'],
  ['app.localhost', 'app.localhost'],
  ['agents.EXAMPLE.org:443', 'agents.example.org'],
  ['example.org', '! host_not_allowed'],
  ['agents.example.org.evil.net', '! host_not_allowed'],
  ['evil-localhost', '! host_not_allowed'],
  ['localhost.evil.net', '! host_not_allowed'],
  ['localhost.', '! host_not_allowed'],
  ['127.0.0.1.evil.net', '! host_not_allowed'],
  ['0x7f.1', '! host_not_allowed'],
  ['2130706433', '! host_not_allowed'],
  ['127.1', '! host_not_allowed'],
  ['', '! bad_request'],
  [':80', '! bad_request'],
  ['a:', '! bad_request'],
  ['a:b', '! bad_request'],
  ['a:65536', '! bad_request'],
  ['a:1:2', '! bad_request'],
  ['user@localhost', '! bad_request'],
  ['localhost/', '! bad_request'],
  ['a, b', '! bad_request'],
  ['::1', '! bad_request'],
  ['[::1', '! bad_request'],
  ['[::g]', '! bad_request'],
  ['[fe80::1%25lo]', '! bad_request'],
  ['[1.2.3.4]', '! bad_request'],
  ['é', '! bad_request'],
]
for (const [value, expected] of hosts) {
  test(`Host ${JSON.stringify(value)} gives ${expected}`, () => assert.is(host(value), expected))
}

test('refuses a request without a Host and one with two', () => {
  assert.is(host(), '! bad_request')
  assert.is(host('localhost', 'localhost'), '! bad_request')
})

test('names the option that would allow a host', () => {
  assert.throws(
    () => assertHost({ hosts: ['a.example:80'], authority: undefined }, rules), /--allowed-host a\.example /,
  )
})

test('wants the Host to be the authority of an absolute-form target', () => {
  const check = (authority: string): string =>
    codeOf(() => assertHost({ hosts: ['localhost:80'], authority }, rules).name)
  assert.is(check('LOCALHOST:80'), 'localhost')
  assert.is(check('localhost'), '! bad_request')
  assert.is(check('evil.net'), '! bad_request')
})

test('returns the port as it was sent', () => {
  assert.equal(parseAuthority('a:080'), { name: 'a', port: '080' })
  assert.equal(parseAuthority('a'), { name: 'a', port: undefined })
})

const none = { origins: [], fetchSites: [], fetchModes: [], fetchDestinations: [] }

function origin(value: string, hostName = '192.168.1.5:8000', purpose: RequestPurpose = 'change'): string {
  const parsed = parseAuthority(hostName)
  if (parsed === undefined) throw new TypeError(hostName)
  return codeOf(() => assertOrigin({ ...none, origins: [value], host: parsed, purpose }, rules).join(' '))
}

const allowed: readonly [string, string?][] = [
  ['http://localhost'],
  ['http://localhost:5173'],
  ['https://127.0.0.1:1'],
  ['http://127.8.9.10'],
  ['http://[::1]:3000'],
  ['http://ui.localhost:3000'],
  ['https://app.example.org'],
  ['https://APP.example.org'],
  ['chrome-extension://abc'],
  ['http://192.168.1.5:8000'],
  ['http://agents.example.org', 'agents.example.org'],
  ['https://agents.example.org', 'agents.example.org'],
  ['https://agents.example.org', 'agents.example.org:443'],
  ['http://agents.example.org:80', 'agents.example.org'],
]
for (const [value, hostName] of allowed) {
  test(`Origin ${value} may talk to ${hostName ?? '192.168.1.5:8000'}`, () => {
    const expected = `Access-Control-Allow-Origin ${value} Access-Control-Allow-Credentials true Vary Origin`
    assert.is(origin(value, hostName), expected)
    assert.is(origin(value, hostName, 'read'), expected)
  })
}

const foreign: readonly [string, string?][] = [
  ['https://evil.net'],
  ['http://192.168.1.5'],
  ['http://192.168.1.5:8001'],
  ['https://192.168.1.5'],
  ['http://app.example.org'],
  ['https://app.example.org:8443'],
  ['https://app.example.org.evil.net'],
  ['http://localhost.evil.net'],
  ['http://agents.example.org:443', 'agents.example.org:80'],
]
for (const [value, hostName] of foreign) {
  test(
    `Origin ${value} may neither change nor read anything at ${hostName ?? '192.168.1.5:8000'}, and asks without CORS headers`,
    () => {
      assert.is(origin(value, hostName), '! origin_not_allowed')
      assert.is(origin(value, hostName, 'read'), '! origin_not_allowed')
      assert.is(origin(value, hostName, 'ask'), 'Vary Origin')
    },
  )
}

for (const value of [
  'null', '', 'localhost', 'file://', 'http://localhost/', 'http://', 'http://a b', 'chrome-extension://other',
]) {
  test(`Origin ${JSON.stringify(value)} is refused altogether`, () => {
    assert.is(origin(value), '! origin_not_allowed')
    assert.is(origin(value, undefined, 'ask'), '! origin_not_allowed')
  })
}

const local = { name: 'localhost', port: undefined }

test('lets a request without an Origin pass, without CORS headers', () => {
  assert.equal(assertOrigin({ ...none, host: local, purpose: 'change' }, rules), [])
})

const loads: readonly (readonly [string, readonly string[], string])[] = [
  ['GET', ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', 'no-cors'], '! origin_not_allowed'],
  ['GET', ['Sec-Fetch-Site', 'Cross-Site'], '! origin_not_allowed'],
  ['GET', ['Sec-Fetch-Site', 'none', 'sec-fetch-site', 'cross-site'], '! origin_not_allowed'],
  ['GET', ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Mode', 'no-cors'],
    '! origin_not_allowed'],
  ['OPTIONS', ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', 'cors'], '! origin_not_allowed'],
  ['POST', ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', 'navigate'], '! origin_not_allowed'],
  ['GET', ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', 'navigate'], ''],
  ['HEAD', ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', 'navigate'], ''],
  ['GET', ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Dest', 'document'], ''],
  ...['iframe', 'frame', 'object', 'embed', 'fencedframe'].map((place) => [
    'GET', ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Dest', place],
    '! origin_not_allowed',
  ] as const),
  [
    'GET',
    ['Sec-Fetch-Site', 'cross-site', 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Dest', 'document', 'Sec-Fetch-Dest',
      'iframe'],
    '! origin_not_allowed',
  ],
  ['GET', ['Sec-Fetch-Site', 'same-origin', 'Sec-Fetch-Mode', 'no-cors'], ''],
  ['GET', ['Sec-Fetch-Site', 'same-site', 'Sec-Fetch-Mode', 'no-cors'], ''],
  ['GET', ['Sec-Fetch-Site', 'none'], ''],
  ['POST', ['Sec-Fetch-Site', 'cross-site', 'Origin', 'https://app.example.org'], 'Access-Control-Allow-Origin'],
]
for (const [method, rawHeaders, expected] of loads) {
  test(`${method} with ${rawHeaders.join(' ')} gives ${JSON.stringify(expected)}`, () => {
    const request = originRequestOf(rawHeaders, local, purposeOf(method))
    assert.is(codeOf(() => assertOrigin(request, rules)[0] ?? ''), expected)
  })
}

test(
  'without a key only named origins and its own may use the server, and no page of another port loads anything',
  () => {
    const bare = { ...rules, trustsLoopback: false }
    const here = { name: 'localhost', port: '8000' }
    const judge = (...rawHeaders: string[]): string =>
      codeOf(() => assertOrigin(originRequestOf(rawHeaders, here, 'read'), bare)[0] ?? '')
    for (const value of [
      'http://localhost:3000', 'http://127.0.0.1:8000', 'http://a.localhost:8000', 'http://localhost',
      'http://[::1]:8000',
    ]) {
      assert.is(judge('Origin', value), '! origin_not_allowed', value)
    }
    for (const value of ['http://localhost:8000', 'https://app.example.org']) {
      assert.is(judge('Origin', value), 'Access-Control-Allow-Origin', value)
    }
    assert.is(judge('Sec-Fetch-Site', 'same-site', 'Sec-Fetch-Mode', 'no-cors'), '! origin_not_allowed')
    assert.is(
      judge('Sec-Fetch-Site', 'same-site', 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Dest', 'iframe'),
      '! origin_not_allowed',
    )
    assert.is(judge('Sec-Fetch-Site', 'same-site', 'Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Dest', 'document'), '')
    assert.is(judge('Sec-Fetch-Site', 'same-origin'), '')
    assert.is(judge(), '')
  },
)

test('refuses two Origins', () => {
  const origins = ['http://localhost', 'http://localhost']
  assert.throws(() => assertOrigin({ ...none, origins, host: local, purpose: 'read' }, rules), /more than once/)
})

test('names the option that would allow an origin', () => {
  const request = { ...none, origins: ['https://evil.net'], host: local, purpose: 'change' } as const
  assert.throws(() => assertOrigin(request, rules), /--allowed-origin https:\/\/evil\.net /)
})

const cors = [
  'Access-Control-Allow-Origin', 'http://localhost', 'Access-Control-Allow-Credentials', 'true', 'Vary', 'Origin',
]

test('answers a preflight with the method and the headers it asks for', () => {
  const headers = preflightHeaders({
    corsHeaders: cors, methods: ['PATCH'], headers: ['content-type,x-session-api-key'],
  })
  assert.equal(headers, [
    ...cors,
    ...['Access-Control-Allow-Methods', 'PATCH'],
    ...['Access-Control-Allow-Headers', 'content-type, x-session-api-key'],
    ...['Access-Control-Max-Age', '600'],
  ])
})

test('answers a preflight that asks for no headers', () => {
  const headers = preflightHeaders({ corsHeaders: cors, methods: ['GET'], headers: [] })
  assert.not.ok(headers.includes('Access-Control-Allow-Headers'))
})

test('refuses a preflight of a foreign origin, and malformed ones', () => {
  const wrong = [
    { corsHeaders: ['Vary', 'Origin'], methods: ['GET'], headers: [] },
    { corsHeaders: [], methods: ['GET'], headers: [] },
    { corsHeaders: cors, methods: ['G T'], headers: [] },
    { corsHeaders: cors, methods: [], headers: [] },
    { corsHeaders: cors, methods: ['GET', 'PUT'], headers: [] },
    { corsHeaders: cors, methods: ['GET'], headers: ['a b'] },
    { corsHeaders: cors, methods: ['GET'], headers: ['a', 'b\r\nc'] },
  ]
  for (const request of wrong) assert.is(codeOf(() => preflightHeaders(request).join()), '! bad_request')
})

test('knows a preflight from a plain OPTIONS request', () => {
  assert.ok(isPreflight(['http://a'], ['GET']))
  assert.not.ok(isPreflight(['http://a'], []))
  assert.not.ok(isPreflight([], ['GET']))
})

test('knows loopback names with and without brackets', () => {
  for (const name of ['localhost', 'A.LOCALHOST', '127.0.0.1', '127.255.255.254', '::1', '[::1]']) {
    assert.ok(isLoopbackName(name), name)
  }
  for (const name of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.net', '127.1', 'local', '']) {
    assert.not.ok(isLoopbackName(name), name)
  }
})

test.run()
