/**
 * Hostile bytes: requests that two programs could read differently (RFC 9112, sections 2 to 7 and 11.2), paths that
 * could lead elsewhere (RFC 3986, sections 2 and 6), and sizes. Where a request is hidden in another one, the hidden
 * one has the right key and would change something.
 */
import { ask, id, key, knock, rowsOf, tell, withKey, type HostileRow, type Shorthand } from './hostile-row.ts'

const line = `POST /api/conversations/${id}/run HTTP/1.1\r\nHost: localhost\r\n`
const head = `${line}${withKey}\r\n`
const json = 'Content-Type: application/json\r\n'
/** The bytes that must never be read as a request. */
const hidden = `DELETE /api/conversations/${id} HTTP/1.1\r\nHost: localhost\r\n${withKey}\r\n\r\n`
const plain = `${head}\r\n`
const socket = `/sockets/events/${id}`

/** Framed in two ways, or in a way that is no framing: refused as a whole, and the bytes behind it are never read. */
const smuggling: readonly Shorthand[] = [
  ...[
    'Content-Length: 0\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 5',
    'Content-Length: 0\r\nContent-Length: 5',
    'Content-Length: 0\r\nContent-Length: 0',
    'Content-Length: 0, 5',
    'Content-Length: 0, 0',
    'Content-Length: +5',
    'Content-Length: -1',
    'Content-Length: 0x5',
    'Content-Length: 5 5',
    'Content-Length: 1e1',
    'Content-Length:',
    'Content-Length: 99999999999999999999',
    'Content-Length : 5',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: identity',
    'Transfer-Encoding: "chunked"',
    'Transfer-Encoding: chunked;q=1',
    'Transfer-Encoding: \x0bchunked',
    'Transfer-Encoding:\r\n chunked',
    ' Content-Length: 5',
    'Content-Length\x00: 5',
    'X: y\x00z',
    'X: y\rContent-Length: 5',
    'X: y\nContent-Length: 5',
    ': y',
    'no colon',
    'X y: z',
    'X\xe9: y',
    'X(y): z',
  ].map((framing): Shorthand => [JSON.stringify(framing), `${head}${json}${framing}\r\n\r\n0\r\n\r\n${hidden}`, 400]),
  ...[
    'identity, chunked', 'gzip, chunked', 'gzip\r\nTransfer-Encoding: chunked', 'chunked, gzip, identity, chunked',
  ].map((codings): Shorthand => {
    const status = codings.startsWith('chunked') ? 400 : 501
    return [
      `codings ${JSON.stringify(codings)}`,
      `${head}${json}Transfer-Encoding: ${codings}\r\n\r\n2\r\n{}\r\n0\r\n\r\n${hidden}`,
      status,
    ]
  }),
  [
    'chunks in HTTP/1.0',
    `${head.replace('HTTP/1.1', 'HTTP/1.0')}${json}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n` +
      `{}\r\n0\r\n\r\n${hidden}`,
    400,
  ],
  ['two content types', `${head}${json}Content-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    400],
  ['two content types, the first of them none of ours',
    `${head}Content-Type: text/plain\r\n${json}Content-Length: 2\r\nConnection: close\r\n\r\n{}`, 400],
  ['a member twice', tell('PUT /api/settings/secrets', '{"name":"FINE","value":"evil-evil","name":"EVIL"}', withKey),
    422],
  ['a member twice, once with an escape',
    tell('PUT /api/settings/secrets', '{"name":"FINE","value":"evil-evil","n\\u0061me":"EVIL"}', withKey), 422],
  ['a member twice, deep',
    tell('PATCH /api/settings', '{"agent_settings_diff":{"acp_env":[{"a:":"\\":","b":1,"b":1}]}}', withKey), 422],
  ['a chunk without a size', `${line}${json}${withKey}\r\nTransfer-Encoding: chunked\r\n\r\n\r\n\r\n${hidden}`, 400],
  ['a chunk of a negative size', `${head}${json}Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${hidden}`, 400],
  ['a chunk whose size overflows',
    `${head}${json}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n${hidden}`, 400],
  ['a chunk with a sign', `${head}${json}Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n${hidden}`, 400],
  ['a chunk that is longer than it says',
    `${head}${json}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n${hidden}`, 400],
  ['a chunk that ends with a line feed', `${head}${json}Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n${hidden}`, 400],
  ['a chunk extension with a line feed',
    `${head}${json}Transfer-Encoding: chunked\r\n\r\n2;a=\n{}\r\n0\r\n\r\n${hidden}`, 400],
  ['a folded key', `${line}X-Session-API-Key:\r\n ${key}\r\n\r\n${hidden}`, 400],
  ['a key whose name has a space behind it', `${line}X-Session-API-Key : ${key}\r\n\r\n${hidden}`, 400],
  ['a key behind a bare line feed', `${line}X: y\n${withKey}\r\n\r\n${hidden}`, 400],
  ['a key with a NUL in it', `${line}${withKey}\x00\r\n\r\n${hidden}`, 400],
  ['a folded Host', `POST /api/conversations/${id}/run HTTP/1.1\r\nHost:\r\n localhost\r\n${withKey}\r\n\r\n${hidden}`,
    400],
  ['lines that end with a line feed', plain.replaceAll('\r\n', '\n'), 400],
  ['lines that end with a carriage return', plain.replaceAll('\r\n', '\r'), 400],
]

const hiding: readonly Shorthand[] = [
  [
    'a key in a trailer',
    `${line}${json}Connection: close\r\nTransfer-Encoding: chunked\r\nTrailer: X-Session-API-Key\r\n\r\n0\r\n` +
      `${withKey}\r\n\r\n`,
    401,
  ],
  ['in the body of a request without a key', tell('POST /api/conversations', hidden, 'Connection: keep-alive'), 401],
  ['in the body of a form',
    tell('POST /api/conversations', hidden, withKey, 'Content-Type: text/plain', 'Connection: keep-alive'), 415],
  ['in the body of a foreign page',
    tell('POST /api/conversations', hidden, withKey, 'Origin: https://evil.example', 'Connection: keep-alive'), 403],
  ['in the body of a GET', tell('GET /api/nothing', hidden, withKey, 'Connection: keep-alive'), 404],
  ['in the body of a method that is not there',
    tell('PUT /api/conversations', hidden, withKey, 'Connection: keep-alive'), 405],
  ['in chunks nobody reads',
    `${line}${json}Transfer-Encoding: chunked\r\n\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`, 401],
  ['behind a request that closes the connection', `${ask('GET /api/settings')}${hidden}`, 401],
  ['behind an upgrade that is refused',
    `${ask('GET /api/settings', 'Connection: Upgrade', 'Upgrade: websocket')}${hidden}`, 404],
  ['behind an answer that closes, as its body is not wanted',
    `${tell('POST /api/conversations', 'x'.repeat(200_000), 'Connection: keep-alive')}${hidden}`, 401],
  ['an upgrade behind such an answer',
    `${tell('POST /api/conversations', 'y'.repeat(200_000), 'Connection: keep-alive')}${knock(socket, withKey)}`, 401],
  ['an upgrade behind an answer that is not complete',
    `${tell('POST /api/conversations', '{', withKey, 'Connection: keep-alive')}${knock(socket, withKey)}`, 422, 400],
  ['frames in the body of an upgrade', `${knock(socket, withKey, 'Content-Length: 6')}\x81\x80\0\0\0\0`, 400],
  ['frames in the chunks of an upgrade',
    `${knock(socket, withKey, 'Transfer-Encoding: chunked')}6\r\n\x81\x80\0\0\0\0\r\n0\r\n\r\n`, 400],
  ['behind another version of HTTP', `GET /api/settings HTTP/2.0\r\nHost: localhost\r\n${withKey}\r\n\r\n${hidden}`,
    505],
  [
    'another version of HTTP behind an answer that is not complete',
    `${tell('POST /api/conversations', '[', withKey, 'Connection: keep-alive')}GET / HTTP/2.0\r\nHost: localhost\r\n` +
      '\r\n',
    422,
    505,
  ],
  ['behind a request that is too large', `${head}X: ${'x'.repeat(40_000)}\r\n\r\n${hidden}`, 431],
  ['without a key behind one without',
    `${ask('GET /api/settings', 'Connection: keep-alive')}${ask(`DELETE /api/conversations/${id}`)}`, 401, 401],
  ['an interim answer between two', `${ask('GET /api/settings', 'Connection: keep-alive')}${tell('POST /api/conversations', '{}', 'Expect: 100-continue')}`, 401, 401],
  ['between two answers', `${tell('POST /api/conversations', 'HTTP/1.1 200 OK\r\n\r\n', 'Connection: keep-alive')}${ask('GET /api/settings')}`, 401, 401],
]

const versions: readonly Shorthand[] = [
  ['HTTP/0.9 by name', `GET /api/settings HTTP/0.9\r\n${withKey}\r\n\r\n`, 505],
  ['HTTP/1.2', `GET /api/settings HTTP/1.2\r\nHost: localhost\r\n${withKey}\r\n\r\n`, 400],
  ['HTTP/2.0', `GET /api/settings HTTP/2.0\r\nHost: localhost\r\n${withKey}\r\n\r\n`, 505],
  ['HTTP/3', `GET /api/settings HTTP/3\r\nHost: localhost\r\n${withKey}\r\n\r\n`, 400],
  ['a protocol of another name', `GET /api/settings ICE/1.0\r\nHost: localhost\r\n${withKey}\r\n\r\n`, 400],
  ['a protocol in small letters', `GET /api/settings http/1.1\r\nHost: localhost\r\n${withKey}\r\n\r\n`, 400],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['TLS', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03', 400],
  ['SSH', 'SSH-2.0-OpenSSH_9.2\r\n', 400],
  ['an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 400],
  ['NUL bytes', '\x00'.repeat(64), 400],
]

const targets: readonly Shorthand[] = [
  ...([
    ['/alive/../api/settings', 400], ['/alive/%2e%2e/api/settings', 400], ['/alive/.%2E/api/settings', 400],
    ['/./api/settings', 400], ['/alive/..', 400],
    ['/alive%2f..%2fapi/settings', 404], ['/alive;/api/settings', 404], ['/alive%00', 404], ['/alive%0d%0aX:%20y', 404],
    ['/alive/..;/api/settings', 404],
    ['/alive\\..\\api\\settings', 404], ['//api/settings', 404], ['/api//settings', 404], ['/API/settings', 404],
    ['/%61pi/settings', 404],
    ['/api/settings%20', 404], ['/api/settings%2f', 404], ['/api/settings.json', 404], ['/api/settings;x=/alive', 404],
    ['/api%2fsettings', 404],
    ['/api/settings?/alive', 401], ['/api/settings?x=/../alive', 401], ['/api/settings#/alive', 400],
    ['api/settings', 400], ['http:/api/settings', 400],
    ['file:///etc/passwd', 400], ['javascript:alert(1)', 400], ['*', 404], ['?', 400], ['/\xc0\xafapi', 400],
    ['/api/settings\x7f', 400], ['//evil.example/%2e%2e', 400],
    ['/api/settings/secrets/OPENAI_API_KEY%2f..', 401], ['/__proto__', 404], ['/api/constructor', 404],
  ] as const).map(([target, status]): Shorthand => [
    `${JSON.stringify(target)} without a key`, ask(`GET ${target}`), status,
  ]),
  ...([
    ['/api/conversations/%ff', 400], ['/api/conversations/%00', 400], ['/api/conversations/%c0%ae%c0%ae', 400],
    ['/api/conversations/%e0%80%af', 400], ['/api/conversations/%', 400],
    ['/api/conversations/..%2f..%2fetc%2fpasswd', 422], ['/api/conversations/%252e%252e', 422],
    [`/api/conversations/${id}%2f..`, 422], [`/api/conversations/${id}.json`, 422],
    [`/api/conversations/${id}%00`, 400], ['/api/conversations/%7bid%7d', 422], ['/api/conversations/__proto__', 422],
    [`/api/conversations/${id}/events/..%2fstate.json`, 404],
    [`/api/conversations/${id}/events/..%5cstate.json`, 404], [`/api/conversations/${id}/events/%2e%2e`, 400],
    [`/api/conversations/${id}/events/..%2f..%2f..%2fsettings.json`, 404],
    [`/api/conversations/${id}/events/%ef%bc%8e%ef%bc%8e`, 404], ['/api/settings/secrets/..%2f..%2fsecrets.json', 422],
    ['/api/settings/secrets/%00', 400],
    ['/api/settings/secrets/toString', 404], ['/api/settings/secrets/__proto__', 422],
  ] as const).map(([target, status]): Shorthand => [
    `${JSON.stringify(target)} with a key`, ask(`GET ${target}`, withKey), status,
  ]),
  ['delete by a path that climbs', ask(`DELETE /api/conversations/x/../${id}`, withKey), 400],
  ['delete by a slash that is encoded', ask(`DELETE /api/conversations%2f${id}`, withKey), 404],
  ['delete a secret by a path', ask('DELETE /api/settings/secrets/..%2f..%2fsettings.json', withKey), 422],
  ['run behind an encoded slash', ask(`POST /api/conversations/${id}%2frun`, withKey), 405],
  ['a redirect that leaves', ask('GET //evil.example/api/settings/', withKey), 404],
  ['CONNECT to elsewhere', 'CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n'],
  ['CONNECT to here', `CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n${withKey}\r\n\r\n${hidden}`],
]

const filler = 'a:\r\n'.repeat(2_500)
const sizes: readonly Shorthand[] = [
  ['a wrong key behind 2,500 headers', `${head}${filler}X-Session-API-Key: wrong\r\nConnection: close\r\n\r\n`, 401],
  ['a foreign Origin behind 2,500 headers', `${head}${filler}Origin: https://evil.example\r\nConnection: close\r\n\r\n`,
    403],
  ['a second Host behind 2,500 headers', `${head}${filler}Host: evil.example\r\nConnection: close\r\n\r\n`, 400],
  ['a length behind 2,500 headers',
    `${head}${filler}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`, 400],
  ['headers beyond the limit', `${head}X: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
  ['many headers beyond the limit', `${head}${`x: ${'y'.repeat(60)}\r\n`.repeat(700)}\r\n`, 431],
  ['a target beyond the limit', ask(`GET /${'x'.repeat(20_000)}`, withKey), 414],
  ['a query beyond the limit', ask(`GET /api/conversations/search?page_id=${'x'.repeat(20_000)}`, withKey), 414],
  ['a method without end', 'X'.repeat(50_000), 400],
  ['a body beyond the limit, as it says', `${head}${json}Content-Length: 99999999999\r\n\r\n`, 413],
  ['a body beyond the limit, without a key', `${line}${json}Content-Length: 99999999999\r\n\r\n`, 401],
]

const halves: readonly Shorthand[] = [
  ['HTTP/0.9 without an end of its headers', 'GET /api/settings\r\n', 408],
  ['half a request', head.slice(0, -4), 408],
]

export const wireRows: readonly HostileRow[] = [
  ...rowsOf('smuggling', ['keyed', 'open'], smuggling),
  ...rowsOf('hidden requests', ['keyed'], hiding),
  ...rowsOf('versions', ['keyed', 'open'], versions),
  ...rowsOf('targets', ['keyed'], targets),
  ...rowsOf('sizes', ['keyed'], sizes),
  ...rowsOf('half requests', ['keyed'], halves),
]
