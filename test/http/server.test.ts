/** The server against clients that are broken, hostile, slow or just many. */
import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { deferred } from '../../src/base/wait.ts'
import { readBytes } from '../../src/http/body.ts'
import { startStream, type Exchange } from '../../src/http/reply.ts'
import { noteKeyHolder } from '../../src/http/key-holders.ts'
import { HttpServer } from '../../src/http/server.ts'
import { suite } from '../support/suite.ts'
import { exchange, open, parseAnswers, statuses, type RawConnection } from './raw-client.ts'
import { sendJson, serve, serving } from './serve.ts'

const test = suite('http/server')

const path = (one: Exchange): void => sendJson(one, 200, one.request.url)
const get = (target: string, headers = ''): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`

/**
 * Requests that no parser may guess at (RFC 9112, sections 2.2, 5 and 6). Each is followed by one that must not be
 * served.
 */
const malformed: readonly [string, string][] = [
  ['both Content-Length and Transfer-Encoding',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['two Content-Lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na'],
  ['a list of Content-Lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na'],
  ['a negative Content-Length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'],
  ['a signed Content-Length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na'],
  ['an unknown Transfer-Encoding', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n'],
  ['a blank before the colon', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\na'],
  ['a folded header', 'GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n'],
  ['a bare carriage return in a header', 'GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n'],
  ['a zero character in a header', 'GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n'],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
]

for (const [name, request] of malformed) {
  test(`answers ${name} with 400 as JSON and serves nothing after it`, async () => {
    const served: (string | undefined)[] = []
    await serving(
      (one) => {
        served.push(one.request.url)
        sendJson(one, 200, null)
      },
      async (port) => {
        const [answer, ...more] = parseAnswers(await exchange(port, request + get('/smuggled')))
        assert.equal([answer?.status, answer?.body, more.length], [400, '{"detail":"Bad Request"}', 0])
        assert.is(answer?.headers['connection'], 'close')
        assert.is(answer?.headers['content-type'], 'application/json')
        assert.not.ok(served.includes('/smuggled'))
      },
    )
  })
}

test('puts no interim answer between the headers and the body of an answer to a pipelined request', async () => {
  const waiting = 'POST /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\nExpect: 100-continue\r\n' +
    '\r\n{}'
  await serving(path, async (port) => {
    const answers = parseAnswers(await exchange(port, get('/a') + waiting))
    assert.equal(answers.map(({ status, body }) => `${status} ${body}`), ['200 "/a"', '200 "/b"'])
    assert.equal(statuses(await exchange(port, waiting)), [100, 200])
  })
})

test('answers other versions of HTTP with 505', async () => {
  for (const line of ['GET /', 'GET / HTTP/0.9', 'GET / HTTP/2.0']) {
    await serving(path, async (port) => {
      assert.equal(statuses(await exchange(port, `${line}\r\nHost: a\r\n\r\n`)), [505], line)
    })
  }
})

test('answers a bad chunk with 400 while the body is awaited', async () => {
  await serving(
    (one) => readBytes(one.request, { limitBytes: 1000, timeoutMs: 8000 }),
    async (port) => {
      const text = await exchange(port, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')
      assert.equal(statuses(text), [400])
    },
  )
})

test('cuts the connection when a body goes wrong after the answer has begun', async () => {
  await serving(
    (one) => void startStream(one, { status: 200, type: 'text/plain' }).write('abc'),
    async (port) => {
      const connection = open(port)
      connection.socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n')
      await connection.until((text) => text.includes('abc'))
      connection.socket.write('zz\r\n')
      assert.not.match(await connection.closed(), /400/)
    },
  )
})

test('answers a body that ends early with 400', async () => {
  await serving(
    (one) => readBytes(one.request, { limitBytes: 1000, timeoutMs: 8000 }),
    async (port) => {
      const connection = open(port)
      connection.socket.end('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab')
      assert.equal(statuses(await connection.closed()), [400])
    },
  )
})

test('leaves a doubled or missing Host to the owner', async () => {
  const hosts = (one: Exchange): void => sendJson(one, 200, one.request.rawHeaders)
  await serving(hosts, async (port) => {
    const text = await exchange(
      port, 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n',
    )
    assert.equal(parseAnswers(text).map((answer) => answer.body), ['["Host","a","Host","b"]', '["Connection","close"]'])
  })
})

test('shows the owner every header, however many', async () => {
  await serving(
    (one) => sendJson(one, 200, one.request.rawHeaders.length),
    async (port) => {
      const text = await exchange(port, get('/', `${'a:\r\n'.repeat(3000)}Connection: close\r\n`))
      assert.is(parseAnswers(text)[0]?.body, '6004')
    },
  )
})

test('answers headers above the limit with 431', async () => {
  await serving(path, async (port) => {
    assert.equal(statuses(await exchange(port, get('/', `X: ${'a'.repeat(33_000)}\r\n`))), [431])
    assert.equal(statuses(await exchange(port, get('/', `${'a: b\r\n'.repeat(20_000)}`))), [431])
  })
})

test('answers a target above that limit with 414, or 431 when it came in pieces', async () => {
  await serving(path, async (port) => {
    assert.equal(statuses(await exchange(port, get(`/${'a'.repeat(40_000)}`))), [414])
    const connection = open(port)
    connection.socket.setNoDelay(true)
    connection.socket.write(`GET /${'a'.repeat(20_000)}`, () => {
      return setImmediate(() => connection.socket.write('a'.repeat(40_000)))
    })
    assert.ok([414, 431].includes(statuses(await connection.closed())[0] ?? 0))
  })
})

test('answers endless chunk extensions with 413', async () => {
  await serving(
    (one) => readBytes(one.request, { limitBytes: 1000, timeoutMs: 8000 }),
    async (port) => {
      const text = await exchange(
        port, `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(20_000)}\r\n`,
      )
      assert.equal(statuses(text), [413])
    },
  )
})

test('answers headers that do not come with 408', async () => {
  const limits = { headersTimeoutMs: 60, requestTimeoutMs: 60 }
  await serving(
    path,
    async (port) => assert.equal(statuses(await exchange(port, 'GET / HTTP/1.1\r\nHost:')), [408]),
    { limits },
  )
})

test('answers a body that does not come with 408 when the whole request has a time', async () => {
  const limits = { headersTimeoutMs: 60, requestTimeoutMs: 120 }
  await serving(
    (one) => readBytes(one.request, { limitBytes: 1000, timeoutMs: 8000 }),
    async (port) => {
      assert.equal(statuses(await exchange(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\na')), [408])
    },
    { limits },
  )
})

test('closes a connection that stays idle between requests', async () => {
  await serving(path, async (port) => assert.equal(statuses(await exchange(port, get('/'))), [200]), {
    limits: { keepAliveTimeoutMs: 50 },
  })
})

test('answers pipelined requests in order, whichever is ready first', async () => {
  const first = deferred<void>()
  await serving(
    async (one) => {
      if (one.request.url === '/1') await first.promise
      else first.resolve()
      sendJson(one, 200, one.request.url)
    },
    async (port) => {
      const text = await exchange(port, get('/1') + get('/2') + get('/3', 'Connection: close\r\n'))
      assert.equal(parseAnswers(text).map((answer) => answer.body), ['"/1"', '"/2"', '"/3"'])
    },
  )
})

test('finishes the answers before a malformed request, and then refuses it', async () => {
  const go = deferred<void>()
  await serving(
    async (one) => {
      await go.promise
      sendJson(one, 200, one.request.url)
    },
    async (port) => {
      const connection = open(port)
      connection.socket.write(`${get('/1')}${get('/2')}nonsense\r\n\r\n`, () => setImmediate(go.resolve))
      assert.equal(statuses(await connection.closed()), [200, 200, 400])
    },
  )
})

test('says nothing about what follows the last request of a connection', async () => {
  const go = deferred<void>()
  await serving(
    async (one) => {
      await go.promise
      sendJson(one, 200, one.request.url)
    },
    async (port) => {
      const connection = open(port)
      connection.socket.write(`${get('/1', 'Connection: close\r\n')}nonsense\r\n\r\n`, () => setImmediate(go.resolve))
      assert.equal(statuses(await connection.closed()), [200])
    },
  )
})

test('keeps a connection after errors of the owner', async () => {
  await serving(
    (one) => sendJson(one, 404, null),
    async (port) => {
      assert.equal(statuses(await exchange(port, get('/1') + get('/2') + get('/3', 'Connection: close\r\n'))), [
        404, 404, 404,
      ])
    },
  )
})

test('when it is full, the oldest connection without a key makes room, and those with one stay', async () => {
  const answer = (one: Exchange): void => {
    if (one.request.url === '/key') noteKeyHolder(one.request.socket)
    sendJson(one, 200, one.request.url)
  }
  await serving(answer, async (port) => {
    const ask = async (target: string): Promise<RawConnection> => {
      const connection = open(port)
      connection.socket.write(get(target))
      await connection.until((text) => text.includes(`"${target}"`))
      return connection
    }
    const holder = await ask('/key')
    const [older, newer] = [await ask('/1'), await ask('/2')]
    const owner = await ask('/key')
    assert.equal(statuses(await older.closed()), [200])
    const last = await ask('/key')
    assert.equal(statuses(await newer.closed()), [200])
    assert.is(await open(port).closed(), '')
    for (const { socket } of [holder, owner, last]) assert.not.ok(socket.destroyed)
  }, { limits: { connectionLimit: 3, keepAliveTimeoutMs: 60_000 } })
})

test('closes connections beyond the limit', async () => {
  await serving(
    (one) => {
      noteKeyHolder(one.request.socket)
      path(one)
    },
    async (port) => {
      const first = open(port)
      first.socket.write(get('/'))
      await first.until((text) => text.includes('"/"'))
      assert.is(await open(port).closed(), '')
    },
    { limits: { connectionLimit: 1 } },
  )
})

test('hands upgrades to the owner, and serves them as plain requests when he takes none', async () => {
  const upgrade = (_request: unknown, socket: Duplex): void =>
    void socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\nhello')
  const request = get('/', 'Connection: Upgrade\r\nUpgrade: websocket\r\n')
  await serving(path, async (port) => assert.match(await exchange(port, request), /101[^]*hello$/), { upgrade })
  await serving(path, async (port) => {
    const connection = open(port)
    connection.socket.write(request)
    assert.match(await connection.until((text) => text.includes('"/"')), /^HTTP\/1\.1 200/)
  })
})

test('says where it listens', async () => {
  const server = new HttpServer({ handle: () => undefined })
  const address = await server.listen({ host: 'localhost', port: 0 })
  assert.ok(['127.0.0.1', '::1'].includes(address.host))
  assert.ok(address.port > 0)
  await server.close(0)
})

test('says in plain words why it cannot listen', async () => {
  await serving(path, async (port) => {
    const reason = async (host: string, at: number): Promise<string> => {
      const server = new HttpServer({ handle: () => undefined })
      try {
        await server.listen({ host, port: at })
        return 'listens'
      } catch (error) {
        return error instanceof AppError && error.code === 'cannot_listen'
          ? error.message
          : `not expected: ${String(error)}`
      } finally {
        await server.close(0)
      }
    }
    assert.is(
      await reason('127.0.0.1', port),
      `Could not listen on 127.0.0.1:${port}: another program uses this port, choose another port`,
    )
    assert.is(await reason('192.0.2.1', 0), 'Could not listen on 192.0.2.1:0: this machine does not have this address')
    assert.match(await reason('host.invalid', 0), /^Could not listen on host\.invalid:0: /)
    assert.match(await reason('2001:db8::1', 0), /^Could not listen on \[2001:db8::1\]:0: /)
  })
})

test('closes idle connections at once, and lets a request in flight finish with Connection: close', async () => {
  const arrived = deferred<void>()
  const go = deferred<void>()
  const { server, port } = await serve(async (one) => {
    if (one.request.url === '/slow') {
      arrived.resolve()
      await go.promise
    }
    sendJson(one, 200, one.request.url)
  })
  const idle = open(port)
  idle.socket.write(get('/'))
  await idle.until((text) => text.endsWith('"/"'))
  const busy = open(port)
  busy.socket.write(get('/slow'))
  await arrived.promise
  const done = server.close(10_000)
  assert.equal(statuses(await idle.closed()), [200])
  assert.is(await open(port).closed(), '')
  go.resolve()
  assert.equal(statuses(await busy.closed()), [200])
  await done
})

test('tells a client that sends another request while closing that it was the last', async () => {
  const arrived = deferred<void>()
  const go = deferred<void>()
  const { server, port } = await serve(async (one) => {
    arrived.resolve()
    await go.promise
    sendJson(one, 200, one.request.url)
  })
  const connection = open(port)
  connection.socket.write(get('/1'))
  await arrived.promise
  const done = server.close(10_000)
  connection.socket.write(get('/2') + get('/3'), () => setImmediate(go.resolve))
  const answers = parseAnswers(await connection.closed())
  assert.is(answers[0]?.status, 200)
  if (answers.length > 1) assert.is(answers[1]?.headers['connection'], 'close')
  assert.ok(answers.length <= 2)
  await done
})

test('destroys what is left after the grace time, upgraded connections too', async () => {
  const upgrade = (_request: unknown, socket: Duplex): void =>
    void socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  const arrived = deferred<void>()
  const { server, port } = await serve(() => arrived.resolve(), { upgrade })
  const hanging = open(port)
  hanging.socket.write(get('/'))
  const upgraded = open(port)
  upgraded.socket.write(get('/', 'Connection: Upgrade\r\nUpgrade: x\r\n'))
  await upgraded.until((text) => text.includes('101'))
  await arrived.promise
  await Promise.all([server.close(20), server.close(10_000)])
  assert.is(await hanging.closed(), '')
  await upgraded.closed()
})

test('closes when it never listened', async () => {
  await new HttpServer({ handle: () => undefined }).close(10_000)
})

test("answers the same on a host's own server", async () => {
  const host = createServer((request, response) => {
    sendJson({ request, response, requestId: 'x', headers: [] }, 200, request.url)
  })
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  const address = host.address()
  assert.ok(typeof address === 'object' && address !== null)
  assert.equal(statuses(await exchange(address.port, get('/', 'Connection: close\r\n'))), [200])
  await new Promise((resolve) => host.close(resolve))
})

test.run()
