/**
 * RFC 6455 for the other role: the bytes of a server, and the right reaction of the tests' client, so that tests that
 * use it would notice a server that breaks a rule. It takes no fragments and no binary messages: this server sends
 * none.
 */
import { close, type Row } from './row.ts'

export interface ClientRow extends Pick<Row, 'section' | 'says'> {
  /** Headers of the answer that are different from the headers of a good answer. */
  readonly answer?: Readonly<Record<string, string>>
  readonly status?: number
  /** The bytes that the server sends after its answer. */
  readonly sends?: Buffer
  readonly hears?: readonly string[]
  /** The end as the client reports it, or why it fails. */
  readonly ends?: string | RegExp
}

const fails = (why: RegExp): Pick<ClientRow, 'ends'> => ({ ends: why })
const hex = (text: string): Buffer => Buffer.from(text, 'hex')

/** A Close frame without a mask. */
const bye = hex('880203e8')

export const clientRows: readonly ClientRow[] = [
  // 4.1 The answer
  { section: '4.1', says: 'another status is an answer of HTTP', status: 403, ...fails(/refused with 403/) },
  { section: '4.1', says: '2. another Upgrade fails', answer: { Upgrade: 'h2c' }, ...fails(/upgrade to websocket/) },
  {
    section: '4.1', says: '3. a Connection without Upgrade fails', answer: { Connection: 'keep-alive' }, ...fails(/./),
  },
  {
    section: '4.1',
    says: '4. a wrong hash of the key fails',
    answer: { 'Sec-WebSocket-Accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=' },
    ...fails(/read the key/),
  },
  {
    section: '4.1',
    says: '5. an extension that was not asked for fails',
    answer: { 'Sec-WebSocket-Extensions': 'permessage-deflate' },
    ...fails(/not offered/),
  },
  {
    section: '4.1',
    says: '6. a subprotocol that was not asked for fails',
    answer: { 'Sec-WebSocket-Protocol': 'chat' },
    ...fails(/not offered/),
  },

  // 5 Frames
  { section: '5.1', says: 'a masked frame fails', sends: close(1000), ...fails(/masked/) },
  {
    section: '5.2', says: 'a text is read', sends: Buffer.concat([hex('810548656c6c6f'), bye]), hears: ['Hello'],
    ends: '1000',
  },
  ...['c10161', 'a10161', '910161'].map((bytes): ClientRow => ({
    section: '5.2', says: `a reserved bit fails (${bytes})`, sends: hex(bytes), ...fails(/first byte/),
  })),
  ...['8300', '8700', '8b00', '8f00'].map((bytes): ClientRow => ({
    section: '5.2', says: `an unknown opcode fails (${bytes})`, sends: hex(bytes), ...fails(/first byte/),
  })),
  ...['817e0001', '817e007d', '817f0000000000000001', '817f000000000000ffff'].map((bytes): ClientRow => ({
    section: '5.2',
    says: `a length that is not minimal fails (${bytes})`,
    sends: hex(bytes),
    ...fails(/minimal/),
  })),
  { section: '5.4', says: 'a fragmented control frame fails', sends: hex('0900'), ...fails(/first byte/) },
  {
    section: '5.5',
    says: 'a control frame of 126 bytes fails',
    sends: Buffer.concat([hex('897e007e'), Buffer.alloc(126)]),
    ...fails(/125/),
  },
  { section: '5.5.1', says: 'a Close frame of one byte fails', sends: hex('880103'), ...fails(/one byte/) },
  { section: '5.5.1', says: 'a Close frame is answered, with the same code', sends: hex('88020fa4'), ends: '4004' },
  { section: '5.5.1', says: 'a Close frame without a code is answered', sends: hex('8800'), ends: '1005' },
  {
    section: '5.5.1',
    says: 'a frame after the Close frame fails',
    sends: Buffer.concat([bye, hex('810161')]),
    ...fails(/follows the Close/),
  },
  { section: '7.1.5', says: 'an end without a Close frame is 1006', sends: hex('8105'), ends: '1006' },
  ...['880203ed', '880203ee', '880203f7', '880203e7', '8802ffff'].map((bytes): ClientRow => ({
    section: '7.4',
    says: `a code that must not be sent fails (${bytes})`,
    sends: hex(bytes),
    ...fails(/close code/),
  })),
  { section: '8.1', says: 'a text that is not UTF-8 fails', sends: hex('8102c328'), ...fails(/./) },
  { section: '8.1', says: 'a close reason that is not UTF-8 fails', sends: hex('880403e8c328'), ...fails(/./) },
]
