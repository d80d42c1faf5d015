import * as assert from 'uvu/assert'
import { checkHandshake } from '../../src/ws/handshake.ts'
import type { Handshake, UpgradeRequest } from '../../src/ws/handshake.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/handshake')

const good = {
  host: 'server.example.com',
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
}

function check(headers: UpgradeRequest['headers'] = {}, rest: Partial<UpgradeRequest> = {}, deflate = true): Handshake {
  const request = { method: 'GET', httpVersion: '1.1', ...rest, headers: { ...good, ...headers } }
  return checkHandshake(request, deflate ? { mayKeepContext: true } : undefined)
}

test('answers the example of RFC 6455, section 1.3', () => {
  assert.equal(check(), {
    ok: true,
    headers: { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=' },
    deflate: undefined,
  })
})

const accepted: Record<string, UpgradeRequest['headers']> = {
  'tokens in any case': { upgrade: 'WebSocket', connection: 'UPGRADE' },
  'tokens in a list': { upgrade: 'h2c, websocket', connection: 'keep-alive,\tUpgrade , x' },
  'tokens in repeated headers': { connection: ['keep-alive', 'Upgrade'] },
  'a subprotocol, which is not selected': { 'sec-websocket-protocol': 'chat' },
  'an unknown extension, which is not selected': { 'sec-websocket-extensions': 'x-webkit-deflate-frame' },
}
for (const [name, headers] of Object.entries(accepted)) {
  test(`accepts ${name}`, () => {
    const handshake = check(headers)
    assert.ok(handshake.ok)
    assert.equal(Object.keys(handshake.headers), ['Upgrade', 'Connection', 'Sec-WebSocket-Accept'])
  })
}

const refused: Record<string, { headers?: UpgradeRequest['headers']; rest?: Partial<UpgradeRequest>; status: number }> =
  {
    'another method': { rest: { method: 'POST' }, status: 405 },
    'a missing method': { rest: { method: undefined }, status: 405 },
    'HTTP/1.0': { rest: { httpVersion: '1.0' }, status: 400 },
    'no Host': { headers: { host: undefined }, status: 400 },
    'no Upgrade': { headers: { upgrade: undefined }, status: 400 },
    'another Upgrade': { headers: { upgrade: 'h2c' }, status: 400 },
    'an Upgrade that only contains the word': { headers: { upgrade: 'websocket2' }, status: 400 },
    'no Connection': { headers: { connection: undefined }, status: 400 },
    'Connection: keep-alive': { headers: { connection: 'keep-alive' }, status: 400 },
    'no version': { headers: { 'sec-websocket-version': undefined }, status: 426 },
    'version 8': { headers: { 'sec-websocket-version': '8' }, status: 426 },
    'two versions': { headers: { 'sec-websocket-version': '13, 13' }, status: 426 },
    'no key': { headers: { 'sec-websocket-key': undefined }, status: 400 },
    'two keys': {
      headers: { 'sec-websocket-key': `${good['sec-websocket-key']}, ${good['sec-websocket-key']}` },
      status: 400,
    },
    'a key of 15 bytes': { headers: { 'sec-websocket-key': Buffer.alloc(15).toString('base64') }, status: 400 },
    'a key of 17 bytes': { headers: { 'sec-websocket-key': Buffer.alloc(17).toString('base64') }, status: 400 },
    'a key in base64url': { headers: { 'sec-websocket-key': '____________________-w==' }, status: 400 },
    'extensions that break the grammar': {
      headers: { 'sec-websocket-extensions': 'permessage-deflate; =1' },
      status: 400,
    },
  }
for (const [name, { headers, rest, status }] of Object.entries(refused)) {
  test(`refuses ${name} with ${status}`, () => {
    const handshake = check(headers, rest)
    assert.not(handshake.ok)
    if (!handshake.ok) {
      assert.is(handshake.status, status)
      assert.match(handshake.reason, /^Cannot upgrade/)
    }
  })
}

test('names the version it speaks when it refuses another (section 4.4)', () => {
  const handshake = check({ 'sec-websocket-version': '14' })
  assert.equal(handshake.headers, { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Version': '13' })
})

test('names the allowed method when it refuses another', () => {
  assert.equal(check({}, { method: 'PUT' }).headers, { Allow: 'GET' })
})

test('negotiates permessage-deflate when it may', () => {
  const offer = { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits' }
  const handshake = check(offer)
  assert.ok(handshake.ok && handshake.deflate)
  assert.is(handshake.headers['Sec-WebSocket-Extensions'], 'permessage-deflate; server_no_context_takeover')
  const plain = check(offer, {}, false)
  assert.ok(plain.ok && !plain.deflate)
  assert.is(plain.headers['Sec-WebSocket-Extensions'], undefined)
})

test.run()
