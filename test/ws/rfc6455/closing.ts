/** RFC 6455, sections 5.5.1, 7, 8.1 and 10.4: how a connection ends, well or badly, as a server has to do it. */
import { isCloseCode } from '../../../src/ws/frame.ts'
import { binary, bytes, close, more, open, ping, text, type Row } from './row.ts'

const none = Buffer.alloc(0)
const allowed = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999]
const forbidden = [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 32_768, 65_535]
const protocolError = { gets: ['close 1002'], closed: /^1002 / } as const
const notUtf8 = { gets: ['close 1007'], closed: /^1007 / } as const
const tooLarge = { gets: ['close 1009'], closed: /^1009 / } as const

/**
 * Not UTF-8 by RFC 3629: stray and missing continuations, overlong forms, surrogates, beyond U+10FFFF, bytes never
 * used.
 */
const invalid = [
  '80', 'bf', 'c0', 'c1', 'c080', 'c1bf', 'c2', 'c241', 'df', 'e080af', 'e0', 'e09f80', 'e1', 'e180', 'e18041',
  'eda080', 'edbfbf', 'edafbfedbfbf', 'f0', 'f08080af', 'f08fbfbf', 'f090', 'f09080', 'f0908041', 'f4908080',
  'f5808080', 'f8888080af', 'fe', 'ff', 'feff',
]

