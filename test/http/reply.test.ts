/** Answers as they arrive on the wire. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as assert from 'uvu/assert'
import { send, startStream } from '../../src/http/reply.ts'
import { suite } from '../support/suite.ts'
import { exchange, open, parseAnswers, type RawAnswer } from './raw-client.ts'
import { closed, sendJson, serving } from './serve.ts'

const test = suite('http/reply')

function request(method: string, headers = ''): string {
  return `${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`
}

async function only(answer: Parameters<typeof serving>[0], method = 'GET', headers = ''): Promise<RawAnswer> {
  let text = ''
  await serving(answer, async (port) => {
    text = await exchange(port, request(method, headers))
  })
  if (method !== 'HEAD') return parseAnswers(text)[0] ?? { status: 0, headers: {}, body: '' }
  const end = text.indexOf('\r\n\r\n') + 4
  const [head] = parseAnswers(`${text.slice(0, end).replace(/Content-Length: \d+/, 'Was: $&')}`)
  return { status: head?.status ?? 0, headers: head?.headers ?? {}, body: text.slice(end) }
}

test('sends ready bytes with their type and length', async () => {
  const { status, headers, body } = await only((one) => {
    return send(one, { status: 200, body: Buffer.from('{"a":"é"}', 'latin1') })
  })
  assert.is(status, 200)
  assert.is(body, '{"a":"é"}')
  assert.is(headers['content-type'], 'application/json')
  assert.is(headers['content-length'], '9')
  assert.is(headers['x-content-type-options'], 'nosniff')
  assert.is(headers['cache-control'], 'no-store')
  assert.match(headers['x-request-id'] ?? '', /^request-1$/)
})

test('sends a value as JSON, and headers of one answer', async () => {
  const { status, headers, body } = await only((one) => sendJson(one, 404, { detail: 'Not Found' }, ['Allow', 'GET']))
  assert.is(status, 404)
  assert.is(body, '{"detail":"Not Found"}')
  assert.is(headers['allow'], 'GET')
})

test('sends another type, and what the caller says about caching', async () => {
  const answer = await only((one) => {
    return send(one, {
      status: 200, type: 'text/plain', body: Buffer.from('a'), headers: ['Cache-Control', 'max-age=1'],
    })
  })
  assert.is(answer.headers['content-type'], 'text/plain')
  assert.is(answer.headers['cache-control'], 'max-age=1')
})

test('adds the headers that every answer of the exchange carries, errors too', async () => {
  const { status, headers } = await only((one) => {
    one.headers.push('Vary', 'Origin')
    throw new Error('oops')
  })
  assert.is(status, 500)
  assert.is(headers['vary'], 'Origin')
})

test('gives HEAD the same headers and no body', async () => {
  const { headers, body } = await only((one) => send(one, { status: 200, body: Buffer.from('abc') }), 'HEAD')
  assert.is(headers['was'], 'Content-Length: 3')
  assert.is(headers['content-type'], 'application/json')
  assert.is(body, '')
})

test('sends 204 without a length and other empty answers with one', async () => {
  const none = await only((one) => send(one, { status: 204 }))
  assert.not.ok('content-length' in none.headers)
  assert.not.ok('content-type' in none.headers)
  const redirect = await only((one) => send(one, { status: 307, headers: ['Location', '/a'] }))
  assert.is(redirect.headers['content-length'], '0')
  assert.is(redirect.headers['location'], '/a')
  assert.is((await only((one) => send(one, { status: 204 }), 'POST', 'Transfer-Encoding: chunked\r\n')).status, 204)
})

test('takes over a sane request id and makes its own otherwise', async () => {
  const idOf = async (headers: string): Promise<string | undefined> =>
    (await only((one) => sendJson(one, 200, one.requestId), 'GET', headers)).headers['x-request-id']
  assert.is(await idOf('X-Request-Id: abc.DEF_1-2\r\n'), 'abc.DEF_1-2')
  for (const insane of ['', 'a b', 'a"b', 'é', 'a'.repeat(65)]) {
    assert.match((await idOf(`X-Request-Id: ${insane}\r\n`)) ?? '', /-1$/, insane)
  }
  assert.match((await idOf('X-Request-Id: a\r\nX-Request-Id: b\r\n')) ?? '', /-1$/)
})

test('cuts the connection when a second answer is tried', async () => {
  let text = ''
  await serving(
    async (one) => {
      await new Promise<void>((resolve) => {
        return startStream(one, { status: 200, type: 'text/plain', lengthBytes: 10 }).write('abc', () => resolve())
      })
      throw new Error('oops')
    },
    async (port) => {
      text = await exchange(port, request('GET'))
    },
  )
  assert.ok(text.endsWith('abc'))
})

test('streams a body of known length, and one of unknown length in chunks', async () => {
  const stream = (lengthBytes?: number) => (one: Parameters<typeof startStream>[0]): Promise<void> => {
    const length = lengthBytes === undefined ? {} : { lengthBytes }
    return pipeline(Readable.from(['ab', 'cd']), startStream(one, { status: 200, type: 'text/plain', ...length }))
  }
  assert.is((await only(stream(4))).body, 'abcd')
  await serving(stream(), async (port) => {
    assert.match(
      await exchange(port, request('GET')), /Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n$/,
    )
  })
})

test('sends the head of a stream at once', async () => {
  await serving(
    (one) => void startStream(one, { status: 200, type: 'text/event-stream', headers: ['Cache-Control', 'no-cache'] }),
    async (port) => {
      const connection = open(port)
      connection.socket.write(request('GET'))
      assert.match(await connection.until((text) => text.includes('\r\n\r\n')), /Cache-Control: no-cache/)
    },
  )
})

test('ends the connection when the body goes on although the answer is out, and the client keeps it open', async () => {
  await serving(
    async (one) => {
      send(one, { status: 401, body: Buffer.from('{}') })
      await closed(one.response)
    },
    async (port) => {
      const connection = open(port)
      connection.socket.write('PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n')
      const answered = await connection.until((text) => text.endsWith('{}'))
      assert.match(answered, /Connection: close/)
      connection.socket.write('1\r\nb\r\n')
      assert.is(await connection.closed(), answered)
    },
  )
})

test('ends such a connection at once when the client has sent the rest', async () => {
  await serving(
    (one) => send(one, { status: 401 }),
    async (port) => {
      const connection = open(port)
      connection.socket.write('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n')
      await connection.until((text) => text.endsWith('\r\n\r\n'))
      connection.socket.write(Buffer.alloc(70_000))
      assert.match(await connection.closed(), /^HTTP\/1\.1 401/)
    },
  )
})

test.run()
