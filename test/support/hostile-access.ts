/**
 * Hostile requests that are sound HTTP: who asks, from which page, for which host, in which form. The table is read by
 * test/e2e/hostile-requests and mutated by the fuzzer of the entrance.
 */
import { ask, id, key, knock, rowsOf, tell, withKey, type HostileRow, type Shorthand } from './hostile-row.ts'

const run = `POST /api/conversations/${id}/run`
const create = 'POST /api/conversations'
const patch = 'PATCH /api/settings'
const socket = `/sockets/events/${id}`
const settings = '{"agent_settings_diff":{"acp_command":["/bin/evil"]}}'

const noKey: readonly Shorthand[] = [
  ['reads the settings', ask('GET /api/settings'), 401],
  ['reads the conversations', ask('GET /api/conversations/search'), 401],
  ['reads a stream of events', ask(`GET /api/conversations/${id}/events/stream`), 401],
  ['asks for a head', ask('HEAD /api/settings'), 401],
  ['makes a conversation', tell(create, '{}'), 401],
  ['runs an agent', ask(run), 401],
  ['changes the settings', tell(patch, settings), 401],
  ['stores a secret', tell('PUT /api/settings/secrets', '{"name":"EVIL","value":"evil-evil"}'), 401],
  ['deletes a conversation', ask(`DELETE /api/conversations/${id}`), 401],
  ['has a program started', tell('POST /api/mcp/test', '{"server":{"command":"/bin/evil"}}'), 401],
  ['claims to come from loopback',
    ask(run, 'X-Forwarded-For: 127.0.0.1', 'X-Real-IP: 127.0.0.1', 'Forwarded: for=127.0.0.1'), 401],
  ['names a path that is open beside its own',
    ask(run, 'X-Original-URL: /alive', 'X-Rewrite-URL: /alive', 'X-Forwarded-Prefix: /alive'), 401],
  ['is told to go on and is refused then', tell(create, '{}', 'Expect: 100-continue'), 100, 401],
  ['asks for a range', ask('GET /api/settings', 'Range: bytes=0-10'), 401],
  ['asks if something has changed',
    ask('GET /api/settings', 'If-None-Match: *', 'If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT'), 401],
]

const wrongKey: readonly Shorthand[] = [
  ['a wrong one', ask(run, 'X-Session-API-Key: wrong'), 401],
  ['an empty one', ask(run, 'X-Session-API-Key:'), 401],
  ['the beginning of the right one', ask(run, 'X-Session-API-Key: the-key-of-the-test'), 401],
  ['the right one and more', ask(run, `${withKey}x`), 401],
  ['the right one in capitals', ask(run, 'X-Session-API-Key: THE-KEY-OF-THE-TESTS'), 401],
  ['the right one in quotes', ask(run, `X-Session-API-Key: "${key}"`), 401],
  ['the right one as a bearer', ask(run, `X-Session-API-Key: Bearer ${key}`), 401],
  ['the right one behind a space that is none', ask(run, `X-Session-API-Key: \xa0${key}`), 401],
  ['the right one percent-encoded', ask(run, 'X-Session-API-Key: the%2Dkey%2Dof%2Dthe%2Dtests'), 401],
  ['10,000 bytes', ask(run, `X-Session-API-Key: ${'x'.repeat(10_000)}`), 401],
  ['the right one twice', ask(run, withKey, withKey), 401],
  ['a wrong one before it', ask(run, 'X-Session-API-Key: wrong', withKey), 401],
  ['a wrong one behind it', ask(run, withKey, 'X-Session-API-Key: wrong'), 401],
  ['an empty one behind it', ask(run, withKey, 'X-Session-API-Key:'), 401],
  ['twice with names in another case', ask(run, `x-session-api-key: ${key}`, 'X-SESSION-API-KEY: wrong'), 401],
  ['two joined by a comma', ask(run, `X-Session-API-Key: wrong, ${key}`), 401],
  ['the right one joined to itself', ask(run, `X-Session-API-Key: ${key},${key}`), 401],
  ['in Authorization', ask(run, `Authorization: Bearer ${key}`, `Proxy-Authorization: Bearer ${key}`), 401],
  ['in headers of other names',
    ask(run, `X-API-Key: ${key}`, `X_Session_API_Key: ${key}`, `X-Session-Key: ${key}`, `Session-API-Key: ${key}`),
    401],
  ['in the query', ask(`${run}?session_api_key=${key}`), 401],
  ['in the query of a reader', ask(`GET /api/conversations/${id}/events/stream?session_api_key=${key}&token=${key}`),
    401],
  ['in a cookie', ask(run, `Cookie: session_api_key=${key}; X-Session-API-Key=${key}; workspace=${key}`), 401],
  ['in the body', tell(create, `{"session_api_key":"${key}"}`), 401],
  ['in the user part of the target',
    ask(`POST http://${key}@localhost/api/conversations/${id}/run`, `Host: ${key}@localhost`), 400],
]

