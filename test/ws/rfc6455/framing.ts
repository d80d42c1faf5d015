/** RFC 6455, sections 5 and 6: frames and messages, as a server has to read and write them. */
import { encodeFrame, encodeText } from '../../../src/ws/frame.ts'
import { binary, bytes, close, more, open, ping, pong, text, type Row } from './row.ts'

const none = Buffer.alloc(0)
const reserved = [3, 4, 5, 6, 7, 11, 12, 13, 14, 15]
const opcodesInUse = [0, 1, 2, 8, 9, 10]
const lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 16 * 1024 * 1024]
const refused = { gets: ['close 1002'], closed: /^1002 / } as const

export const framing: readonly Row[] = [
  // 5.1 Overview
  ...opcodesInUse.map((opcode): Row => ({
    section: '5.1',
    says: `the connection is closed at a frame without a mask (opcode ${opcode})`,
    sends: bytes(Buffer.from([0x80 | opcode, 0x00])),
    ...refused,
  })),
  {
    section: '5.1',
    says: 'no frame of a server is masked, whichever it is',
    sends: bytes(ping('a'), close(1000)),
    before: (connection) => {
      connection.sendText('text')
      connection.send(encodeFrame(0x2, Buffer.from([1])))
    },
    gets: ['text text', 'binary 01', 'pong 61', 'close 1000'],
    closed: '1000',
  },

  // 5.2 Base framing
  ...[0x40, 0x20, 0x10, 0x70].flatMap((bits) => opcodesInUse.map((opcode): Row => ({
    section: '5.2',
    says: `the connection fails at reserved bits ${bits.toString(16)} that no extension defines (opcode ${opcode})`,
    sends: bytes(Buffer.from([0x80 | bits | opcode, 0x80, 0, 0, 0, 0])),
    ...refused,
  }))),
  ...[0x20, 0x10, 0x30].map((bits): Row => ({
    section: '5.2',
    says: `the connection fails at reserved bits ${bits.toString(16)} that the negotiated extension does not define`,
    sends: text('x', { reserved: bits }),
    deflate: 'context',
    ...refused,
  })),
  ...reserved.flatMap((opcode) => [true, false].map((final): Row => ({
    section: '5.2',
    says: `the connection fails at the unknown opcode ${opcode}, ${final ? 'final' : 'not final'}`,
    sends: bytes(Buffer.from([(final ? 0x80 : 0) | opcode, 0x80, 0, 0, 0, 0])),
    ...refused,
  }))),
  ...lengths.map((length): Row => ({
    section: '5.2',
    says: `a payload of ${length} bytes is read, with the length in its shortest form`,
    sends: text(Buffer.alloc(length, 'x')),
    hears: [`text ${'x'.repeat(length)}`],
    isLong: length > 1000,
  })),
  ...([[0, 2], [125, 2], [0, 8], [125, 8], [126, 8], [65_535, 8]] as const).map(([length, lengthBytes]): Row => ({
    section: '5.2',
    says: `a length of ${length} in ${lengthBytes} bytes is refused, because fewer would do`,
    sends: binary(Buffer.alloc(length), { lengthBytes }),
    isLong: length > 1000,
    ...refused,
  })),
  {
    section: '5.2',
    says: 'the example of the section, 124 as 126 0 124, is refused',
    sends: bytes('81fe007c00000000', Buffer.alloc(124, 'x')),
    ...refused,
  },
  {
    section: '5.2',
    says: 'the most significant bit of a 64-bit length must be 0',
    sends: bytes('82ff800000000000000000000000'),
    ...refused,
  },
  {
    section: '5.2',
    says: 'lengths are in network byte order',
    sends: bytes('82fe010000000000', Buffer.alloc(256, 1)),
    hears: [`binary ${'01'.repeat(256)}`],
  },

  // 5.3 Masking
  {
    section: '5.3',
    says: 'octet i is unmasked with octet i mod 4 of the key',
    sends: bytes('828a01020304', '0103070d111317', '1d2123'),
    hears: ['binary 0001040910111419' + '2021'],
  },
  { section: '5.3', says: 'a key of zeros changes nothing', sends: bytes('818200000000', '6869'), hears: ['text hi'] },
  {
    section: '5.3',
    says: 'each frame has a key of its own, control frames between fragments too',
    sends: bytes('018101020304', '60', '8981ffffffff', '9e', '8081aabbccdd', 'c8'),
    hears: ['text ab'],
    gets: ['pong 61'],
  },
  {
    section: '5.3',
    says: 'the length does not count the key',
    sends: bytes('8180deadbeef', '818101010101', '60'),
    hears: ['text ', 'text a'],
  },

  // 5.4 Fragmentation
  { section: '5.4', says: 'a message of one frame is read', sends: text('one'), hears: ['text one'] },
  {
    section: '5.4',
    says: 'a message of two frames is read',
    sends: bytes(text('o', open), more('ne')),
    hears: ['text one'],
  },
  {
    section: '5.4',
    says: 'fragments of any size, also empty ones, keep their order',
    sends: bytes(text('', open), more('a', open), more('', open), more('bcd', open), more('')),
    hears: ['text abcd'],
  },
  {
    section: '5.4',
    says: 'a binary message in fragments is binary',
    sends: bytes(binary(Buffer.from([0xff]), open), more(Buffer.from([0xfe]))),
    hears: ['binary fffe'],
  },
  {
    section: '5.4',
    says: 'control frames in the middle of a message are handled at once',
    sends: bytes(text('a', open), ping('1'), more('b', open), pong('2'), ping('3'), more('c')),
    gets: ['pong 31', 'pong 33'],
    hears: ['text abc'],
  },
  {
    section: '5.4',
    says: 'a Close frame in the middle of a message is answered, and the rest is dropped',
    sends: bytes(text('a', open), close(1000), more('b')),
    gets: ['close 1000'],
    closed: '1000',
  },
  ...[8, 9, 10].map((opcode): Row => ({
    section: '5.4',
    says: `control frames must not be fragmented (opcode ${opcode})`,
    sends: bytes(Buffer.from([opcode, 0x80, 0, 0, 0, 0])),
    ...refused,
  })),
  ...[1, 2].map((opcode): Row => ({
    section: '5.4',
    says: `fragments of two messages must not be interleaved (opcode ${opcode} inside a message)`,
    sends: bytes(text('a', open), Buffer.from([0x80 | opcode, 0x80, 0, 0, 0, 0])),
    ...refused,
  })),
  { section: '5.4', says: 'a first frame has another opcode than 0', sends: more('a'), ...refused },
  {
    section: '5.4',
    says: 'a first frame has another opcode than 0, also one with more to come',
    sends: more('a', open),
    ...refused,
  },
  {
    section: '5.4',
    says: 'after the last fragment a message is over',
    sends: bytes(text('a', open), more('b'), more('c')),
    hears: ['text ab'],
    ...refused,
  },
  {
    section: '5.4',
    says: 'frames have no meaning of their own: messages back to back are the same as one by one',
    sends: bytes(text('a'), text('b', open), more('c'), binary('d'), text('')),
    hears: ['text a', 'text bc', 'binary 64', 'text '],
  },

  // 5.5.2 Ping, 5.5.3 Pong
  {
    section: '5.5',
    says: 'a control frame carries up to 125 bytes',
    sends: ping(Buffer.alloc(125, 'x')),
    gets: [`pong ${'78'.repeat(125)}`],
  },
  ...[8, 9, 10].map((opcode): Row => ({
    section: '5.5',
    says: `a control frame carries no more than 125 bytes (opcode ${opcode})`,
    sends: bytes(Buffer.from([0x80 | opcode, 0xfe, 0, 126, 0, 0, 0, 0]), Buffer.alloc(126)),
    ...refused,
  })),
  { section: '5.5.2', says: 'a Ping is answered', sends: ping(''), gets: ['pong '] },
  {
    section: '5.5.2', says: 'a Ping after the Close frame of the client is not answered',
    sends: bytes(close(1000), ping('x')), gets: ['close 1000'], closed: '1000',
  },
  {
    section: '5.5.3',
    says: 'a Pong repeats the data of its Ping, whatever bytes they are',
    sends: ping(Buffer.from([0, 0xff, 0xc0])),
    gets: ['pong 00ffc0'],
  },
  {
    section: '5.5.3',
    says: 'every Ping is answered while the client reads',
    sends: bytes(ping('a'), ping('b'), ping('c')),
    gets: ['pong 61', 'pong 62', 'pong 63'],
  },
  {
    section: '5.5.3',
    says: 'a Pong that nobody asked for is ignored',
    sends: bytes(pong('x'), pong(''), text('a')),
    hears: ['text a'],
  },

  // 5.6 Data frames
  {
    section: '5.6',
    says: 'a frame of a text may end inside a character, if the whole is UTF-8',
    sends: bytes(text(Buffer.from([0xf0]), open), more(Buffer.from([0x9f, 0x98]), open), more(Buffer.from([0x80]))),
    hears: ['text 😀'],
  },
  {
    section: '5.6',
    says: 'binary data is any bytes',
    sends: binary(Buffer.from([0xc0, 0xff, 0x00])),
    hears: ['binary c0ff00'],
  },

  // 5.7 Examples, and the same sent by us
  { section: '5.7', says: 'the masked text', sends: bytes('818537fa213d7f9f4d5158'), hears: ['text Hello'] },
  { section: '5.7', says: 'the masked Pong', sends: bytes('8a8537fa213d7f9f4d5158') },
  { section: '5.7', says: 'the unmasked examples are not for a server', sends: bytes('810548656c6c6f'), ...refused },
  {
    section: '5.7',
    says: 'what a server sends looks like the unmasked text, and like the 256 bytes and the 64 KiB',
    sends: none,
    before: (connection) => {
      connection.send(encodeText('Hello'))
      connection.send(encodeFrame(0x2, Buffer.alloc(256)))
      connection.send(encodeFrame(0x2, Buffer.alloc(65_536)))
    },
    gets: ['text Hello', `binary ${'00'.repeat(256)}`, `binary ${'00'.repeat(65_536)}`],
  },

  // 6.1 Sending, 6.2 Receiving
  ...[0, 125, 126, 65_535, 65_536, 300_000].map((length): Row => ({
    section: '6.1',
    says: `a text of ${length} bytes is one frame with FIN, its opcode and the shortest length`,
    sends: none,
    before: (connection) => void connection.sendText('x'.repeat(length)),
    gets: [`text ${'x'.repeat(length)}`],
  })),
  {
    section: '6.1',
    says: 'nothing is sent once the connection is not open any more',
    sends: bytes(close(1000)),
    before: (connection) => {
      connection.close(1001)
      connection.sendText('late')
    },
    gets: ['close 1001'],
    closed: '1001',
  },
  {
    section: '6.2',
    says: 'the type of a message is that of its first frame',
    sends: bytes(binary('', open), more('a')),
    hears: ['binary 61'],
  },
]
