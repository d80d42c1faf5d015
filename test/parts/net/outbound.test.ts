/** Outgoing requests against real servers, good and bad. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { openRequest, sendRequest, type OutboundRequest } from '../../../src/parts/net/outbound.ts'
import { suite } from '../../support/suite.ts'
import { countTurns } from '../../support/turns.ts'

const test = suite('net/outbound')

async function listening(server: Server, body: (url: string) => Promise<void>): Promise<void> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await body(`http://127.0.0.1:${portOf(server.address())}`)
  } finally {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('no port')
  return address.port
}

const serving = (listener: RequestListener, body: (url: string) => Promise<void>): Promise<void> =>
  listening(createServer(listener), body)
/** Runs `body` with a server that sends these bytes to each connection. */
const saying = (text: string, body: (url: string) => Promise<void>): Promise<void> =>
  listening(createTcpServer((socket) => void socket.write(text)), body)

function get(url: string, over: Partial<OutboundRequest> = {}): OutboundRequest {
  return { method: 'GET', url, limitBytes: 1000, timeoutMs: 8_000, ...over }
}

/** `code: message` of the failure. */
async function failure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'no failure'
  } catch (error) {
    return error instanceof AppError ? `${error.code}: ${error.message}` : `not expected: ${String(error)}`
  }
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString()))
  request.on('end', () => {
    return response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }))
  })
}

test('sends method, path, query, headers and body, and collects the answer', async () => {
  await serving(echo, async (url) => {
    const answer = await sendRequest(get(`${url}/a?b=c`, { method: 'POST', headers: { 'X-A': 'b' }, body: 'héllo' }))
    assert.is(answer.status, 200)
    const seen = JSON.parse(answer.body.toString())
    assert.equal([seen.method, seen.url, seen.body], ['POST', '/a?b=c', 'héllo'])
    assert.equal([seen.headers['x-a'], seen.headers['content-length'], seen.headers['accept-encoding']], [
      'b', '6', 'identity',
    ])
    assert.is(seen.headers.connection, 'close')
  })
})

test('sends a body of several pieces as one, with its length', async () => {
  await serving(echo, async (url) => {
    const body = [Buffer.from('{"a":'), Buffer.alloc(0), Buffer.from('"é"'), Buffer.from('}')]
    const { headers, ...seen } = JSON.parse((await sendRequest(get(url, { method: 'POST', body }))).body.toString())
    assert.equal([seen.body, headers['content-length'], headers['transfer-encoding']], ['{"a":"é"}', '10', undefined])
  })
})

test('gives an answer whatever its status', async () => {
  const listener: RequestListener = (_request, response) => response.writeHead(503, { 'X-Reason': 'rest' }).end('later')
  await serving(listener, async (url) => {
    const { status, headers, body } = await sendRequest(get(url))
    assert.equal([status, headers['x-reason'], body.toString()], [503, 'rest', 'later'])
  })
})

test('resolves names', async () => {
  await serving(echo, async (url) => {
    const { status } = await sendRequest(get(url.replace('127.0.0.1', 'localhost'), { connectTimeoutMs: 8_000 }))
    assert.is(status, 200)
  })
})

test('takes an answer at the limit and fails above it', async () => {
  await serving((_request, response) => response.end('a'.repeat(1000)), async (url) => {
    assert.is((await sendRequest(get(url))).body.length, 1000)
    assert.is(
      await failure(sendRequest(get(`${url}/p?key=s3cret`, { limitBytes: 999 }))),
      `upstream_failed: Could not get an answer from ${url}: its answer is longer than 999 bytes`,
    )
  })
})

test('gives the pieces of an answer as they come', async () => {
  let more: (() => void) | undefined
  const listener: RequestListener = (_request, response) => {
    response.write('one')
    more = () => response.end('two')
  }
  await serving(listener, async (url) => {
    const { chunks } = await openRequest(get(url))
    const seen: string[] = []
    for await (const chunk of chunks) {
      seen.push(chunk.toString())
      more?.()
    }
    assert.equal(seen, ['one', 'two'])
  })
})

