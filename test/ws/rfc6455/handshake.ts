/** RFC 6455, sections 4.2, 4.4, 9.1 and 10.2: requests as they stand on the wire, and how a server answers them. */

export interface HandshakeRow {
  readonly section: string
  readonly says: string
  /**
   * Lines that take the place of the lines of the same name in a good request; without a value the line is left out.
   */
  readonly lines?: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly requestLine?: string
  /** permessage-deflate may be negotiated. */
  readonly deflate?: boolean
  readonly status: number
  /** Headers that the answer has, or has not. */
  readonly answers?: Readonly<Record<string, string | undefined>>
}

const accepts = {
  status: 101,
  answers: { 'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=', upgrade: 'websocket', connection: 'Upgrade' },
} as const
const key = 'dGhlIHNhbXBsZSBub25jZQ=='

export const goodLines = {
  Host: 'server.example.com',
  Upgrade: 'websocket',
  Connection: 'Upgrade',
  'Sec-WebSocket-Key': key,
  'Sec-WebSocket-Version': '13',
} as const

export const handshakes: readonly HandshakeRow[] = [
  {
    section: '1.3',
    says: 'the example is accepted',
    lines: { Origin: 'http://example.com', 'Sec-WebSocket-Protocol': 'chat, superchat' },
    ...accepts,
  },

  // 4.2.1 Reading the request
  { section: '4.2.1', says: '1. another method is refused', requestLine: 'POST / HTTP/1.1', status: 405 },
  { section: '4.2.1', says: '1. HTTP/1.0 is refused', requestLine: 'GET / HTTP/1.0', status: 400 },
  {
    section: '4.2.1', says: '1. an absolute target is taken',
    requestLine: 'GET http://server.example.com/chat HTTP/1.1', ...accepts,
  },
  { section: '4.2.1', says: '2. a request without Host is refused', lines: { Host: undefined }, status: 400 },
  { section: '4.2.1', says: '3. Upgrade in any case', lines: { Upgrade: 'WebSocket' }, ...accepts },
  { section: '4.2.1', says: '3. Upgrade in a list', lines: { Upgrade: 'h2c, websocket' }, ...accepts },
  { section: '4.2.1', says: '3. another Upgrade is refused', lines: { Upgrade: 'websockets' }, status: 400 },
  {
    section: '4.2.1',
    says: '3. a request without Upgrade is an ordinary one',
    lines: { Upgrade: undefined },
    status: 404,
  },
  {
    section: '4.2.1',
    says: '4. Connection in any case, in a list',
    lines: { Connection: 'keep-alive, UPGRADE' },
    ...accepts,
  },
  {
    section: '4.2.1', says: '4. Connection in two lines', lines: { Connection: ['keep-alive', 'Upgrade'] }, ...accepts,
  },
  {
    section: '4.2.1',
    says: '4. a request without the token Upgrade is an ordinary one',
    lines: { Connection: 'keep-alive' },
    status: 404,
  },
  {
    section: '4.2.1',
    says: '5. a request without a key is refused',
    lines: { 'Sec-WebSocket-Key': undefined },
    status: 400,
  },
  { section: '4.2.1', says: '5. an empty key is refused', lines: { 'Sec-WebSocket-Key': '' }, status: 400 },
  {
    section: '4.2.1',
    says: '5. a key of 15 bytes is refused',
    lines: { 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25j' },
    status: 400,
  },
  {
    section: '4.2.1',
    says: '5. a key of 17 bytes is refused',
    lines: { 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQA=' },
    status: 400,
  },
  ...['dGhlIHNhbXBsZSBub25j==', 'dGhlIHNhbXBsZSBub25jZQZQ=='].map((value): HandshakeRow => ({
    section: '4.2.1',
    says: `5. a key of another length is refused (${value})`,
    lines: { 'Sec-WebSocket-Key': value },
    status: 400,
  })),
  {
    section: '4.2.1',
    says: '5. a key that is not base64 is refused',
    lines: { 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZ-==' },
    status: 400,
  },
  { section: '4.2.1', says: '5. two keys are refused', lines: { 'Sec-WebSocket-Key': [key, key] }, status: 400 },
  {
    section: '4.2.1',
    says: '6. a request without a version is refused',
    lines: { 'Sec-WebSocket-Version': undefined },
    status: 426,
  },
  { section: '4.2.1', says: '6. the version 013 is refused', lines: { 'Sec-WebSocket-Version': '013' }, status: 426 },
  { section: '4.2.1', says: '10. other headers are ignored', lines: { Cookie: 'a=b', 'X-Unknown': 'y' }, ...accepts },

  // 4.2.2 Answering it
  {
    section: '4.2.2',
    says: '4. another version is refused with the version that is known',
    lines: { 'Sec-WebSocket-Version': '8' },
    status: 426,
    answers: { 'sec-websocket-version': '13' },
  },
  {
    section: '4.2.2',
    says: '4. a subprotocol that is not agreed to is not sent back',
    lines: { 'Sec-WebSocket-Protocol': 'chat' },
    status: 101,
    answers: { 'sec-websocket-protocol': undefined },
  },
  {
    section: '4.2.2', says: '4. an extension that the client did not list is not listed', deflate: true, status: 101,
    answers: { 'sec-websocket-extensions': undefined },
  },
  { section: '4.2.2', says: '5. the answer is 101 with Upgrade, Connection and the hash of the key', ...accepts },
  {
    section: '4.4',
    says: 'a client may learn the version from the refusal',
    lines: { 'Sec-WebSocket-Version': '25' },
    status: 426,
    answers: { 'sec-websocket-version': '13', upgrade: 'websocket' },
  },

  // 9.1 Extensions
  ...['foo;', 'foo bar', 'foo; a=', '"foo"', 'foo; a="b c"', 'foo; a="', 'f@o', ';'].map((value): HandshakeRow => ({
    section: '9.1',
    says: `a value that breaks the grammar is refused: ${value}`,
    lines: { 'Sec-WebSocket-Extensions': value },
    status: 400,
  })),
  {
    section: '9.1',
    says: 'an unknown extension is left out',
    lines: { 'Sec-WebSocket-Extensions': 'mux; max-channels=4; flow-control, deflate-stream' },
    status: 101,
    answers: { 'sec-websocket-extensions': undefined },
  },
  {
    section: '9.1',
    says: 'the header may be split into lines, and what is known is found among what is not',
    lines: { 'Sec-WebSocket-Extensions': ['foo; a=1', 'permessage-deflate'] },
    deflate: true,
    status: 101,
    answers: { 'sec-websocket-extensions': 'permessage-deflate; server_no_context_takeover' },
  },
  {
    section: '9.1',
    says: 'a quoted value is the same as the token',
    lines: { 'Sec-WebSocket-Extensions': 'permessage-deflate; server_max_window_bits="15"' },
    deflate: true,
    status: 101,
    answers: {
      'sec-websocket-extensions': 'permessage-deflate; server_no_context_takeover; server_max_window_bits=15',
    },
  },
]
