/** Event streams as WHATWG HTML 9.2.6 reads them, cut at every place. */
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { EventParser, type ServerSentEvent } from '../../../src/parts/net/event-stream.ts'
import { suite } from '../../support/suite.ts'

const test = suite('net/event-stream')

/** As `type:data`, read in chunks of so many bytes. */
function read(stream: string, chunkBytes = stream.length * 4 + 1): string[] {
  const parser = new EventParser()
  const bytes = Buffer.from(stream)
  const events: ServerSentEvent[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) events.push(...parser.push(bytes.subarray(at, at + chunkBytes)))
  return events.map(({ type, data }) => `${type}:${data}`)
}

const cases: readonly (readonly [name: string, stream: string, events: readonly string[]])[] = [
  ['an event', 'data: a\n\n', ['message:a']],
  ['a named event', 'event: add\ndata: 1\n\n', ['add:1']],
  ['a name that lasts for one event', 'event: add\ndata: 1\n\ndata: 2\n\n', ['add:1', 'message:2']],
  ['lines of data joined by line feeds', 'data: a\ndata: b\ndata\n\n', ['message:a\nb\n']],
  ['one space after the colon, not two', 'data:a\n\ndata:  b\n\n', ['message:a', 'message: b']],
  ['comments and unknown fields as nothing', ': ping\n\nid: 7\nretry: 1\nfoo: bar\ndata: a\n: x\n\n', ['message:a']],
  ['an event without data as none', 'event: add\n\ndata: b\n\n', ['message:b']],
  ['an empty line of data as an event', 'data:\n\n', ['message:']],
  ['lines that end with CRLF', 'data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n', ['message:a\nb', 'message:c']],
  ['lines that end with CR', 'data: a\r\rdata: b\r\r', ['message:a', 'message:b']],
  ['a byte order mark as nothing', '\uFEFFdata: a\n\n', ['message:a']],
  ['characters of several bytes', 'data: größer 世界 👋\n\n', ['message:größer 世界 👋']],
  ['no event that is not ended', 'data: a\n\ndata: b\n', ['message:a']],
  ['colons in the data', 'data: {"a":"b:c"}\n\n', ['message:{"a":"b:c"}']],
]

for (const [name, stream, events] of cases) {
  test(`reads ${name}, however it is cut`, () => {
    for (let chunkBytes = 1; chunkBytes <= stream.length; chunkBytes++) assert.equal(read(stream, chunkBytes), events)
  })
}

test('gives an event as soon as its blank line is there', () => {
  const parser = new EventParser()
  assert.equal(parser.push(Buffer.from('data: a\r')), [])
  assert.equal(parser.push(Buffer.from('\n\r')), [{ type: 'message', data: 'a' }])
  assert.equal(parser.push(Buffer.from('\ndata: b\n\n')), [{ type: 'message', data: 'b' }])
})

test('keeps the id of the newest event that is whole, and how long to wait', () => {
  const parser = new EventParser()
  assert.is(parser.lastEventId, '')
  parser.push(Buffer.from('id: 1\nretry: 250\ndata: a\n\nid: 2\ndata: b\n'))
  assert.is(parser.lastEventId, '1')
  assert.is(parser.retryMs, 250)
  parser.push(Buffer.from('\ndata: c\n\n'))
  assert.is(parser.lastEventId, '2')
  parser.push(Buffer.from('id: x\0y\nretry: soon\n\nid\n\n'))
  assert.is(parser.lastEventId, '')
  assert.is(parser.retryMs, 250)
})

test('replaces bytes that are not UTF-8', () => {
  assert.equal(new EventParser().push(Buffer.from([...Buffer.from('data: '), 0xff, 10, 10])), [
    { type: 'message', data: '\uFFFD' },
  ])
})

test('refuses an event that is longer than the limit, in one line or in many', () => {
  for (const stream of ['data: 0123456789', 'data: 01\ndata: 23\ndata: 45\n', ': a comment of any length']) {
    const parser = new EventParser({ limitChars: 15 })
    assert.throws(() => parser.push(Buffer.from(stream)), (error: unknown) => error instanceof AppError &&
      error.message === 'Could not read an event stream: expected events of at most 15 characters')
  }
})

test('counts the limit for each event anew', () => {
  const parser = new EventParser({ limitChars: 15 })
  assert.is(parser.push(Buffer.from('data: 012345\n\n'.repeat(10))).length, 10)
})

test.run()