test('closes the connection when the reader leaves, or closes without reading', async () => {
  let closes = 0
  const bothClosed = new Promise<void>((resolve) => {
    const server = (_request: IncomingMessage, response: ServerResponse): void => {
      response.once('close', () => ++closes === 2 && resolve())
      response.write('endless')
    }
    void serving(server, async (url) => {
      const first = await openRequest(get(url))
      for await (const chunk of first.chunks) if (chunk.length > 0) break
      const second = await openRequest(get(url))
      second.close()
      assert.is(await failure(drain(second.chunks)), 'upstream_failed: The request was closed')
    })
  })
  await bothClosed
})

test('does not connect to refused addresses, by number or by rule', async () => {
  for (const host of [
    '169.254.169.254', '[fe80::1]', '0.0.0.0', '[::ffff:169.254.169.254]', '2852039166', '0xa9.254.169.254',
  ]) {
    assert.match(
      await failure(sendRequest(get(`http://${host}/latest/meta-data`))),
      /^address_refused: Could not send a request to/,
      host,
    )
  }
  await serving(echo, async (url) => {
    const named = url.replace('127.0.0.1', 'localhost')
    for (const target of [url, named]) {
      assert.match(await failure(sendRequest(get(target, { allowAddress: () => false }))), /^address_refused: /)
    }
  })
})

test('refuses what it cannot send, without showing it', async () => {
  assert.is(
    await failure(sendRequest(get('not a url s3cret'))),
    'bad_request: Could not send a request to the URL: expected an absolute URL',
  )
  assert.is(
    await failure(sendRequest(get('file:///s3cret'))),
    'bad_request: Could not send a request to the URL: expected http: or https:',
  )
  assert.is(
    await failure(sendRequest(get('https://u:s3cret@a.example/'))),
    'bad_request: Could not send a request to https://a.example: expected no credentials in the URL',
  )
  for (const over of [{ headers: { 'x-key': 's3cret\n' } }, { headers: { 'a b': 'c' } }, { method: 'G T' }]) {
    const message = await failure(sendRequest(get('http://127.0.0.1:1/s3cret', over)))
    assert.match(message, /^bad_request: Could not send a request to http:\/\/127\.0\.0\.1:1: /)
    assert.not.match(message, /s3cret/)
  }
})

test('says in plain words why there is no answer', async () => {
  await serving((request) => request.socket.destroy(), async (url) => {
    assert.is(
      await failure(sendRequest(get(`${url}/s3cret`))),
      `upstream_failed: Could not get an answer from ${url}: it closed the connection`,
    )
  })
  await saying('nonsense s3cret\r\n\r\n', async (url) => {
    assert.is(
      await failure(sendRequest(get(url))),
      `upstream_failed: Could not get an answer from ${url}: HPE_INVALID_CONSTANT`,
    )
  })
  await saying('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', async (url) => {
    assert.match(
      await failure(sendRequest(get(url, { idleTimeoutMs: 50 }))),
      /^upstream_timeout: .* it did not send anything within 50 ms$/,
    )
  })
  let gone = ''
  await serving(echo, async (url) => void (gone = url))
  assert.is(
    await failure(sendRequest(get(gone))),
    `upstream_failed: Could not get an answer from ${gone}: nothing listens there`,
  )
  assert.match(await failure(sendRequest(get('http://name.invalid'))), /^upstream_failed: .*name\.invalid: /)
})

test('fails when an answer breaks off', async () => {
  await serving(
    (_request, response) => response.writeHead(200, { 'Content-Length': '10' }).write('abc', () => response.destroy()),
    async (url) => {
      assert.is(
        await failure(sendRequest(get(url))),
        `upstream_failed: Could not get an answer from ${url}: it closed the connection`,
      )
    },
  )
})

test('gives up after its time, before and within the answer', async () => {
  await serving(() => undefined, async (url) => {
    const said = `upstream_timeout: Could not get an answer from ${url}: it did not`
    assert.is(await failure(sendRequest(get(url, { timeoutMs: 50 }))), `${said} answer within 50 ms`)
    assert.is(await failure(sendRequest(get(url, { idleTimeoutMs: 50 }))), `${said} send anything within 50 ms`)
  })
  await serving((_request, response) => void response.write('a'), async (url) => {
    const opened = await openRequest(get(url, { timeoutMs: 200 }))
    assert.match(await failure(drain(opened.chunks)), /^upstream_timeout: .* it did not answer within 200 ms$/)
  })
})