export const closing: readonly Row[] = [
  // 5.5.1 Close
  {
    section: '5.5.1', says: 'a Close frame without a body is answered by one', sends: close(), gets: ['close'],
    closed: '1005',
  },
  { section: '5.5.1', says: 'a body of one byte holds no code', sends: bytes('888100000000', '03'), ...protocolError },
  ...allowed.map((code): Row => ({
    section: '5.5.1',
    says: `Close with ${code} is answered at once and with the same code`,
    sends: close(code, 'né'),
    gets: [`close ${code}`],
    closed: `${code} né`,
  })),
  {
    section: '5.5.1', says: 'a reason of 123 bytes fits', sends: close(4000, 'x'.repeat(123)), gets: ['close 4000'],
    closed: `4000 ${'x'.repeat(123)}`,
  },
  ...invalid.map((hex): Row => ({
    section: '5.5.1',
    says: `a reason that is not UTF-8 (${hex}) is refused`,
    sends: close(1000, Buffer.from(hex, 'hex')),
    ...notUtf8,
  })),
  {
    section: '5.5.1',
    says: 'no data frame goes out after the Close frame',
    sends: close(1001),
    before: (connection) => {
      connection.sendText('first')
      connection.close(1001)
      connection.sendText('late')
    },
    gets: ['text first', 'close 1001'],
    closed: '1001',
  },
  {
    section: '5.5.1',
    says: 'two Close frames that cross each other end the connection, without a third',
    sends: close(4000, 'mine'),
    before: (connection) => connection.close(4001, 'ours'),
    gets: ['close 4001'],
    closed: '4001 ours',
  },
  {
    section: '5.5.1',
    says: 'the server ends the TCP connection itself, though the client does not',
    sends: close(1000),
    gets: ['close 1000'],
    closed: '1000',
  },
  {
    section: '5.5.1', says: 'what follows a Close frame is not read, not even what is broken',
    sends: bytes(close(1000), 'ffff', text('late')), gets: ['close 1000'], closed: '1000',
  },

  // 7.1 Definitions
  {
    section: '7.1.2', says: 'the closing handshake is begun with code and reason', sends: close(4002),
    before: (c) => c.close(4002, 'why'), gets: ['close 4002'], closed: '4002 why',
  },
  {
    section: '7.1.3',
    says: 'while closing, messages and Pings are dropped and the answer is still found behind them',
    sends: bytes(text('late'), ping('late'), close(1001)),
    before: (connection) => connection.close(1001),
    gets: ['close 1001'],
    closed: '1001',
  },
  { section: '7.1.5', says: 'without a code it is 1005', sends: close(), gets: ['close'], closed: '1005' },
  {
    section: '7.1.5', says: 'without a Close frame it is 1006', sends: text('a'), ends: true, hears: ['text a'],
    closed: '1006',
  },
  {
    section: '7.1.5', says: 'without a Close frame it is 1006, also inside a frame', sends: bytes('8185'), ends: true,
    closed: '1006',
  },
  { section: '7.1.6', says: 'without a reason it is empty', sends: close(4000), gets: ['close 4000'], closed: '4000' },
  {
    section: '7.1.7',
    says: 'a failed connection sends Close with a fitting code and reads nothing more',
    sends: bytes('8300', text('late'), close(1000)),
    ...protocolError,
  },
  { section: '7.2.1', says: 'a connection that is lost is over', sends: none, ends: true, closed: '1006' },
  {
    section: '7.3', says: 'a server may close whenever it wants', sends: close(1000),
    before: (connection) => connection.close(), gets: ['close 1000'], closed: '1000',
  },

  // 7.4 Status codes
  ...forbidden.map((code): Row => ({
    section: '7.4', says: `the code ${code} must not be in a Close frame`, sends: close(code), ...protocolError,
  })),
  ...allowed.map((code): Row => ({
    section: '7.4.1',
    says: `a server may close with ${code}`,
    sends: close(code),
    before: (connection) => connection.close(code),
    gets: [`close ${code}`],
    closed: String(code),
  })),
  ...forbidden.map((code): Row => ({
    section: '7.4.2',
    says: `a server cannot be made to send ${code}`,
    sends: text('still open'),
    before: (connection) => {
      try {
        connection.close(code)
      } catch (thrown) {
        if (thrown instanceof RangeError && !isCloseCode(code)) return
      }
      throw new Error(`${code} was taken`)
    },
    hears: ['text still open'],
  })),

  // 8.1 UTF-8
  ...invalid.flatMap((hex): Row[] => {
    const bad = Buffer.from(hex, 'hex')
    const whole = bytes(Buffer.from('né€😀'), bad)
    return [
      { section: '8.1', says: `a text that holds ${hex} fails`, sends: text(whole), ...notUtf8 },
      {
        section: '8.1',
        says: `a text that goes on after ${hex} fails`,
        sends: text(bytes(bad, Buffer.from('after'))),
        ...notUtf8,
      },
      ...Array.from({ length: whole.length + 1 }, (_, at): Row => ({
        section: '8.1',
        says: `a text that holds ${hex} fails in fragments, cut at ${at}`,
        sends: bytes(text(whole.subarray(0, at), open), more(whole.subarray(at))),
        ...notUtf8,
      })),
    ]
  }),
  {
    section: '8.1',
    says: 'a fragment that no other can make valid fails before the message is whole',
    sends: text(Buffer.from([0x61, 0xff]), open),
    ...notUtf8,
  },
  {
    section: '8.1',
    says: 'a byte order mark is text',
    sends: text(Buffer.from('efbbbf61', 'hex')),
    hears: ['text \ufeffa'],
  },
  {
    section: '8.1',
    says: 'noncharacters and NUL are text',
    sends: text('\0\ufffe\uffff\u{10ffff}'),
    hears: ['text \0\ufffe\uffff\u{10ffff}'],
  },

  // 10.4 Limits
  {
    section: '10.4', says: 'a message of the limit is taken', sends: text('x'.repeat(100)), maxMessageBytes: 100,
    hears: [`text ${'x'.repeat(100)}`],
  },
  {
    section: '10.4',
    says: 'a frame above the limit is refused by its length, before its payload',
    sends: bytes('82ff', '1000000000000000'),
    ...tooLarge,
  },
  {
    section: '10.4', says: 'a message above the limit is refused, however it is cut',
    sends: bytes(binary('x'.repeat(99), open), more('xx')), maxMessageBytes: 100, ...tooLarge,
  },
  {
    section: '10.4', says: 'a stream of small fragments is refused',
    sends: bytes(text('', open), ...Array.from({ length: 10 }, () => more('', open))), maxFragments: 10, ...tooLarge,
  },
  {
    section: '10.4', says: 'the limit is no limit for control frames', sends: ping('x'.repeat(125)),
    maxMessageBytes: 10, gets: [`pong ${'78'.repeat(125)}`],
  },
]