const otherPages: readonly Shorthand[] = [
  ...[
    'https://evil.example', 'null', 'NULL', '', 'http://localhost.evil.example', 'http://127.0.0.1.evil.example',
    'http://evil-localhost', 'http://localhost@evil.example', 'http://evil.example#http://localhost',
    'http://localhost/', 'http://localhost, https://evil.example', 'http://localhost https://evil.example',
    'http://localhost.', 'http://127.1', 'http://2130706433', 'http://0x7f000001', 'http://[2001:db8::1]',
    'http://[::1', 'http://[::1]evil.example', 'http://[::1%25lo]', 'http://localhost:99999', 'http://localhost:80:80',
    'file://', 'file:///etc/passwd', 'chrome-extension://abcdef', 'ws://localhost', 'data:text/html,x', 'http://',
    'localhost', '*', 'http://%6cocalhost',
  ].map((origin): Shorthand => [`Origin ${JSON.stringify(origin)}`, ask(run, withKey, `Origin: ${origin}`), 403]),
  ['an allowed Origin and then a foreign one',
    ask(run, withKey, 'Origin: http://localhost', 'Origin: https://evil.example'), 403],
  ['an allowed Origin twice', ask(run, withKey, 'Origin: http://localhost', 'Origin: http://localhost'), 403],
  ['a foreign page reads', ask('GET /api/settings', withKey, 'Origin: https://evil.example'), 403],
  ['a page without an origin reads', ask(`GET /api/conversations/${id}`, withKey, 'Origin: null'), 403],
  ['a foreign page reads a stream',
    ask(`GET /api/conversations/${id}/events/stream`, withKey, 'Origin: https://evil.example'), 403],
  ['a foreign page reads what is open', ask('GET /server_info', 'Origin: https://evil.example'), 403],
  ['a foreign page asks for a head', ask('HEAD /api/settings', withKey, 'Origin: https://evil.example'), 403],
  ['a form of a foreign page',
    tell(run, 'a=1', withKey, 'Origin: https://evil.example', 'Content-Type: application/x-www-form-urlencoded'), 403],
  ['a beacon of a foreign page',
    tell(create, '{}', withKey, 'Origin: https://evil.example', 'Content-Type: text/plain;charset=UTF-8'), 403],
  ['an Origin of a proxy instead',
    ask(run, withKey, 'Origin: https://evil.example', 'X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https'),
    403],
  ['an image',
    ask('GET /api/settings', withKey, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: image'),
    403],
  [
    'a script',
    ask(
      `GET /api/conversations/${id}`, withKey, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors',
      'Sec-Fetch-Dest: script',
    ),
    403,
  ],
  [
    'a frame',
    ask(
      'GET /api/settings', withKey, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe',
    ),
    403,
  ],
  [
    'a frame of what is not there',
    ask(
      'GET /api/nothing', withKey, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe',
    ),
    403,
  ],
  ['a stream that a page holds',
    ask(`GET /api/conversations/${id}/events/stream`, withKey, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors'),
    403],
  ['a form that hides its origin',
    ask(run, withKey, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'), 403],
  ['a request without a mode', ask('GET /api/settings', withKey, 'Sec-Fetch-Site: cross-site'), 403],
  ['a preflight of a foreign page',
    ask('OPTIONS /api/settings', 'Origin: https://evil.example', 'Access-Control-Request-Method: PATCH'), 400],
  ['a preflight of no page', ask('OPTIONS /api/settings', 'Origin: null', 'Access-Control-Request-Method: PATCH'), 403],
  ['a preflight for no method',
    ask('OPTIONS /api/settings', 'Origin: http://localhost', 'Access-Control-Request-Method: PA TCH'), 400],
  [
    'a preflight that splits the answer',
    ask(
      'OPTIONS /api/settings', 'Origin: http://localhost', 'Access-Control-Request-Method: PUT',
      'Access-Control-Request-Headers: a\tb',
    ),
    400,
  ],
]

const otherHosts: readonly Shorthand[] = [
  ...([
    ['evil.example', 403], ['evil.example:8000', 403], ['EVIL.EXAMPLE', 403], ['localhost.evil.example', 403],
    ['127.0.0.1.evil.example', 403], ['evil-localhost', 403],
    ['localhost.', 403], ['127.0.0.1.', 403], ['2130706433', 403], ['0x7f000001', 403], ['127.1', 403],
    ['xn--lcalhost-n6a', 403], ['rebind.network:8000', 403],
    ['', 400], ['localhost:99999', 400], ['localhost:80:80', 400], ['localhost:', 400], ['localhost:x', 400],
    ['user@localhost', 400],
    ['localhost@evil.example', 400], ['localhost/evil', 400], ['localhost, evil.example', 400],
    ['localhost evil.example', 400], ['localhost#', 400],
    ['%6cocalhost', 400], ['localhost%00.evil.example', 400], ['l\xf6calhost', 400], ['::1', 400], ['[::1', 400],
    ['[fe80::1%25lo]', 400], ['[::g]', 400],
    ['[::1].evil.example', 400], ['http://localhost', 400], ['*', 400],
  ] as const).map(([host, status]): Shorthand => [
    `Host ${JSON.stringify(host)}`, ask(run, withKey, `Host: ${host}`), status,
  ]),
  ['a rebound name that reads', ask('GET /api/settings', withKey, 'Host: rebind.network:8000'), 403],
  ['a rebound name and its own origin',
    ask(run, withKey, 'Host: rebind.network:8000', 'Origin: http://rebind.network:8000'), 403],
  ['a rebound name that reads what is open', ask('GET /server_info', 'Host: rebind.network'), 403],
  [
    'a rebound name that asks for a preflight',
    ask(
      'OPTIONS /api/settings', 'Host: rebind.network', 'Origin: http://rebind.network',
      'Access-Control-Request-Method: PUT',
    ),
    403,
  ],
  ['two Hosts', ask(run, withKey, 'Host: localhost', 'Host: evil.example'), 400],
  ['the same Host twice', ask(run, withKey, 'Host: localhost', 'host: localhost'), 400],
  [
    'another Host at a proxy',
    ask(
      run, withKey, 'Host: evil.example', 'X-Forwarded-Host: localhost', 'Forwarded: host=localhost',
      'X-Host: localhost',
    ),
    403,
  ],
  ['a target at another host', ask(`POST http://evil.example/api/conversations/${id}/run`, withKey), 400],
  ['a target and a Host elsewhere',
    ask(`POST http://evil.example/api/conversations/${id}/run`, withKey, 'Host: evil.example'), 403],
  ['a target here and a Host elsewhere',
    ask(`POST http://localhost/api/conversations/${id}/run`, withKey, 'Host: evil.example'), 400],
  ['a target with a user',
    ask(`POST http://localhost@evil.example/api/conversations/${id}/run`, withKey, 'Host: localhost'), 400],
  ['no Host in HTTP/1.0', `POST /api/conversations/${id}/run HTTP/1.0\r\n${withKey}\r\n\r\n`, 400],
  ['no Host in HTTP/1.1', `POST /api/conversations/${id}/run HTTP/1.1\r\nConnection: close\r\n${withKey}\r\n\r\n`, 400],
]

const otherForms: readonly Shorthand[] = [
  ...[
    'text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x',
    'text/json', 'application/x-json', '', 'application/json, text/plain', 'text/plain, application/json',
    'text/plain; application/json', 'application/json; charset=utf-16', 'application/json; charset=utf-7',
  ].map((type): Shorthand => [
    `content type ${JSON.stringify(type)}`, tell(create, '{}', withKey, `Content-Type: ${type}`), 415,
  ]),
  ['a plain text that is JSON in a second header',
    tell(create, '{}', withKey, 'Content-Type: text/plain', 'Content-Type: application/json'), 400],
  ['a compressed body', tell(create, '{}', withKey, 'Content-Encoding: gzip'), 415],
  ['JSON with something behind it', tell(create, '{}=1', withKey), 422],
  ...[
    'run', 'pause', 'interrupt', 'condense', 'fork', 'navigate', 'goal', 'goal/stop', 'secrets', 'confirmation_policy',
    'switch_llm',
  ].map(
    (tail): Shorthand => [`GET of ${tail}`, ask(`GET /api/conversations/${id}/${tail}`, withKey), 405],
  ),
  ['GET of an answer to a question',
    ask(`GET /api/conversations/${id}/events/respond_to_confirmation?accept=true`, withKey), 405],
  ['HEAD of run', ask(`HEAD /api/conversations/${id}/run`, withKey), 405],
  [
    'GET that says it is POST',
    ask(
      `GET /api/conversations/${id}/run`, withKey, 'X-HTTP-Method-Override: POST', 'X-HTTP-Method: POST',
      'X-Method-Override: POST',
    ),
    405,
  ],
  [
    'POST that says it is DELETE',
    tell(
      `POST /api/conversations/${id}?_method=DELETE`, '{"_method":"DELETE"}', withKey, 'X-HTTP-Method-Override: DELETE',
    ),
    405,
  ],
  ['TRACE', ask('TRACE /api/settings', withKey), 405],
  ['PROPFIND', ask('PROPFIND /api/settings', withKey), 405],
  ['a method in small letters', ask(`post /api/conversations/${id}/run`, withKey), 400],
  ['a method that nobody knows', ask('TRACK /api/settings', withKey), 400],
]

const upgrades: readonly Shorthand[] = [
  ['from a foreign page', knock(socket, withKey, 'Origin: https://evil.example'), 403],
  ['from no page', knock(socket, withKey, 'Origin: null'), 403],
  ['from two pages', knock(socket, withKey, 'Origin: http://localhost', 'Origin: https://evil.example'), 403],
  ['from a page that does not say its origin',
    knock(socket, withKey, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: websocket'), 403],
  ['for another host', knock(socket, withKey, 'Host: evil.example'), 403],
  ['for a rebound name and its origin', knock(socket, withKey, 'Host: rebind.network', 'Origin: http://rebind.network'),
    403],
  ['with two Hosts', knock(socket, withKey, 'Host: localhost', 'Host: evil.example'), 400],
  ['with a target elsewhere', knock(`http://evil.example/sockets/events/${id}`, withKey), 400],
  ['for a path that is not there', knock('/sockets/events', withKey), 404],
  ['for a REST route', knock('/api/settings', withKey), 404],
  ['for what is no id', knock('/sockets/events/..%2f..', withKey), 403],
  ['by a path that climbs', knock(`/sockets/events/${id}/../${id}`, withKey), 400],
  ['with a query that is wrong', knock(`${socket}?resend_mode=evil`, withKey), 403],
  ['in another version', knock(socket, withKey, 'Sec-WebSocket-Version: 8'), 426],
  ['in two versions', knock(socket, withKey, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Version: 8'), 426],
  ['with a short key', knock(socket, withKey, 'Sec-WebSocket-Key: AAAA'), 400],
  [
    'with two keys',
    knock(
      socket, withKey, 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 'Sec-WebSocket-Key: BAAAAAAAAAAAAAAAAAAAAA==',
    ),
    400,
  ],
  ['with extensions that are none', knock(socket, withKey, 'Sec-WebSocket-Extensions: ;;='), 400],
  ['with POST', knock(socket, withKey).replace('GET', 'POST'), 405],
  ['in HTTP/1.0', knock(socket, withKey).replace('HTTP/1.1', 'HTTP/1.0'), 400],
  [
    'to HTTP/2 on the way to run',
    ask(
      run, withKey, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
    ),
    404,
  ],
]

/** A server without a key lets everyone in who has none. */
const socketKeys: readonly Shorthand[] = [
  ['with a wrong one', knock(socket, 'X-Session-API-Key: wrong'), 403],
  ['with an empty one in the query', knock(`${socket}?session_api_key=`, withKey), 403],
  ['with a wrong one in the query, which decides', knock(`${socket}?session_api_key=wrong`, withKey), 403],
  ['with two in the query', knock(`${socket}?session_api_key=${key}&session_api_key=${key}`), 403],
  ['with two in headers', knock(socket, withKey, withKey), 403],
  ['with a wrong one, over HTTP', ask(`GET ${socket}?session_api_key=${key}`), 404],
]

const names: readonly Shorthand[] = [
  ['the name with a dot', ask(run, withKey, 'Host: agent.example.'), 403],
  ['a name below', ask(run, withKey, 'Host: evil.agent.example'), 403],
  ['a name that ends so', ask(run, withKey, 'Host: evilagent.example'), 403],
  ['a name that begins so', ask(run, withKey, 'Host: agent.example.evil.example'), 403],
  ['a page below', ask(run, withKey, 'Host: agent.example', 'Origin: https://evil.app.example'), 403],
  ['a page of another scheme', ask(run, withKey, 'Host: agent.example', 'Origin: http://app.example'), 403],
  ['a page at another port', ask(run, withKey, 'Host: agent.example', 'Origin: https://app.example:444'), 403],
  ['a page of the host at another port',
    ask(run, withKey, 'Host: agent.example:8000', 'Origin: http://agent.example:8001'), 403],
  ['a page that begins so', ask(run, withKey, 'Host: agent.example', 'Origin: https://app.example.evil.example'), 403],
  ['no key', ask(run, 'Host: agent.example', 'Origin: https://app.example'), 401],
]

export const accessRows: readonly HostileRow[] = [
  ...rowsOf('no key', ['keyed', 'public'], noKey),
  ...rowsOf('wrong key', ['keyed'], wrongKey),
  ...rowsOf('other pages', ['keyed', 'open'], otherPages),
  ...rowsOf('other hosts', ['keyed', 'open'], otherHosts),
  ...rowsOf('other forms', ['keyed', 'open'], otherForms),
  ...rowsOf('upgrades', ['keyed', 'open'], upgrades),
  ...rowsOf('keys of sockets', ['keyed', 'public'], socketKeys),
  ...rowsOf('names', ['named'], names),
]