test('gives up a connection that is not made in time', async () => {
  await saying('', async (url) => {
    const secure = url.replace('http:', 'https:')
    assert.match(
      await failure(sendRequest(get(secure, { connectTimeoutMs: 50 }))),
      /^upstream_timeout: .* it did not connect within 50 ms$/,
    )
  })
})

test('says so when a server speaks no TLS', async () => {
  await serving(echo, async (url) => {
    assert.match(
      await failure(sendRequest(get(url.replace('http:', 'https:')))),
      /^upstream_failed: .*: (ERR_SSL_|EPROTO|it closed)/,
    )
  })
})

test('stops when the signal is aborted, before, during and within the answer', async () => {
  const reason = new Error('enough')
  const rejected = async (promise: Promise<unknown>): Promise<void> => {
    await promise.then(() => assert.unreachable(), (error: unknown) => assert.is(error, reason))
  }
  await rejected(sendRequest(get('http://127.0.0.1:1', { signal: AbortSignal.abort(reason) })))
  const stop = new AbortController()
  await serving(() => stop.abort(reason), (url) => rejected(sendRequest(get(url, { signal: stop.signal }))))
  const later = new AbortController()
  await serving((_request, response) => void response.write('a'), async (url) => {
    const { chunks } = await openRequest(get(url, { signal: later.signal }))
    const reading = drain(chunks)
    later.abort(reason)
    await rejected(reading)
  })
})

test('shows a redirect unless it is asked to follow it', async () => {
  await serving((_request, response) => response.writeHead(302, { Location: '/z' }).end(), async (url) => {
    const { status, headers } = await sendRequest(get(url))
    assert.equal([status, headers.location], [302, '/z'])
  })
})

test('follows redirects, and keeps credentials at their origin', async () => {
  await serving(echo, async (other) => {
    const listener: RequestListener = (request, response) => {
      if (request.url === '/1') response.writeHead(307, { Location: '/2' }).end('body of the first')
      else if (request.url === '/2') {
        response.writeHead(302, { Location: `${other}/3`, 'X-Key': request.headers['x-key'] }).end()
      }
    }
    await serving(listener, async (url) => {
      const { body } = await sendRequest(
        get(`${url}/1`, { redirectLimit: 2, headers: { 'X-Key': 's3cret', Accept: 'a/b' } }),
      )
      const seen = JSON.parse(body.toString())
      assert.equal([seen.method, seen.url, seen.headers['x-key'], seen.headers.accept], ['GET', '/3', undefined, 'a/b'])
    })
  })
})

test('follows no more redirects than asked, and none to a refused address', async () => {
  let asked = 0
  await serving(
    (_request, response) => (asked++, response.writeHead(302, { Location: '/again?s3cret' }).end()),
    async (url) => {
      assert.is(
        await failure(sendRequest(get(url, { redirectLimit: 5 }))),
        `upstream_failed: Could not get an answer from ${url}: it redirects more than 5 times`,
      )
      assert.is(asked, 6)
    },
  )
  await serving((_request, response) => response.writeHead(302, { Location: 'http://169.254.169.254/' }).end(), async (
    url,
  ) => {
    assert.match(await failure(sendRequest(get(url, { redirectLimit: 5 }))), /^address_refused: /)
  })
})

async function drain(chunks: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of chunks) assert.ok(chunk.length > 0)
}

test('an answer that comes faster than it is read lets the event loop turn', async () => {
  const length = 4_000_000
  await serving((_, response) => response.end(Buffer.alloc(length)), async (url) => {
    const { chunks } = await openRequest(get(url, { limitBytes: length }))
    const turns = countTurns()
    let most = 0
    let last = { turn: -1, bytes: 0 }
    for await (const chunk of chunks) {
      last = { turn: turns.count, bytes: chunk.length + (last.turn === turns.count ? last.bytes : 0) }
      most = Math.max(most, last.bytes)
    }
    turns.stop()
    assert.ok(most < 4 * 65_536, `${most} bytes were read in one turn`)
  })
})

test.run()
